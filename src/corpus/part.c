/* part.c - which sequences of a corpus are read: all, or those of a part.
 *
 * For N parts the sequences are taken in blocks of N, and each block is distributed at random, one
 * sequence to each part. So parts differ in size by at most one sequence, are spread over the whole
 * file, and need neither its length nor memory; the seed decides which sequence goes to which part.
 */
#include "corpus/part.h"

enum { MAX_PARTS = 100000 };

static trellis_status parse_one(struct tr_corpus_part *part, trellis_text text,
                                trellis_error *error)
{
    int64_t number = 0, of = 0;
    trellis_text left = text;
    part->without = text.size > 0 && text.data[0] == '!';
    if (part->without) {
        left = (trellis_text){text.data + 1, text.size - 1};
    }
    const char *slash = left.size ? memchr(left.data, '/', left.size) : NULL;
    size_t before = slash ? (size_t)(slash - left.data) : 0;
    if (!slash || !tr_text_integer((trellis_text){left.data, before}, &number) ||
        !tr_text_integer((trellis_text){slash + 1, left.size - before - 1}, &of) || number < 1 ||
        of < number || of > MAX_PARTS) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--part takes K/N (part K of N) or !K/N (all but that part), not '%.*s'",
                       TR_SHOW(text));
    }
    part->number = (uint32_t)number - 1;
    part->of = (uint32_t)of;
    part->order = tr_alloc(part->of, sizeof *part->order);
    return part->order ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_corpus_parts_parse(struct tr_corpus_parts *parts, const char *text, uint64_t seed,
                                     trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (const char *at = text; !status && *at;) {
        size_t size = strcspn(at, ",");
        struct tr_corpus_part part = {.seed = seed + parts->list.size * 0x9E3779B97F4A7C15u};
        status = parse_one(&part, (trellis_text){at, size}, error);
        if (!status && !tr_push(&parts->list, part)) {
            free(part.order);
            status = tr_fail_memory(error);
        }
        at += size;
        at += *at == ',';
    }
    return status;
}

void tr_corpus_parts_free(struct tr_corpus_parts *parts)
{
    for (size_t i = 0; i < parts->list.size; i++) {
        free(parts->list.at[i].order);
    }
    free(parts->list.at);
    *parts = (struct tr_corpus_parts){0};
}

static void shuffle_block(struct tr_corpus_part *part)
{
    struct tr_random random;
    tr_random_seed(&random, part->seed ^ (part->seen / part->of * 0xD6E8FEB86659FD93u));
    for (uint32_t i = 0; i < part->of; i++) {
        part->order[i] = i;
    }
    tr_random_shuffle(&random, part->order, part->of);
}

bool tr_corpus_parts_take(struct tr_corpus_parts *parts)
{
    for (size_t i = 0; i < parts->list.size; i++) {
        struct tr_corpus_part *part = &parts->list.at[i];
        size_t place = part->seen % part->of;
        if (place == 0) {
            shuffle_block(part);
        }
        part->seen++;
        if ((part->order[place] == part->number) == part->without) {
            return false;
        }
    }
    return true;
}

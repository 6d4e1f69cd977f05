/* shared_index.c - attributes numbered by ranks of which each has read a share of the sequences.
 *
 * One process numbers the attributes in the order of their first occurrence. The shares lie one
 * behind the other, so that order is: those of rank 0 in the order in which it met them, then those of
 * rank 1 that rank 0 has not met, and so on. Which rank is the first to have a key is found by the
 * rank that owns it, by its hash: the ranks send it their keys, and are told which of them are theirs
 * to number.
 *
 *     keys -> owners -> "you have met this one first" -> the new keys of all ranks, in their order
 *
 * The text of an attribute stays with the rank that numbered it. Rank 0 is given those that it lacks
 * when the model is built, by one rank after the other.
 */
#include "base/ranks.h"
#include "dataset/dataset.h"

/* Bytes that travel, and where those of each rank begin, [ranks + 1]. */
struct mail {
    void *bytes;
    size_t *begin;
};

static void mail_free(struct mail *mail)
{
    free(mail->bytes);
    free(mail->begin);
    *mail = (struct mail){0};
}

static bool mail_begin(struct mail *mail, const struct tr_ranks *ranks)
{
    mail->begin = tr_alloc((size_t)ranks->count + 1, sizeof *mail->begin);
    return mail->begin;
}

static trellis_status agree(struct tr_ranks *ranks, bool ok, trellis_error *error)
{
    return tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
}

/* ---- who is the first ------------------------------------------------------------------------ */

static unsigned owner_of(uint64_t low, unsigned count)
{
    return (unsigned)((low >> 40) % count);
}

/* The keys of this rank, sorted by their owners. */
static bool write_keys(const struct tr_attribute_index *index, const struct tr_ranks *ranks,
                       struct mail *keys)
{
    size_t count = index->entries.size, *next = tr_alloc(ranks->count, sizeof *next);
    struct tr_key *to = tr_alloc(count, sizeof *to);
    keys->bytes = to;
    if (!mail_begin(keys, ranks) || !to || !next) {
        free(next);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        keys->begin[owner_of(index->entries.at[i].key, ranks->count) + 1] += sizeof *to;
    }
    for (unsigned r = 0; r < ranks->count; r++) {
        keys->begin[r + 1] += keys->begin[r];
        next[r] = keys->begin[r] / sizeof *to;
    }
    for (size_t i = 0; i < count; i++) {
        struct tr_key key = {index->entries.at[i].key, index->high.at[i]};
        to[next[owner_of(key.low, ranks->count)]++] = key;
    }
    free(next);
    return true;
}

/* As the owner of these keys, in the order of the ranks: whether each occurs for the first time. */
static trellis_status judge(const struct mail *keys, const struct tr_ranks *ranks,
                            struct mail *answers, trellis_error *error)
{
    const struct tr_key *key = keys->bytes;
    size_t count = keys->begin[ranks->count] / sizeof *key;
    struct tr_attribute_index known = {0};
    char *first = answers->bytes = tr_alloc(count, 1);
    bool clash = false, ok = mail_begin(answers, ranks) && first;
    for (size_t i = 0; ok && i < count; i++) {
        bool is_new;
        ok = tr_attribute_index_add(&known, key[i], &is_new, &clash) != TR_NONE;
        first[i] = is_new;
    }
    for (unsigned r = 0; ok && r <= ranks->count; r++) {
        answers->begin[r] = keys->begin[r] / sizeof *key;
    }
    tr_attribute_index_free(&known);
    return !ok     ? tr_fail_memory(error)
           : clash ? tr_fail(error, TRELLIS_DATA, "two attributes have the same 64-bit key")
                   : TRELLIS_OK;
}

/* Asks the owners; on success `verdicts` has a byte for each key, in the order of write_keys(). */
static trellis_status ask_owners(const struct tr_attribute_index *index, struct tr_ranks *ranks,
                                 struct mail *verdicts, trellis_error *error)
{
    struct mail keys = {0}, asked = {0}, answers = {0};
    bool ok = write_keys(index, ranks, &keys) && mail_begin(&asked, ranks) &&
              mail_begin(verdicts, ranks);
    trellis_status status = agree(ranks, ok, error);
    if (!status) {
        status = tr_ranks_scatter(ranks, keys.bytes, keys.begin, &asked.bytes, asked.begin, error);
    }
    mail_free(&keys);
    if (!status) {
        status = tr_ranks_agree(ranks, judge(&asked, ranks, &answers, error), error);
    }
    mail_free(&asked);
    if (!status) {
        status = tr_ranks_scatter(ranks, answers.bytes, answers.begin, &verdicts->bytes,
                                  verdicts->begin, error);
    }
    mail_free(&answers);
    return status;
}

/* ---- the numbers ----------------------------------------------------------------------------- */

/* The keys that each rank is the first to have, in the order of the ranks: lows->bytes, on all ranks;
 * where `verdicts` says which are this rank's. */
static trellis_status gather_new(const struct tr_attribute_index *index, struct tr_ranks *ranks,
                                 const struct mail *verdicts, struct mail *lows,
                                 trellis_error *error)
{
    const char *first = verdicts->bytes;
    size_t *next = tr_alloc(ranks->count, sizeof *next), mine = 0;
    uint64_t *counts = tr_alloc(ranks->count, sizeof *counts), *low = NULL;
    trellis_status status = agree(ranks, mail_begin(lows, ranks) && next && counts, error);
    for (size_t i = 0; !status && i < index->entries.size; i++) {
        mine += (size_t)first[i];
    }
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        lows->begin[r + 1] = (r + 1) * sizeof *counts;
        next[r] = verdicts->begin[r];
    }
    if (!status) {
        counts[ranks->rank] = mine;
        status = tr_ranks_gather(ranks, counts, lows->begin, error);
    }
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        lows->begin[r + 1] = lows->begin[r] + counts[r] * sizeof *low;
    }
    if (!status) {
        lows->bytes = low = tr_alloc(lows->begin[ranks->count], 1);
        status = agree(ranks, low, error);
    }
    size_t to = status ? 0 : lows->begin[ranks->rank] / sizeof *low;
    for (size_t i = 0; !status && i < index->entries.size; i++) {
        uint64_t key = index->entries.at[i].key;
        if (first[next[owner_of(key, ranks->count)]++]) {
            low[to++] = key;
        }
    }
    free(next);
    free(counts);
    return status ? status : tr_ranks_gather(ranks, low, lows->begin, error);
}

static void renumber(struct tr_occurrences *occurrences, const uint32_t *number)
{
    for (size_t k = 0; k < occurrences->attribute.size; k++) {
        occurrences->attribute.at[k] = number[occurrences->attribute.at[k]];
    }
}

/* Replaces the index by one of all keys, with the texts of those that this rank numbered, and the
 * numbers of the occurrences, those of segments too where these are given, by those of the new
 * index; false on allocation failure. */
static bool replace(struct tr_attribute_index *index, struct tr_occurrences *occurrences,
                    struct tr_occurrences *segments, const uint64_t *low, size_t count,
                    size_t first, size_t end)
{
    struct tr_attribute_index all = {0};
    uint32_t *number = tr_alloc(index->entries.size, sizeof *number);
    bool ok = number && tr_attribute_index_fill(&all, low, count);
    for (size_t i = 0; ok && i < index->entries.size; i++) {
        number[i] = tr_attribute_index_find(&all, index->entries.at[i].key);
        if (number[i] >= first && number[i] < end) {
            ok = tr_attribute_index_name(&all, number[i],
                                         tr_attribute_index_text(index, (uint32_t)i));
        }
    }
    if (ok) {
        renumber(occurrences, number);
    }
    if (ok && segments) {
        renumber(segments, number);
    }
    free(number);
    tr_attribute_index_free(ok ? index : &all);
    *index = ok ? all : *index;
    return ok;
}

static trellis_status number_together(struct tr_attribute_index *index,
                                      struct tr_occurrences *occurrences,
                                      struct tr_occurrences *segments, struct tr_ranks *ranks,
                                      trellis_error *error)
{
    struct mail verdicts = {0}, lows = {0};
    trellis_status status = ask_owners(index, ranks, &verdicts, error);
    if (!status) {
        status = gather_new(index, ranks, &verdicts, &lows, error);
    }
    mail_free(&verdicts);
    if (!status) {
        size_t width = sizeof(uint64_t);
        status = agree(ranks,
                       replace(index, occurrences, segments, lows.bytes,
                               lows.begin[ranks->count] / width, lows.begin[ranks->rank] / width,
                               lows.begin[ranks->rank + 1] / width),
                       error);
    }
    mail_free(&lows);
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Writes out the values of occurrences; false on allocation failure. */
static bool fill_values(struct tr_occurrences *occurrences)
{
    bool ok = true;
    occurrences->valued = true;
    while (ok && occurrences->value.size < occurrences->attribute.size) {
        ok = tr_push(&occurrences->value, 1.0f);
    }
    return ok;
}

/* Where one rank has values other than 1, all of them reckon with values. */
static trellis_status value_together(struct tr_dataset *dataset, struct tr_ranks *ranks,
                                     trellis_error *error)
{
    struct tr_occurrences *const all[] = {&dataset->node, &dataset->edge, &dataset->segment};
    uint64_t valued[TR_COUNT(all)];
    bool ok = true;
    for (size_t i = 0; i < TR_COUNT(all); i++) {
        valued[i] = all[i]->value.size > 0;
    }
    trellis_status status = tr_ranks_sum_integers(ranks, valued, TR_COUNT(all), error);
    for (size_t i = 0; !status && ok && i < TR_COUNT(all); i++) {
        ok = !valued[i] || fill_values(all[i]);
    }
    return status ? status : agree(ranks, ok, error);
}

trellis_status tr_dataset_number_together(struct tr_dataset *dataset,
                                          struct tr_vocabulary *vocabulary, struct tr_ranks *ranks,
                                          trellis_error *error)
{
    uint64_t attributes = dataset->fingerprint - dataset->label_fingerprint;
    trellis_status status = number_together(&vocabulary->node.index, &dataset->node,
                                            &dataset->segment, ranks, error);
    if (!status) {
        status = number_together(&vocabulary->edge.index, &dataset->edge, NULL, ranks, error);
    }
    if (!status) {
        status = value_together(dataset, ranks, error);
    }
    if (!status) {
        status = tr_ranks_sum_integers(ranks, &attributes, 1, error);
    }
    dataset->fingerprint = dataset->label_fingerprint + attributes;
    return status;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* As it travels, before its bytes. */
struct text_head {
    uint32_t number, size;
};

/* The texts that this rank has, for rank 0. */
static bool write_texts(const struct tr_attribute_index *index, struct tr_buffer *texts)
{
    for (size_t a = 0; a < index->entries.size; a++) {
        if (index->entries.at[a].text != TR_ELSEWHERE) {
            trellis_text text = tr_attribute_index_text(index, (uint32_t)a);
            struct text_head head = {(uint32_t)a, (uint32_t)text.size};
            tr_buffer_add(texts, (const char *)&head, sizeof head);
            tr_buffer_text(texts, text);
        }
    }
    return !texts->failed;
}

static bool read_texts(struct tr_attribute_index *index, const char *bytes, size_t size)
{
    bool ok = true;
    for (size_t at = 0; ok && at < size;) {
        struct text_head head;
        memcpy(&head, bytes + at, sizeof head);
        ok = tr_attribute_index_name(index, head.number,
                                     (trellis_text){bytes + at + sizeof head, head.size});
        at += sizeof head + head.size;
    }
    return ok;
}

/* Gives rank 0 the texts of another one. */
static trellis_status gather_texts(struct tr_attribute_index *index, struct tr_ranks *ranks,
                                   unsigned from, trellis_error *error)
{
    struct tr_buffer texts = {0};
    struct mail sent = {0}, received = {0};
    bool mine = ranks->rank == from;
    bool ok = mail_begin(&sent, ranks) && mail_begin(&received, ranks) &&
              (!mine || write_texts(index, &texts));
    for (unsigned r = 1; ok && r <= ranks->count; r++) {
        sent.begin[r] = texts.size;
    }
    trellis_status status = agree(ranks, ok, error);
    if (!status) {
        status = tr_ranks_scatter(ranks, texts.data, sent.begin, &received.bytes, received.begin,
                                  error);
    }
    if (!status) {
        status = agree(ranks, read_texts(index, received.bytes, received.begin[ranks->count]),
                       error);
    }
    tr_buffer_free(&texts);
    mail_free(&sent);
    mail_free(&received);
    return status;
}

trellis_status tr_vocabulary_gather_texts(struct tr_vocabulary *vocabulary, struct tr_ranks *ranks,
                                          trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (unsigned r = 1; !status && r < ranks->count; r++) {
        status = gather_texts(&vocabulary->node.index, ranks, r, error);
        if (!status) {
            status = gather_texts(&vocabulary->edge.index, ranks, r, error);
        }
    }
    return status;
}

/* words.c - the set of words seen in training. */
#include "dataset/words.h"

#include "base/hash.h"
#include "corpus/corpus.h"
#include "dataset/tag_dictionary.h"

static uint64_t hash_of(trellis_text word)
{
    uint64_t hash = tr_hash64(word.data, word.size);
    return hash ? hash : 1;
}

/* The slot of a hash, or the free one where it belongs. */
static size_t slot_of(const struct trellis_words *words, uint64_t hash)
{
    size_t slot = hash & (words->slot_count - 1);
    while (words->slots[slot] && words->slots[slot] != hash) {
        slot = (slot + 1) & (words->slot_count - 1);
    }
    return slot;
}

static bool grow(struct trellis_words *words)
{
    struct trellis_words larger = {.slot_count = words->slot_count ? 2 * words->slot_count : 1024,
                                   .count = words->count};
    larger.slots = tr_alloc(larger.slot_count, sizeof *larger.slots);
    for (size_t i = 0; larger.slots && i < words->slot_count; i++) {
        if (words->slots[i]) {
            larger.slots[slot_of(&larger, words->slots[i])] = words->slots[i];
        }
    }
    if (larger.slots) {
        free(words->slots);
        *words = larger;
    }
    return larger.slots;
}

bool tr_words_reserve(struct trellis_words *words, size_t more)
{
    bool ok = true;
    while (ok && 2 * (words->count + more) >= words->slot_count) {
        ok = grow(words);
    }
    return ok;
}

bool tr_words_add(struct trellis_words *words, trellis_text word)
{
    return tr_words_add_hash(words, hash_of(word));
}

bool tr_words_add_hash(struct trellis_words *words, uint64_t hash)
{
    if (2 * words->count >= words->slot_count && !grow(words)) {
        return false;
    }
    size_t slot = slot_of(words, hash);
    words->count += words->slots[slot] == 0;
    words->slots[slot] = hash;
    return true;
}

bool tr_words_has(const struct trellis_words *words, trellis_text word)
{
    return words->slot_count && words->slots[slot_of(words, hash_of(word))];
}

bool tr_words_has_hash(const struct trellis_words *words, uint64_t hash)
{
    return words->slot_count && words->slots[slot_of(words, hash)];
}

void tr_words_free(struct trellis_words *words)
{
    free(words->slots);
    *words = (struct trellis_words){0};
}

/* ---- in a model ------------------------------------------------------------------------------ */

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool tr_words_write(const struct trellis_words *words, struct tr_buffer *out)
{
    uint64_t *hashes = tr_alloc(words->count, sizeof *hashes);
    size_t count = 0;
    for (size_t i = 0; hashes && i < words->slot_count; i++) {
        if (words->slots[i]) {
            hashes[count++] = words->slots[i];
        }
    }
    if (hashes) {
        qsort(hashes, count, sizeof *hashes, by_hash);
        tr_buffer_add(out, (const char *)hashes, count * sizeof *hashes);
    }
    free(hashes);
    return hashes && !out->failed;
}

bool tr_words_find(const uint64_t *hashes, size_t count, trellis_text word)
{
    uint64_t hash = hash_of(word);
    return count && bsearch(&hash, hashes, count, sizeof *hashes, by_hash);
}

/* ---- of a corpus ----------------------------------------------------------------------------- */

trellis_status trellis_words_read(const char *path, const trellis_options *options,
                                  trellis_words **ret_words, trellis_error *error)
{
    if (!TR_CLEAR(ret_words) || !path) {
        return tr_fail_null(error, __func__);
    }
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_words *words = tr_alloc(1, sizeof *words);
    trellis_status status = words ? trellis_reader_open(path, options, &reader, error)
                                  : tr_fail_memory(error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        size_t column = tr_reader_word_column(reader, trellis_reader_label_column(reader));
        for (size_t i = 0; column < sequence->columns && i < sequence->length && !status; i++) {
            if (!tr_words_add(words, sequence->cells[i * sequence->columns + column])) {
                status = tr_fail_memory(error);
            }
        }
    }
    trellis_reader_close(reader);
    if (status != TRELLIS_END) {
        trellis_words_destroy(words);
        return status;
    }
    *ret_words = words;
    return TRELLIS_OK;
}

void trellis_words_destroy(trellis_words *words)
{
    if (words) {
        tr_words_free(words);
    }
    free(words);
}

bool trellis_words_known(const trellis_words *words, const trellis_reader *reader,
                         const trellis_sequence *given, bool *known)
{
    if (!words || !given || !known) {
        return false;
    }
    size_t column = tr_reader_word_column(reader, SIZE_MAX);
    trellis_sequence sequence;
    bool has_words = !tr_sequence_take(given, &sequence, NULL) && column < sequence.columns;
    for (size_t i = 0; has_words && i < sequence.length; i++) {
        known[i] = tr_words_has(words, sequence.cells[i * sequence.columns + column]);
    }
    return has_words;
}

/* words.h - the set of words seen in training.
 *
 * It holds 64-bit hashes. An unseen word is mistaken for a seen one with a probability of
 * (words seen) / 2^64, which is negligible.
 */
#ifndef TRELLIS_DATASET_WORDS_H
#define TRELLIS_DATASET_WORDS_H

#include "base/text.h"

struct trellis_words {
    uint64_t *slots; // [slot_count] hashes or 0; open addressing
    size_t slot_count, count;
};

/* False on allocation failure. */
bool tr_words_add(struct trellis_words *words, trellis_text word);
/* Makes room for `more` words, so that adding them cannot fail. */
bool tr_words_reserve(struct trellis_words *words, size_t more);
/* Adds a hash of tr_words_write(), other than 0. */
bool tr_words_add_hash(struct trellis_words *words, uint64_t hash);
bool tr_words_has(const struct trellis_words *words, trellis_text word);
bool tr_words_has_hash(const struct trellis_words *words, uint64_t hash);
void tr_words_free(struct trellis_words *words);

/* Appends the hashes in ascending order, as a model keeps them; false on allocation failure. */
bool tr_words_write(const struct trellis_words *words, struct tr_buffer *out);
/* Searches the hashes written, `count` of them. */
bool tr_words_find(const uint64_t *hashes, size_t count, trellis_text word);

#endif

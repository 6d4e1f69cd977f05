/* table.h - from an attribute's key to its weights, in place in the model file.
 *
 * Keys are in buckets of one cache line, five each; a key whose bucket is full is stored in one of
 * the next. A bucket gives the word where the row of weights begins:
 *
 *     words:  dense rows, `width` floats each | sparse rows: n, then n times (outcome, weight) |
 *             ...
 *
 * Words have 32 bits, or 16 where a model was made smaller (bits.c): a weight is then a whole
 * number of units.
 *
 * Nothing here is trusted: a row is checked where it is used, which costs a compare or two, so that
 * opening a model need not read all of it.
 */
#ifndef TRELLIS_MODEL_TABLE_H
#define TRELLIS_MODEL_TABLE_H

#include "base/intern.h"
#include "dataset/attribute_index.h"
#include "dataset/rows.h"
#include "model/integrity.h"

enum { TR_BUCKET_KEYS = 5, TR_BUCKET_FULL = 1 << 8, TR_MAX_PROBES = 256 };
/* In 16 bits: outcomes are below this, and places are at most this far from 0. */
enum { TR_MAX_SHORT_OUTCOMES = 1 << 16, TR_MAX_PLACES = 120 };

struct tr_bucket {
    uint64_t key[TR_BUCKET_KEYS];
    uint32_t row[TR_BUCKET_KEYS];
    uint32_t used; // keys in use; TR_BUCKET_FULL is added where a key overflowed to the next bucket
};

/* A record of the texts: what inspection and export walk over. */
struct tr_text_record {
    uint64_t key;
    uint64_t text; // offset in the bytes
    uint32_t text_size;
    uint32_t row;
};

struct tr_table {
    const struct tr_bucket *buckets; // [bucket_count], a power of two
    uint64_t bucket_count;
    uint32_t probes; // no key is further than this from its first bucket
    uint32_t outcomes, width;
    const uint32_t *words;  // [word_count], or NULL where they have 16 bits
    const uint16_t *shorts; // [word_count], or NULL
    float unit;             // of shorts: 2^-places
    uint64_t word_count, dense_words;
    const uint32_t
        *residuals; // [word_count] residuals of the weights, laid out like words; or NULL
    const struct tr_text_record *records; // [record_count]
    uint64_t record_count;
    const char *bytes;
    uint64_t byte_count;
};

/* Verifies what tr_table_find() and tr_table_add() are about to read for these keys. */
trellis_status tr_table_verify(const struct tr_table *table, struct tr_integrity *integrity,
                               const uint64_t *keys, size_t count, trellis_error *error);

/* Writes the sections <kind>KEY, <kind>ROW and <kind>TXT: attributes with at least one weight other
 * than 0, or `all`. */
trellis_status tr_table_write(struct tr_image_writer *writer, char kind,
                              const struct tr_attribute_index *dictionary,
                              const struct tr_rows *rows, const float *weights, bool all,
                              trellis_error *error);
/* Writes the section <kind>LOW: the residuals of the weights, laid out like <kind>ROW with all
 * attributes. */
void tr_table_write_residuals(struct tr_image_writer *writer, char kind, const struct tr_rows *rows,
                              const float *weights, const float *residuals);
/* Finds and checks them, or <kind>FIX with words of 16 bits in place of <kind>ROW. `outcomes` is
 * that of the graph. */
trellis_status tr_table_read(const struct tr_image *image, char kind, uint32_t outcomes,
                             struct tr_table *table, trellis_error *error);

/* The next weight other than 0 of a record's row; `place` begins at 0. False after the last. */
bool tr_table_next(const struct tr_table *table, const struct tr_text_record *record,
                   uint64_t *place, uint32_t *ret_outcome, float *ret_weight);
/* Calls back for each weight other than 0 of a record's row. */
typedef void (*tr_weight_function)(void *user, uint32_t outcome, float weight);
void tr_table_each(const struct tr_table *table, const struct tr_text_record *record,
                   tr_weight_function function, void *user);
/* The text of a record, empty where it is unsound. */
trellis_text tr_table_text(const struct tr_table *table, const struct tr_text_record *record);

/* One weight of a row, 0 where it has none for the outcome or is unsound. */
float tr_table_weight(const struct tr_table *table, uint32_t row, uint32_t outcome);
/* The same with all the digits that the model has. */
double tr_table_exact(const struct tr_table *table, uint32_t row, uint32_t outcome);
/* scores[outcome] += value * weight, with all its digits; scores [width]. */
void tr_table_add_exact(const struct tr_table *table, uint32_t row, float value, double *scores);

static inline uint64_t tr_table_home(const struct tr_table *table, uint64_t key)
{
    return (key ^ (key >> 32)) & (table->bucket_count - 1);
}

/* The row of a key, TR_NONE where the model does not know it. The table must have buckets. */
static inline uint32_t tr_table_find(const struct tr_table *table, uint64_t key)
{
    uint64_t at = tr_table_home(table, key);
    for (uint32_t probe = 0; probe <= table->probes; probe++) {
        const struct tr_bucket *bucket = &table->buckets[at];
        unsigned place = TR_BUCKET_KEYS; // without branches, which would often be guessed wrong
        for (unsigned i = TR_BUCKET_KEYS; i-- > 0;) {
            place = bucket->key[i] == key ? i : place;
        }
        if (place < (bucket->used & 7) && place < TR_BUCKET_KEYS) {
            return bucket->row[place];
        }
        if (!(bucket->used & TR_BUCKET_FULL)) {
            break;
        }
        at = (at + 1) & (table->bucket_count - 1);
    }
    return TR_NONE;
}

/* The word at a place below word_count: a count or an outcome, or a weight. */
static inline uint32_t tr_table_number(const struct tr_table *table, uint64_t at)
{
    return table->shorts ? table->shorts[at] : table->words[at];
}
static inline float tr_table_real(const struct tr_table *table, uint64_t at)
{
    float weight;
    if (table->shorts) {
        return table->unit * (float)(int16_t)table->shorts[at];
    }
    __builtin_memcpy(&weight, &table->words[at], sizeof weight);
    return weight;
}

/* Where the words of a row begin. */
static inline const void *tr_table_place(const struct tr_table *table, uint32_t row)
{
    return table->shorts ? (const void *)(table->shorts + row) : (const void *)(table->words + row);
}

/* How many pairs a sparse row has, as far as there is room for them: one for each outcome at most,
 * or a hostile file could have all its rows overlap and be read as often as it has attributes. */
static inline uint64_t tr_table_pairs(const struct tr_table *table, uint32_t row)
{
    uint64_t count = tr_table_number(table, row), room = (table->word_count - row - 1) / 2;
    room = room < table->outcomes ? room : table->outcomes;
    return count < room ? count : room;
}

/* tr_table_add() for words of 16 bits. */
static inline void tr_table_add_short(const struct tr_table *table, uint32_t row, float value,
                                      float *scores)
{
    float factor = value * table->unit;
    if (row < table->dense_words) {
        const int16_t *weight = (const int16_t *)table->shorts + row;
        bool sound = row + (uint64_t)table->width <= table->dense_words;
        for (uint32_t j = 0; sound && j < table->width; j++) {
            scores[j] += factor * (float)weight[j];
        }
        return;
    }
    uint64_t count = row < table->word_count ? tr_table_pairs(table, row) : 0;
    const uint16_t *pair = table->shorts + row + 1;
    for (uint64_t j = 0; j < count; j++, pair += 2) {
        if (pair[0] < table->outcomes) {
            scores[pair[0]] += factor * (float)(int16_t)pair[1];
        }
    }
}

/* scores[outcome] += value * weight for the weights of a row; an invalid row adds nothing. */
static inline void tr_table_add(const struct tr_table *table, uint32_t row, float value,
                                float *scores)
{
    if (table->shorts) {
        tr_table_add_short(table, row, value, scores);
        return;
    }
    if (row < table->dense_words) {
        if (row + (uint64_t)table->width <= table->dense_words) {
            const float *weight = (const float *)table->words + row;
            for (uint32_t j = 0; j < table->width; j++) {
                scores[j] += value * weight[j];
            }
        }
        return;
    }
    if (row >= table->word_count) {
        return;
    }
    const uint32_t *pair = table->words + row + 1;
    uint64_t count = tr_table_pairs(table, row);
    for (uint64_t j = 0; j < count; j++) {
        uint32_t outcome = pair[2 * j];
        if (outcome < table->outcomes) {
            float weight;
            __builtin_memcpy(&weight, &pair[2 * j + 1], sizeof weight);
            scores[outcome] += value * weight;
        }
    }
}

#endif

/* table_kernels.h - the rows of many keys at once, found and added: most of the work of tagging.
 *
 *     keys -> homes -> rows, dense and sparse ones apart -> scores
 *
 * As in base/kernels.h there is a set for every processor and one for those with AVX-512, and both
 * give the same.
 */
#ifndef TRELLIS_MODEL_TABLE_KERNELS_H
#define TRELLIS_MODEL_TABLE_KERNELS_H

#include "base/kernels.h"
#include "model/table.h"

/* How many keys early a bucket is prefetched: so many homes are read beyond those of the last key.
 * And how many numbers may be written behind the last of a list. */
enum { TR_HOMES_AHEAD = 48, TR_FOUND_ROOM = 16 };

/* Where the rows of a token end in the lists. */
struct tr_row_ends {
    uint32_t dense, sparse;
};

/* The rows that were found of the keys of some tokens. */
struct tr_found_rows {
    uint32_t *row;            // [keys] scratch
    uint32_t *dense, *sparse; // [keys + TR_FOUND_ROOM]
    struct tr_row_ends *ends; // [tokens]
};

struct tr_table_kernels {
    const char *name; // "baseline", "avx512"
    /* home[i] = where the first bucket of key[i] is, in bytes; home [count + TR_HOMES_AHEAD].
     * Prefetches the first of them. */
    void (*homes)(uint64_t *home, const struct tr_table *table, const uint64_t *key, size_t count);
    /* Lists the rows that the table has of the keys of some tokens, and prefetches them and the
     * buckets of keys to come. The keys of token i are key[begin[i]] .. key[begin[i+1]-1]. */
    void (*find)(const struct tr_found_rows *found, const struct tr_table *table,
                 const uint64_t *key, const uint64_t *home, const size_t *begin, size_t tokens);
    /* Adds the rows that were found to the scores [tokens][stride], the dense ones first. */
    void (*add)(float *scores, size_t stride, const struct tr_table *table,
                const struct tr_found_rows *found, size_t tokens);
};

/* The set for this processor, and the one that belongs to other kernels. */
const struct tr_table_kernels *tr_table_kernels(void);
const struct tr_table_kernels *tr_table_kernels_like(const struct tr_kernels *kernels);

/* For the sets themselves: home[count] .. are those of no key, and the first ones are prefetched;
 * rows are added by other kernels. */
void tr_table_end_homes(uint64_t *home, const struct tr_table *table, size_t count);
void tr_table_add_found(const struct tr_kernels *kernels, float *scores, size_t stride,
                        const struct tr_table *table, const struct tr_found_rows *found,
                        size_t tokens);

/* The sets; only table_kernels.c asks for them by name. */
extern const struct tr_table_kernels tr_table_kernels_baseline;
#if defined(__x86_64__)
extern const struct tr_table_kernels tr_table_kernels_avx512;
#endif

#endif

/* table_kernels_avx512.c - the rows of many keys with AVX-512; compiled with its flags.
 *
 * A bucket is a register: a key is compared with all of its keys at once. Rows are divided into
 * dense and sparse ones sixteen at a time, and the scores of a token with up to 32 outcomes stay in
 * two registers while its rows are added.
 */
#include "model/table_kernels.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

enum { KEYS = 8, ROWS = 16, LANES = 16, WORDS = 8, CACHE_LINE = 64 };

/* home = ((key ^ key >> 32) & (buckets - 1)) * size of a bucket */
static void homes(uint64_t *home, const struct tr_table *table, const uint64_t *key, size_t count)
{
    _Static_assert(sizeof(struct tr_bucket) == 64, "a bucket is a register");
    const __m512i mask = _mm512_set1_epi64((long long)(table->bucket_count - 1));
    size_t i = 0;
    for (; i + KEYS <= count; i += KEYS) {
        __m512i x = _mm512_loadu_si512(key + i);
        x = _mm512_and_si512(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), mask);
        _mm512_storeu_si512(home + i, _mm512_slli_epi64(x, 6));
    }
    for (; i < count; i++) {
        home[i] = tr_table_home(table, key[i]) * sizeof(struct tr_bucket);
    }
    tr_table_end_homes(home, table, count);
}

/* row[i] = the row of key[i], or TR_NONE. The first two cache lines of a row are prefetched. Where a
 * bucket does not have the key, the word behind its rows is taken for one: a small number, and a
 * prefetch never fails. */
INLINE void look_up(uint32_t *row, const struct tr_table *table, const void *words,
                    size_t word_size, const uint64_t *key, const uint64_t *home, size_t count)
{
    static const unsigned char used_keys[8] = {0, 1, 3, 7, 15, 31, 31, 31};
    const char *buckets = (const char *)table->buckets;
    for (size_t i = 0; i < count; i++) {
        const struct tr_bucket *bucket = (const struct tr_bucket *)(const void *)(buckets +
                                                                                  home[i]);
        __builtin_prefetch(buckets + home[i + TR_HOMES_AHEAD]);
        unsigned same = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(bucket),
                                                _mm512_set1_epi64((long long)key[i]));
        uint32_t used = bucket->used;
        same &= used_keys[used & 7];
        unsigned place = (unsigned)__builtin_ctz(same | 1u << TR_BUCKET_KEYS);
        uint32_t at;
        memcpy(&at, (const char *)bucket + offsetof(struct tr_bucket, row) + place * sizeof at,
               sizeof at);
        __builtin_prefetch((const void *)((uintptr_t)words + at * word_size));
        __builtin_prefetch((const void *)((uintptr_t)words + at * word_size + CACHE_LINE));
        row[i] = same ? at : TR_NONE;
        used = same ? 0 : used;
        if (__builtin_expect((used & TR_BUCKET_FULL) != 0, 0)) {
            row[i] = tr_table_find(table, key[i]);
        }
    }
}

/* Appends the numbers at the set bits of a mask; the new size. */
INLINE uint32_t append(uint32_t *list, uint32_t size, __mmask16 mask, __m512i x)
{
    _mm512_storeu_si512(list + size, _mm512_maskz_compress_epi32(mask, x));
    return size + (uint32_t)__builtin_popcount(mask);
}

/* Dense rows are below dense_words - width + 1, sparse ones from dense_words to word_count - 1. */
INLINE void list_rows(const struct tr_found_rows *found, const struct tr_table *table,
                      const size_t *begin, size_t tokens)
{
    bool any = table->dense_words >= table->width;
    const __m512i dense = _mm512_set1_epi32(
        any ? (int)(uint32_t)(table->dense_words - table->width + 1) : 0);
    const __m512i sparse = _mm512_set1_epi32((int)(uint32_t)table->dense_words);
    const __m512i end = _mm512_set1_epi32((int)(uint32_t)table->word_count);
    struct tr_row_ends ends = {0, 0};
    const uint32_t *row = found->row;
    for (size_t token = 0; token < tokens; token++) {
        size_t left = begin[token + 1] - begin[token];
        while (left) {
            size_t size = left < ROWS ? left : ROWS;
            __mmask16 there = (__mmask16)((1u << size) - 1);
            __m512i x = _mm512_maskz_loadu_epi32(there, row);
            __mmask16 is_dense = _mm512_mask_cmplt_epu32_mask(there, x, dense);
            __mmask16 is_sparse = _mm512_mask_cmplt_epu32_mask(
                _mm512_mask_cmpge_epu32_mask(there, x, sparse), x, end);
            ends.dense = append(found->dense, ends.dense, is_dense, x);
            ends.sparse = append(found->sparse, ends.sparse, is_sparse, x);
            row += size;
            left -= size;
        }
        found->ends[token] = ends;
    }
}

static void find(const struct tr_found_rows *found, const struct tr_table *table,
                 const uint64_t *key, const uint64_t *home, const size_t *begin, size_t tokens)
{
    size_t first = begin[0], count = begin[tokens] - first;
    if (table->shorts) {
        look_up(found->row, table, table->shorts, sizeof *table->shorts, key + first, home + first,
                count);
    } else {
        look_up(found->row, table, table->words, sizeof *table->words, key + first, home + first,
                count);
    }
    list_rows(found, table, begin, tokens);
}

/* The scores of a token. */
struct token_scores {
    __m512 low, high;
};

/* sum[outcome] += weight; no sum for an outcome beyond the last. */
INLINE void add_pair(struct token_scores *x, __m512i outcome, __m512 weight, __mmask16 in_low,
                     __mmask16 in_high)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i more = _mm512_add_epi32(lanes, _mm512_set1_epi32(LANES));
    __mmask16 low = _mm512_mask_cmpeq_epi32_mask(in_low, lanes, outcome);
    __mmask16 high = _mm512_mask_cmpeq_epi32_mask(in_high, more, outcome);
    x->low = _mm512_mask_add_ps(x->low, low, x->low, weight);
    x->high = _mm512_mask_add_ps(x->high, high, x->high, weight);
}

/* The pairs of a sparse row. How many there are cannot be predicted, so up to three, which is all
 * that rows of few outcomes have, are added without a branch: the outcomes of those that are not
 * there become -1. */
INLINE void add_sparse(struct token_scores *x, const struct tr_table *table, uint32_t row,
                       __mmask16 in_low, __mmask16 in_high)
{
    const uint32_t *pairs = table->words + row;
    if (__builtin_expect(row + (uint64_t)WORDS <= table->word_count && pairs[0] <= 3, 1)) {
        const __m256i number = _mm256_set_epi32(4, 3, 3, 2, 2, 1, 1, 0);
        __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)pairs);
        __mmask8 gone = _mm256_cmpgt_epu32_mask(number, _mm256_set1_epi32((int)pairs[0]));
        __m512i known = _mm512_castsi256_si512(
            _mm256_mask_mov_epi32(words, gone, _mm256_set1_epi32(-1)));
        for (int j = 0; j < 3; j++) {
            add_pair(x, _mm512_permutexvar_epi32(_mm512_set1_epi32(2 * j + 1), known),
                     _mm512_castsi512_ps(_mm512_set1_epi32((int)pairs[2 * j + 2])), in_low,
                     in_high);
        }
        return;
    }
    uint64_t count = tr_table_pairs(table, row);
    for (uint64_t j = 0; j < count; j++) {
        add_pair(x, _mm512_set1_epi32((int)pairs[2 * j + 1]),
                 _mm512_castsi512_ps(_mm512_set1_epi32((int)pairs[2 * j + 2])), in_low, in_high);
    }
}

static void add(float *scores, size_t stride, const struct tr_table *table,
                const struct tr_found_rows *found, size_t tokens)
{
    const struct tr_table here = *table;
    if (here.shorts || here.width > 2 * LANES || here.outcomes < 3) {
        tr_table_add_found(&tr_kernels_avx512, scores, stride, table, found, tokens);
        return;
    }
    const float *words = (const float *)here.words;
    __mmask16 low = (__mmask16)(here.width < LANES ? (1u << here.width) - 1 : 0xFFFF);
    __mmask16 high = (__mmask16)(here.width < LANES ? 0 : (1ull << (here.width - LANES)) - 1);
    __mmask16 in_low = (__mmask16)(here.outcomes < LANES ? (1u << here.outcomes) - 1 : 0xFFFF);
    __mmask16 in_high = (__mmask16)(here.outcomes < LANES ? 0
                                                          : (1ull << (here.outcomes - LANES)) - 1);
    const uint32_t *dense = found->dense, *sparse = found->sparse;
    for (size_t i = 0; i < tokens; i++) {
        const uint32_t *dense_end = found->dense + found->ends[i].dense;
        const uint32_t *sparse_end = found->sparse + found->ends[i].sparse;
        float *at = scores + i * stride;
        struct token_scores x = {_mm512_maskz_loadu_ps(low, at),
                                 _mm512_maskz_loadu_ps(high, at + LANES)};
        for (; dense < dense_end; dense++) {
            x.low = _mm512_add_ps(x.low, _mm512_maskz_loadu_ps(low, words + *dense));
            x.high = _mm512_add_ps(x.high, _mm512_maskz_loadu_ps(high, words + *dense + LANES));
        }
        for (; sparse < sparse_end; sparse++) {
            add_sparse(&x, &here, *sparse, in_low, in_high);
        }
        _mm512_mask_storeu_ps(at, low, x.low);
        _mm512_mask_storeu_ps(at + LANES, high, x.high);
    }
}

const struct tr_table_kernels tr_table_kernels_avx512 = {
    .name = "avx512", .homes = homes, .find = find, .add = add};

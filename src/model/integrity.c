/* integrity.c - which parts of a model file have been compared with their checksums. */
#include "model/integrity.h"

#include <stdatomic.h>

#include "base/hash.h"

enum { ADVANCE_BLOCKS = 128, MAX_BLOCK_SHIFT = 40 };

static const char wrong_block[] = "a block has a wrong checksum";
static const char text_sections[][5] = {"NTXT", "ETXT"}; // as they follow each other in a file

struct blocks {
    size_t first, count;
};

struct tr_integrity {
    const struct tr_image *image;
    char *path;        // NULL: bytes in memory
    const char *sums;  // [blocks] u64, or NULL
    const char *begin; // of the first block
    uint64_t covered;  // bytes in blocks
    unsigned shift;    // a block has 2^shift bytes
    size_t blocks;
    struct blocks texts[TR_COUNT(text_sections)]; // of texts alone
    atomic_size_t next;             // how many others tr_integrity_advance() has reached
    atomic_size_t left;             // blocks to verify; without sums: 1 while nothing was verified
    atomic_size_t left_of_scores;   // those of them that taggers read
    atomic_uint_fast64_t *verified; // a bit for each block
    atomic_bool broken;             // damage was found: nothing more is read
};

static trellis_status damaged(struct tr_integrity *integrity, const char *how, trellis_error *error)
{
    atomic_store_explicit(&integrity->broken, true, memory_order_relaxed);
    return tr_fail(error, TRELLIS_MODEL, "%s: the model is damaged: %s",
                   integrity->path ? integrity->path : "model", how);
}

/* The blocks that have bytes of a section alone. */
static struct blocks blocks_within(const struct tr_integrity *integrity, const char name[4])
{
    trellis_text content;
    uint64_t size = UINT64_C(1) << integrity->shift;
    if (!tr_image_find(integrity->image, name, &content) || content.data < integrity->begin) {
        return (struct blocks){0};
    }
    uint64_t begin = (uint64_t)(content.data - integrity->begin), end = begin + content.size;
    size_t first = (size_t)((begin + size - 1) >> integrity->shift);
    size_t last = (size_t)(end >> integrity->shift);
    return first < last && end <= integrity->covered ? (struct blocks){first, last - first}
                                                     : (struct blocks){0};
}

static bool is_of_texts(const struct tr_integrity *integrity, size_t block)
{
    bool found = false;
    for (size_t i = 0; i < TR_COUNT(integrity->texts); i++) {
        found = found || block - integrity->texts[i].first < integrity->texts[i].count;
    }
    return found;
}

/* How many blocks are not of texts alone. */
static size_t blocks_of_scores(const struct tr_integrity *integrity)
{
    size_t count = integrity->blocks;
    for (size_t i = 0; i < TR_COUNT(integrity->texts); i++) {
        count -= integrity->texts[i].count;
    }
    return count;
}

/* Finds the checksums of the blocks; false where they do not fit the file. */
static bool find_sums(struct tr_integrity *integrity)
{
    const struct tr_image *image = integrity->image;
    trellis_text sums, first;
    char name[4];
    if (!tr_image_find(image, TR_IMAGE_SUMS, &sums) || !tr_image_at(image, 0, name, &first)) {
        return true;
    }
    struct tr_cursor cursor = tr_cursor(sums);
    uint32_t shift = tr_cursor_u32(&cursor);
    tr_cursor_u32(&cursor);
    if (cursor.failed || shift < 6 || shift > MAX_BLOCK_SHIFT || first.data > sums.data) {
        return false;
    }
    integrity->begin = first.data;
    integrity->covered = (uint64_t)(sums.data - first.data);
    integrity->shift = shift;
    integrity->blocks = (size_t)((integrity->covered + (UINT64_C(1) << shift) - 1) >> shift);
    integrity->sums = sums.data + 8;
    for (size_t i = 0; i < TR_COUNT(text_sections); i++) {
        integrity->texts[i] = blocks_within(integrity, text_sections[i]);
    }
    return (sums.size - 8) / 8 == integrity->blocks && (sums.size - 8) % 8 == 0;
}

trellis_status tr_integrity_create(const struct tr_image *image, const char *path, bool trusted,
                                   struct tr_integrity **ret_integrity, trellis_error *error)
{
    struct tr_integrity *integrity = tr_alloc(1, sizeof *integrity);
    *ret_integrity = integrity;
    if (!integrity) {
        return tr_fail_memory(error);
    }
    integrity->image = image;
    integrity->path = path ? tr_copy_text(path, strlen(path)) : NULL;
    bool fits = find_sums(integrity);
    integrity->verified = fits ? tr_alloc(integrity->blocks / 64 + 1, sizeof *integrity->verified)
                               : NULL;
    size_t left = trusted ? 0 : integrity->sums ? integrity->blocks : 1;
    atomic_init(&integrity->left, left);
    atomic_init(&integrity->left_of_scores, left > 1 ? blocks_of_scores(integrity) : left);
    return !fits ? damaged(integrity, "its checksums do not fit", error)
           : !integrity->verified || (path && !integrity->path) ? tr_fail_memory(error)
                                                                : TRELLIS_OK;
}

void tr_integrity_destroy(struct tr_integrity *integrity)
{
    if (integrity) {
        free(integrity->path);
        free(integrity->verified);
        free(integrity);
    }
}

const char *tr_integrity_path(const struct tr_integrity *integrity)
{
    return integrity->path;
}

bool tr_integrity_done(const struct tr_integrity *integrity)
{
    return atomic_load_explicit(&integrity->left_of_scores, memory_order_relaxed) == 0;
}

/* Notes that a block is intact. */
static void note_verified(struct tr_integrity *integrity, size_t block)
{
    uint_fast64_t bit = UINT64_C(1) << block % 64;
    if (!(atomic_fetch_or_explicit(&integrity->verified[block / 64], bit, memory_order_relaxed) &
          bit)) {
        bool of_scores = !is_of_texts(integrity, block);
        atomic_fetch_sub_explicit(&integrity->left, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&integrity->left_of_scores, of_scores, memory_order_relaxed);
    }
}

/* Verifies the blocks first .. last-1 of those that have not been verified yet. */
static trellis_status verify_blocks(struct tr_integrity *integrity, size_t first, size_t last,
                                    trellis_error *error)
{
    if (atomic_load_explicit(&integrity->broken, memory_order_relaxed)) {
        return damaged(integrity, wrong_block, error);
    }
    for (size_t k = first; k < last; k++) {
        if (atomic_load_explicit(&integrity->verified[k / 64], memory_order_relaxed) >> k % 64 &
            1) {
            continue;
        }
        uint64_t sum, at = (uint64_t)k << integrity->shift, left = integrity->covered - at;
        uint64_t size = UINT64_C(1) << integrity->shift;
        memcpy(&sum, integrity->sums + 8 * k, sizeof sum);
        if (tr_hash64(integrity->begin + at, (size_t)(left < size ? left : size)) != sum) {
            return damaged(integrity, wrong_block, error);
        }
        note_verified(integrity, k);
    }
    return TRELLIS_OK;
}

trellis_status tr_integrity_all(struct tr_integrity *integrity, trellis_error *error)
{
    if (atomic_load_explicit(&integrity->left, memory_order_relaxed) == 0) {
        return TRELLIS_OK;
    }
    if (integrity->sums) {
        return verify_blocks(integrity, 0, integrity->blocks, error);
    }
    trellis_status status = tr_image_verify(integrity->image, integrity->path, "model", error);
    if (!status) {
        atomic_store_explicit(&integrity->left, 0, memory_order_relaxed);
        atomic_store_explicit(&integrity->left_of_scores, 0, memory_order_relaxed);
    }
    return status;
}

trellis_status tr_integrity_range(struct tr_integrity *integrity, const void *at, size_t size,
                                  trellis_error *error)
{
    if (!integrity->sums) {
        return tr_integrity_all(integrity, error);
    }
    uint64_t from = (uint64_t)((const char *)at - integrity->begin);
    bool inside = from < integrity->covered && size <= integrity->covered - from;
    if (!inside || size == 0) {
        return inside || size == 0 ? TRELLIS_OK
                                   : damaged(integrity, "its checksums do not fit", error);
    }
    return verify_blocks(integrity, (size_t)(from >> integrity->shift),
                         (size_t)((from + size - 1) >> integrity->shift) + 1, error);
}

trellis_status tr_integrity_advance(struct tr_integrity *integrity, trellis_error *error)
{
    size_t next = atomic_fetch_add_explicit(&integrity->next, ADVANCE_BLOCKS, memory_order_relaxed);
    size_t all = blocks_of_scores(integrity);
    size_t end = next + ADVANCE_BLOCKS < all ? next + ADVANCE_BLOCKS : all;
    trellis_status status = TRELLIS_OK;
    for (size_t i = next; !status && i < end; i++) {
        size_t block = i;
        for (size_t t = 0; t < TR_COUNT(integrity->texts); t++) {
            block += block >= integrity->texts[t].first ? integrity->texts[t].count : 0;
        }
        status = verify_blocks(integrity, block, block + 1, error);
    }
    return status;
}

/* integrity.c - which parts of a model file have been compared with their checksums. */
#include "model/integrity.h"

#include <stdatomic.h>

#include "base/hash.h"

enum { ADVANCE_BLOCKS = 128, MAX_BLOCK_SHIFT = 40 };

static const char wrong_block[] = "a block has a wrong checksum";

struct tr_integrity {
    const struct tr_image *image;
    char *path;        // NULL: bytes in memory
    const char *sums;  // [blocks] u64, or NULL
    const char *begin; // of the first block
    uint64_t covered;  // bytes in blocks
    unsigned shift;    // a block has 2^shift bytes
    size_t blocks;
    atomic_size_t next;             // the first block that tr_integrity_advance() has not reached
    atomic_size_t left;             // blocks to verify; without sums: 1 while nothing was verified
    atomic_uint_fast64_t *verified; // a bit for each block
    atomic_bool broken;             // damage was found: nothing more is read
};

static trellis_status damaged(struct tr_integrity *integrity, const char *how, trellis_error *error)
{
    atomic_store_explicit(&integrity->broken, true, memory_order_relaxed);
    return tr_fail(error, TRELLIS_MODEL, "%s: the model is damaged: %s",
                   integrity->path ? integrity->path : "model", how);
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
    atomic_init(&integrity->left, trusted ? 0 : integrity->sums ? integrity->blocks : 1);
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
    return atomic_load_explicit(&integrity->left, memory_order_relaxed) == 0;
}

/* Verifies the blocks first .. last-1 of those that have not been verified yet. */
static trellis_status verify_blocks(struct tr_integrity *integrity, size_t first, size_t last,
                                    trellis_error *error)
{
    if (atomic_load_explicit(&integrity->broken, memory_order_relaxed)) {
        return damaged(integrity, wrong_block, error);
    }
    for (size_t k = first; k < last; k++) {
        atomic_uint_fast64_t *word = &integrity->verified[k / 64];
        uint_fast64_t bit = UINT64_C(1) << k % 64;
        if (atomic_load_explicit(word, memory_order_relaxed) & bit) {
            continue;
        }
        uint64_t sum, at = (uint64_t)k << integrity->shift, left = integrity->covered - at;
        uint64_t size = UINT64_C(1) << integrity->shift;
        memcpy(&sum, integrity->sums + 8 * k, sizeof sum);
        if (tr_hash64(integrity->begin + at, (size_t)(left < size ? left : size)) != sum) {
            return damaged(integrity, wrong_block, error);
        }
        if (!(atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit)) {
            atomic_fetch_sub_explicit(&integrity->left, 1, memory_order_relaxed);
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_integrity_all(struct tr_integrity *integrity, trellis_error *error)
{
    if (tr_integrity_done(integrity)) {
        return TRELLIS_OK;
    }
    if (integrity->sums) {
        return verify_blocks(integrity, 0, integrity->blocks, error);
    }
    trellis_status status = tr_image_verify(integrity->image, integrity->path, "model", error);
    if (!status) {
        atomic_store_explicit(&integrity->left, 0, memory_order_relaxed);
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
    size_t first = atomic_fetch_add_explicit(&integrity->next, ADVANCE_BLOCKS,
                                             memory_order_relaxed);
    size_t last = first + ADVANCE_BLOCKS < integrity->blocks ? first + ADVANCE_BLOCKS
                                                             : integrity->blocks;
    return verify_blocks(integrity, first, last, error);
}

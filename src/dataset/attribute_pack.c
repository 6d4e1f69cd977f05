/* attribute_pack.c - keys and texts of attributes, compressed while nobody reads them.
 *
 * An optimiser works with the numbers of attributes for minutes, and their keys and texts are wanted
 * again when the model is built. The entries are written byte by byte of all of them, first the
 * first bytes, then the second: most of these planes are nearly constant, and the texts repeat each
 * other, so that less than half of the room is left.
 */
#include <zstd.h>

#include "dataset/attribute_index.h"

/* Fast rather than small. */
enum { LEVEL = 1, CHUNK = 1 << 16 };

/* Appends compressed bytes; all of them where it is the end. */
static bool compress(ZSTD_CCtx *stream, struct tr_packed *packed, const void *bytes, size_t size,
                     ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left = 0;
    do {
        size_t need = packed->size + CHUNK;
        if (need > packed->capacity) {
            packed->at = tr_grow_raw(packed->at, &packed->capacity, need, 1);
        }
        if (need > packed->capacity) {
            return false;
        }
        ZSTD_outBuffer out = {packed->at, packed->capacity, packed->size};
        left = ZSTD_compressStream2(stream, &out, &in, end);
        packed->size = out.pos;
    } while (!ZSTD_isError(left) && (in.pos < in.size || (end == ZSTD_e_end && left > 0)));
    return !ZSTD_isError(left);
}

static bool pack(const struct tr_attribute_index *index, ZSTD_CCtx *stream, char *plane,
                 struct tr_packed *packed)
{
    size_t count = index->entries.size;
    const char *entries = (const char *)index->entries.at;
    bool ok = !ZSTD_isError(ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL));
    for (size_t byte = 0; ok && byte < sizeof(struct tr_entry); byte++) {
        for (size_t i = 0; i < count; i++) {
            plane[i] = entries[i * sizeof(struct tr_entry) + byte];
        }
        ok = compress(stream, packed, plane, count, ZSTD_e_continue);
    }
    return ok && compress(stream, packed, index->bytes.at, index->bytes.size, ZSTD_e_end);
}

void tr_attribute_index_pack(struct tr_attribute_index *index)
{
    struct tr_packed packed = {0};
    char *plane = tr_alloc(index->entries.size, 1);
    ZSTD_CCtx *stream = ZSTD_createCCtx();
    bool ok = plane && stream && index->entries.at && pack(index, stream, plane, &packed);
    ZSTD_freeCCtx(stream);
    free(plane);
    char *fitting = ok ? realloc(packed.at, packed.size) : NULL;
    if (!fitting) { // they stay as they are
        free(packed.at);
        return;
    }
    tr_attribute_index_close(index);
    free(index->entries.at);
    free(index->bytes.at);
    index->entries.at = NULL;
    index->bytes.at = NULL;
    index->entries.capacity = index->bytes.capacity = 0;
    packed.at = fitting;
    packed.capacity = packed.size;
    index->packed = packed;
}

static bool decompress(ZSTD_DCtx *stream, ZSTD_inBuffer *in, void *bytes, size_t size)
{
    ZSTD_outBuffer out = {bytes, size, 0};
    size_t left = 0;
    while (out.pos < size && !ZSTD_isError(left)) {
        size_t before = out.pos + in->pos;
        left = ZSTD_decompressStream(stream, &out, in);
        if (out.pos + in->pos == before) {
            return false;
        }
    }
    return !ZSTD_isError(left);
}

static bool unpack(const struct tr_attribute_index *index, ZSTD_DCtx *stream, char *plane,
                   char *entries, char *bytes)
{
    size_t count = index->entries.size;
    ZSTD_inBuffer in = {index->packed.at, index->packed.size, 0};
    for (size_t byte = 0; byte < sizeof(struct tr_entry); byte++) {
        if (!decompress(stream, &in, plane, count)) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            entries[i * sizeof(struct tr_entry) + byte] = plane[i];
        }
    }
    return decompress(stream, &in, bytes, index->bytes.size);
}

bool tr_attribute_index_unpack(struct tr_attribute_index *index)
{
    if (!index->packed.at) {
        return true;
    }
    size_t count = index->entries.size, size = index->bytes.size;
    char *plane = tr_alloc(count, 1), *bytes = tr_alloc(size, 1);
    struct tr_entry *entries = tr_alloc(count, sizeof *entries);
    ZSTD_DCtx *stream = ZSTD_createDCtx();
    bool ok = plane && bytes && entries && stream &&
              unpack(index, stream, plane, (char *)entries, bytes);
    ZSTD_freeDCtx(stream);
    free(plane);
    if (!ok) {
        free(entries);
        free(bytes);
        return false;
    }
    index->entries.at = entries;
    index->entries.capacity = count;
    index->bytes.at = bytes;
    index->bytes.capacity = size;
    free(index->packed.at);
    index->packed = (struct tr_packed){0};
    return true;
}

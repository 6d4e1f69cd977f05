/* image.h - the file of a model or of a checkpoint: named sections with sizes and checksums.
 *
 *     header   8 bytes magic, u32 version, u32 sections, u64 file size, u64 checksum of the table
 *     table    for each section: 4 bytes name, u32 zero, u64 offset, u64 size, u64 checksum
 *     sections, each beginning at a multiple of 64, the gaps filled with zeros
 *
 * A file with a section of 1 MiB or more ends with the section SUMS: the checksums of the blocks of
 * all that stands before it, so that a part can be verified where it is read (integrity.h):
 *
 *     u32 s, u32 zero, then u64 checksum of each 2^s bytes from the first section on
 *
 * Numbers are in the byte order of the machine, another order is refused. Checksums are XXH3-64.
 * Training writes an image in memory and opens it with the same code as a file.
 */
#ifndef TRELLIS_MODEL_IMAGE_H
#define TRELLIS_MODEL_IMAGE_H

#include "base/text.h"

#define TR_IMAGE_VERSION 1u
/* The section that distinguishes a checkpoint of a training (src/train/checkpoint.c) from a
 * model. */
#define TR_CHECKPOINT_SECTION "CKPT"

/* Writing: begin, add the sections, finish. */
struct tr_image_writer {
    struct tr_buffer bytes;
    uint32_t sections;
    uint32_t room; // capacity of the table of sections
};
void tr_image_begin(struct tr_image_writer *writer, uint32_t sections); // without SUMS
/* Starts the next section: what is added to writer->bytes from here on is its content. */
void tr_image_section(struct tr_image_writer *writer, const char name[4]);
/* Fills in the sizes and checksums, and adds SUMS to a large image. */
trellis_status tr_image_finish(struct tr_image_writer *writer, trellis_error *error);

/* Reading. */
struct tr_image {
    const unsigned char *data;
    size_t size;
    enum { TR_ALLOCATED, TR_MAPPED, TR_BORROWED } held;
    void *block; // to be freed, where it is allocated
};
/* Maps a file. Only regular files. `what` it is, "model" or "checkpoint", is for messages. */
trellis_status tr_image_open(const char *path, const char *what, struct tr_image *image,
                             trellis_error *error);
/* The caller's bytes, copied or borrowed. Numbers are read in place: borrowed bytes that are not
 * aligned for them are copied as well. */
trellis_status tr_image_bytes(const void *data, size_t size, trellis_bytes_use use,
                              const char *what, struct tr_image *image, trellis_error *error);
/* Takes over the bytes of a buffer, and moves them to a multiple of 64 if there is memory for it: a
 * bucket of a table (table.h) then lies in one cache line, as in a mapped file. */
void tr_image_adopt(struct tr_image *image, struct tr_buffer *buffer);
void tr_image_close(struct tr_image *image);
#define TR_IMAGE_SUMS "SUMS"
/* Checks header, table and the checksums of sections below TR_IMAGE_AT_ONCE bytes: a large model
 * opens as fast as a small one. `path` may be NULL. */
#define TR_IMAGE_AT_ONCE (UINT64_C(1) << 20)
trellis_status tr_image_check(const struct tr_image *image, const char *path, const char *what,
                              trellis_error *error);
/* Of a checked image: the checksums of all other sections. */
trellis_status tr_image_verify(const struct tr_image *image, const char *path, const char *what,
                               trellis_error *error);
/* Of a checked image: the checksum of a section by its number. */
bool tr_image_section_intact(const struct tr_image *image, uint32_t index);
/* The name and the content of a section of a checked image by its number; false after the last. */
bool tr_image_at(const struct tr_image *image, uint32_t index, char ret_name[4],
                 trellis_text *ret_content);
/* The content of a section of a checked image; false where there is none. */
bool tr_image_find(const struct tr_image *image, const char name[4], trellis_text *ret_content);

/* Reads numbers off a section, never beyond its end: `failed` is set instead. */
struct tr_cursor {
    const unsigned char *at, *end;
    bool failed;
};
struct tr_cursor tr_cursor(trellis_text section);
uint16_t tr_cursor_u16(struct tr_cursor *cursor);
uint32_t tr_cursor_u32(struct tr_cursor *cursor);
uint64_t tr_cursor_u64(struct tr_cursor *cursor);
/* A run of `size` bytes, NULL where there are fewer. */
const void *tr_cursor_bytes(struct tr_cursor *cursor, size_t size);
/* Up to and including the next zero byte, NULL where there is none. */
const char *tr_cursor_string(struct tr_cursor *cursor);
/* Skips to a multiple of `alignment` from the beginning of the section. */
void tr_cursor_align(struct tr_cursor *cursor, trellis_text section, size_t alignment);

void tr_put_u16(struct tr_buffer *buffer, uint16_t value);
void tr_put_u32(struct tr_buffer *buffer, uint32_t value);
void tr_put_u64(struct tr_buffer *buffer, uint64_t value);
/* Zeros up to the next multiple of `alignment` of the whole buffer. */
void tr_put_align(struct tr_buffer *buffer, size_t alignment);

#endif

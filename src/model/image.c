/* image.c - the file of a model or of a checkpoint: named sections with sizes and checksums. */
#include "model/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

/* A byte that is not text, the name, and line ends that a careless copy would change. */
static const char magic[8] = {'\x93', 'T', 'R', 'L', 'S', '\r', '\n', '\x1a'};

enum { HEADER_SIZE = 32, ENTRY_SIZE = 32, ALIGNMENT = 64, MAX_SECTIONS = 64 };
enum { MIN_BLOCK_SHIFT = 12 };

void tr_put_u16(struct tr_buffer *buffer, uint16_t value)
{
    tr_buffer_add(buffer, (const char *)&value, sizeof value);
}

void tr_put_u32(struct tr_buffer *buffer, uint32_t value)
{
    tr_buffer_add(buffer, (const char *)&value, sizeof value);
}

void tr_put_u64(struct tr_buffer *buffer, uint64_t value)
{
    tr_buffer_add(buffer, (const char *)&value, sizeof value);
}

void tr_put_align(struct tr_buffer *buffer, size_t alignment)
{
    while (!buffer->failed && buffer->size % alignment) {
        tr_buffer_char(buffer, 0);
    }
}

void tr_image_begin(struct tr_image_writer *writer, uint32_t sections)
{
    *writer = (struct tr_image_writer){.room = sections + 1};
    tr_buffer_add(&writer->bytes, magic, sizeof magic);
    for (size_t i = sizeof magic; i < HEADER_SIZE + (size_t)writer->room * ENTRY_SIZE; i++) {
        tr_buffer_char(&writer->bytes, 0);
    }
}

static void set_u32(struct tr_buffer *buffer, size_t at, uint32_t value)
{
    memcpy(buffer->data + at, &value, sizeof value);
}

static void set_u64(struct tr_buffer *buffer, size_t at, uint64_t value)
{
    memcpy(buffer->data + at, &value, sizeof value);
}

static uint64_t get_u64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t get_u32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Writes size and checksum of the section written last. */
static void close_section(struct tr_image_writer *writer)
{
    if (writer->sections == 0 || writer->bytes.failed) {
        return;
    }
    size_t entry = HEADER_SIZE + (size_t)(writer->sections - 1) * ENTRY_SIZE;
    uint64_t offset = get_u64(writer->bytes.data + entry + 8);
    set_u64(&writer->bytes, entry + 16, writer->bytes.size - offset);
    set_u64(&writer->bytes, entry + 24,
            tr_hash64(writer->bytes.data + offset, writer->bytes.size - offset));
}

void tr_image_section(struct tr_image_writer *writer, const char name[4])
{
    close_section(writer);
    tr_put_align(&writer->bytes, ALIGNMENT);
    if (writer->bytes.failed || writer->sections >= writer->room) {
        writer->bytes.failed = true;
        return;
    }
    size_t entry = HEADER_SIZE + (size_t)writer->sections * ENTRY_SIZE;
    memcpy(writer->bytes.data + entry, name, 4);
    set_u64(&writer->bytes, entry + 8, writer->bytes.size);
    writer->sections++;
}

/* The checksum of the header and the table of sections. */
static uint64_t table_checksum(const unsigned char *data, uint32_t sections)
{
    uint64_t head = tr_hash64(data, HEADER_SIZE - 8);
    return head ^ tr_hash64(data + HEADER_SIZE, (size_t)sections * ENTRY_SIZE);
}

/* The offset and the size of a section that was written. */
static uint64_t written_offset(const struct tr_image_writer *writer, uint32_t section)
{
    return get_u64(writer->bytes.data + HEADER_SIZE + (size_t)section * ENTRY_SIZE + 8);
}

static uint64_t written_size(const struct tr_image_writer *writer, uint32_t section)
{
    return get_u64(writer->bytes.data + HEADER_SIZE + (size_t)section * ENTRY_SIZE + 16);
}

/* Adds the checksums of the blocks of all sections. Blocks are large enough for these checksums to
 * stay below TR_IMAGE_AT_ONCE bytes, so that they are verified themselves when a file is opened. */
static void add_block_sums(struct tr_image_writer *writer)
{
    struct tr_buffer *bytes = &writer->bytes;
    tr_image_section(writer, TR_IMAGE_SUMS);
    if (bytes->failed) {
        return;
    }
    uint64_t begin = written_offset(writer, 0), end = bytes->size;
    uint32_t shift = MIN_BLOCK_SHIFT;
    while (((end - begin) >> shift) * 8 + 64 >= TR_IMAGE_AT_ONCE) {
        shift++;
    }
    tr_put_u32(bytes, shift);
    tr_put_u32(bytes, 0);
    for (uint64_t at = begin; at < end && !bytes->failed; at += UINT64_C(1) << shift) {
        uint64_t left = end - at, size = UINT64_C(1) << shift;
        tr_put_u64(bytes, tr_hash64(bytes->data + at, left < size ? left : size));
    }
    close_section(writer);
}

trellis_status tr_image_finish(struct tr_image_writer *writer, trellis_error *error)
{
    close_section(writer);
    bool large = false;
    for (uint32_t i = 0; i < writer->sections && !writer->bytes.failed; i++) {
        large = large || written_size(writer, i) >= TR_IMAGE_AT_ONCE;
    }
    if (large) {
        add_block_sums(writer);
    }
    if (writer->bytes.failed) {
        tr_buffer_free(&writer->bytes);
        return tr_fail_memory(error);
    }
    set_u32(&writer->bytes, 8, TR_IMAGE_VERSION);
    set_u32(&writer->bytes, 12, writer->sections);
    set_u64(&writer->bytes, 16, writer->bytes.size);
    set_u64(&writer->bytes, 24,
            table_checksum((const unsigned char *)writer->bytes.data, writer->sections));
    return TRELLIS_OK;
}

trellis_status tr_image_open(const char *path, const char *what, struct tr_image *image,
                             trellis_error *error)
{
    char doing[40];
    *image = (struct tr_image){0};
    snprintf(doing, sizeof doing, "open the %s", what);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) {
        return tr_fail_system(error, doing, path);
    }
    struct stat about;
    trellis_status status = TRELLIS_OK;
    if (fstat(file, &about) != 0) {
        status = tr_fail_system(error, doing, path);
    } else if (S_ISDIR(about.st_mode)) {
        status = tr_fail(error, TRELLIS_IO, "cannot %s %s: it is a directory", doing, path);
    } else if (!S_ISREG(about.st_mode)) {
        status = tr_fail(error, TRELLIS_MODEL, "%s is not a %s: it is not a regular file", path,
                         what);
    } else if (about.st_size == 0) {
        status = tr_fail(error, TRELLIS_MODEL, "%s is not a %s: it is empty", path, what);
    } else {
        void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data == MAP_FAILED) {
            status = tr_fail_system(error, doing, path);
        } else {
            *image = (struct tr_image){data, (size_t)about.st_size, TR_MAPPED, NULL};
        }
    }
    close(file);
    return status;
}

trellis_status tr_image_bytes(const void *data, size_t size, trellis_bytes_use use,
                              const char *what, struct tr_image *image, trellis_error *error)
{
    *image = (struct tr_image){0};
    if (!data || size == 0) {
        return tr_fail(error, TRELLIS_MODEL, "this is not a %s: it is empty", what);
    }
    if (use == TRELLIS_BORROW && (uintptr_t)data % sizeof(uint64_t) == 0) {
        *image = (struct tr_image){data, size, TR_BORROWED, NULL};
        return TRELLIS_OK;
    }
    char *copy = tr_alloc_aligned(size, 1);
    if (!copy) {
        return tr_fail_memory(error);
    }
    memcpy(copy, data, size);
    *image = (struct tr_image){(unsigned char *)copy, size, TR_ALLOCATED, copy};
    return TRELLIS_OK;
}

void tr_image_adopt(struct tr_image *image, struct tr_buffer *buffer)
{
    size_t shift = 0;
    if (tr_make_room(buffer->data, buffer->capacity, buffer->size + ALIGNMENT)) {
        shift = -(uintptr_t)buffer->data % ALIGNMENT;
        memmove(buffer->data + shift, buffer->data, buffer->size);
    }
    *image = (struct tr_image){(unsigned char *)buffer->data + shift, buffer->size, TR_ALLOCATED,
                               buffer->data};
    *buffer = (struct tr_buffer){0};
}

void tr_image_close(struct tr_image *image)
{
    if (image->held == TR_MAPPED) {
        munmap((void *)image->data, image->size);
    } else if (image->held == TR_ALLOCATED) {
        free(image->block);
    }
    *image = (struct tr_image){0};
}

static trellis_status damaged(const char *path, const char *what, const char *how,
                              trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "%s: the %s is damaged: %s", path ? path : what, what,
                   how);
}

struct section {
    const unsigned char *name;
    uint64_t offset, size, checksum;
};

static struct section section_at(const struct tr_image *image, uint32_t index)
{
    const unsigned char *entry = image->data + HEADER_SIZE + (size_t)index * ENTRY_SIZE;
    return (struct section){entry, get_u64(entry + 8), get_u64(entry + 16), get_u64(entry + 24)};
}

/* The checksums of the sections of at least `least` and less than `limit` bytes. */
static trellis_status check_content(const struct tr_image *image, uint64_t least, uint64_t limit,
                                    const char *path, const char *what, trellis_error *error)
{
    uint32_t sections = get_u32(image->data + 12);
    for (uint32_t i = 0; i < sections; i++) {
        struct section section = section_at(image, i);
        if (section.size >= least && section.size < limit && !tr_image_section_intact(image, i)) {
            return damaged(path, what, "a section has a wrong checksum", error);
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_image_check(const struct tr_image *image, const char *path, const char *what,
                              trellis_error *error)
{
    const unsigned char *data = image->data;
    if (image->size < sizeof magic || memcmp(data, magic, sizeof magic) != 0) {
        return tr_fail(error, TRELLIS_MODEL, "%s is not a Trellis %s", path ? path : "this", what);
    }
    if (image->size < HEADER_SIZE) {
        return damaged(path, what, "it is truncated", error);
    }
    if (get_u32(data + 8) == __builtin_bswap32(TR_IMAGE_VERSION)) {
        return tr_fail(error, TRELLIS_MODEL,
                       "%s was written on a machine with the other byte order; the text form of "
                       "'trellis export' can be read on both",
                       path ? path : what);
    }
    if (get_u32(data + 8) != TR_IMAGE_VERSION) {
        return tr_fail(error, TRELLIS_MODEL, "%s: version %u of the format; this program reads %u",
                       path ? path : what, get_u32(data + 8), TR_IMAGE_VERSION);
    }
    uint32_t sections = get_u32(data + 12);
    if (get_u64(data + 16) != image->size) {
        return damaged(path, what, "its size has changed since it was written", error);
    }
    if (sections > MAX_SECTIONS || HEADER_SIZE + (size_t)sections * ENTRY_SIZE > image->size) {
        return damaged(path, what, "the table of sections is too long", error);
    }
    if (get_u64(data + 24) != table_checksum(data, sections)) {
        return damaged(path, what, "the table of sections has a wrong checksum", error);
    }
    for (uint32_t i = 0; i < sections; i++) {
        struct section section = section_at(image, i);
        if (section.offset % ALIGNMENT || section.offset > image->size ||
            section.size > image->size - section.offset) {
            return damaged(path, what, "a section lies outside the file", error);
        }
    }
    return check_content(image, 0, TR_IMAGE_AT_ONCE, path, what, error);
}

trellis_status tr_image_verify(const struct tr_image *image, const char *path, const char *what,
                               trellis_error *error)
{
    return check_content(image, TR_IMAGE_AT_ONCE, UINT64_MAX, path, what, error);
}

bool tr_image_section_intact(const struct tr_image *image, uint32_t index)
{
    struct section section = section_at(image, index);
    return tr_hash64(image->data + section.offset, section.size) == section.checksum;
}

bool tr_image_at(const struct tr_image *image, uint32_t index, char ret_name[4],
                 trellis_text *ret_content)
{
    if (index >= get_u32(image->data + 12)) {
        return false;
    }
    struct section section = section_at(image, index);
    memcpy(ret_name, section.name, 4);
    *ret_content = (trellis_text){(const char *)image->data + section.offset, section.size};
    return true;
}

bool tr_image_find(const struct tr_image *image, const char name[4], trellis_text *ret_content)
{
    uint32_t sections = get_u32(image->data + 12);
    for (uint32_t i = 0; i < sections; i++) {
        struct section section = section_at(image, i);
        if (memcmp(section.name, name, 4) == 0) {
            *ret_content = (trellis_text){(const char *)image->data + section.offset, section.size};
            return true;
        }
    }
    return false;
}

struct tr_cursor tr_cursor(trellis_text section)
{
    const unsigned char *at = (const unsigned char *)section.data;
    return (struct tr_cursor){at, at + section.size, false};
}

const void *tr_cursor_bytes(struct tr_cursor *cursor, size_t size)
{
    if (cursor->failed || size > (size_t)(cursor->end - cursor->at)) {
        cursor->failed = true;
        return NULL;
    }
    const void *bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

uint16_t tr_cursor_u16(struct tr_cursor *cursor)
{
    const void *bytes = tr_cursor_bytes(cursor, 2);
    uint16_t value = 0;
    if (bytes) {
        memcpy(&value, bytes, sizeof value);
    }
    return value;
}

uint32_t tr_cursor_u32(struct tr_cursor *cursor)
{
    const void *bytes = tr_cursor_bytes(cursor, 4);
    return bytes ? get_u32(bytes) : 0;
}

uint64_t tr_cursor_u64(struct tr_cursor *cursor)
{
    const void *bytes = tr_cursor_bytes(cursor, 8);
    return bytes ? get_u64(bytes) : 0;
}

const char *tr_cursor_string(struct tr_cursor *cursor)
{
    size_t left = (size_t)(cursor->end - cursor->at);
    const void *zero = cursor->failed || left == 0 ? NULL : memchr(cursor->at, 0, left);
    if (!zero) {
        cursor->failed = true;
        return NULL;
    }
    return tr_cursor_bytes(cursor, (size_t)((const unsigned char *)zero - cursor->at) + 1);
}

void tr_cursor_align(struct tr_cursor *cursor, trellis_text section, size_t alignment)
{
    size_t done = (size_t)(cursor->at - (const unsigned char *)section.data) % alignment;
    if (done) {
        tr_cursor_bytes(cursor, alignment - done);
    }
}

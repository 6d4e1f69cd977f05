/* sections.h - files made of sections (models, checkpoints, states of online learners) for fuzzers.
 *
 * A fuzzer would hardly find a dozen consistent sections from scratch, so the mutator knows what a
 * file is made of: it begins with sound files, changes their sections one by one, and repairs what
 * holds them together.
 */
#ifndef TRELLIS_TESTS_FUZZ_SECTIONS_H
#define TRELLIS_TESTS_FUZZ_SECTIONS_H

#include "base/random.h"
#include "model/test_hostile.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static inline void repair_header(unsigned char *bytes, size_t size)
{
    static const unsigned char magic[] = {
        0x93, 'T', 'R', 'L', 'S', '\r', '\n', 0x1a, TR_IMAGE_VERSION, 0, 0, 0};
    if (size >= HEADER) {
        memcpy(bytes, magic, sizeof magic);
        set_u64_at(bytes, FILE_SIZE, size);
    }
}

/* A copy with corrected header and checksums; the caller frees it. */
static inline unsigned char *repaired(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    if (size) {
        memcpy(bytes, data, size);
    }
    repair_header(bytes, size);
    repair_checksums(bytes, size);
    return bytes;
}

/* The sections of a file, each with its own bytes. */
struct section {
    char name[8];
    struct tr_buffer bytes;
};
struct sections {
    struct section at[MAX_SECTIONS];
    uint32_t count;
};

static inline void free_sections(struct sections *sections)
{
    for (uint32_t i = 0; i < sections->count; i++) {
        tr_buffer_free(&sections->at[i].bytes);
    }
}

/* Takes a file apart; false where it is not made of sections. */
static inline bool split(struct sections *sections, const unsigned char *data, size_t size)
{
    uint32_t count = sections_of(data, size);
    sections->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t begin, length;
        struct section *section = &sections->at[sections->count];
        if (section_at(data, size, i, &begin, &length)) {
            *section = (struct section){0};
            memcpy(section->name, data + HEADER + (size_t)i * ENTRY, sizeof section->name);
            tr_buffer_add(&section->bytes, (const char *)data + begin, length);
            sections->count++;
        }
    }
    return sections->count > 0;
}

/* Puts them together again, each at a multiple of 64 bytes; 0 where there is no room. */
static inline size_t join(const struct sections *sections, uint8_t *data, size_t max)
{
    size_t at = HEADER + (size_t)sections->count * ENTRY;
    if (at > max) {
        return 0;
    }
    memset(data, 0, max);
    for (uint32_t i = 0; i < sections->count; i++) {
        const struct section *section = &sections->at[i];
        unsigned char *entry = data + HEADER + (size_t)i * ENTRY;
        at = (at + 63) / 64 * 64;
        if (at > max || section->bytes.size > max - at) {
            return 0;
        }
        memcpy(entry, section->name, sizeof section->name);
        set_u64_at(entry, 8, at);
        set_u64_at(entry, 16, section->bytes.size);
        if (section->bytes.size) {
            memcpy(data + at, section->bytes.data, section->bytes.size);
        }
        at += section->bytes.size;
    }
    memcpy(data + SECTION_COUNT, &sections->count, sizeof sections->count);
    repair_header(data, at);
    repair_checksums(data, at);
    return at;
}

/* A number in a section becomes one that sizes and offsets are often wrong by. */
static inline void change_number(struct tr_buffer *bytes, struct tr_random *random)
{
    static const uint32_t extremes[] = {0,      1,          2,          0x7f,      0xff,
                                        0xffff, 0x7fffffff, 0x80000000, UINT32_MAX};
    if (bytes->size >= 4) {
        size_t at = tr_random_below(random, bytes->size / 4) * 4;
        uint32_t value = u32_at((unsigned char *)bytes->data, at);
        uint64_t choice = tr_random_below(random, TR_COUNT(extremes) + 4);
        value = choice < TR_COUNT(extremes) ? extremes[choice]
                : choice % 2                ? value + 1 + (uint32_t)tr_random_below(random, 3)
                                            : value - 1 - (uint32_t)tr_random_below(random, 3);
        memcpy(bytes->data + at, &value, sizeof value);
    }
}

/* The bytes of a section as libFuzzer would change them, longer ones included. */
static inline void change_bytes(struct tr_buffer *bytes, struct tr_random *random)
{
    size_t room = bytes->size + 1 + tr_random_below(random, 64);
    uint8_t *copy = calloc(room, 1);
    if (bytes->size) {
        memcpy(copy, bytes->data, bytes->size);
    }
    size_t size = LLVMFuzzerMutate(copy, bytes->size, room);
    bytes->size = 0;
    tr_buffer_add(bytes, (const char *)copy, size);
    free(copy);
}

/* Takes the section of that name of another sound file. */
static inline void take_from_another(struct section *section, struct tr_random *random,
                                     const struct tr_buffer *sound, size_t sound_count)
{
    const struct tr_buffer *other = &sound[tr_random_below(random, sound_count)];
    struct sections donor;
    split(&donor, (const unsigned char *)other->data, other->size);
    for (uint32_t i = 0; i < donor.count; i++) {
        if (memcmp(donor.at[i].name, section->name, sizeof section->name) == 0) {
            section->bytes.size = 0;
            tr_buffer_add(&section->bytes, donor.at[i].bytes.data, donor.at[i].bytes.size);
        }
    }
    free_sections(&donor);
}

static inline void change(struct sections *sections, struct tr_random *random,
                          const struct tr_buffer *sound, size_t sound_count)
{
    uint32_t i = (uint32_t)tr_random_below(random, sections->count);
    struct section *section = &sections->at[i];
    switch (tr_random_below(random, 8)) {
    case 0: // leave it out
        tr_buffer_free(&section->bytes);
        sections->at[i] = sections->at[--sections->count];
        break;
    case 1: // cut it
        section->bytes.size = tr_random_below(random, section->bytes.size + 1);
        break;
    case 2:
        take_from_another(section, random, sound, sound_count);
        break;
    case 3:
    case 4:
        change_bytes(&section->bytes, random);
        break;
    default:
        change_number(&section->bytes, random);
    }
}

/* Adds checksums of blocks, which otherwise only large files have. */
static inline void add_sums(struct sections *sections)
{
    enum { SHIFT = 6 };
    size_t blocks = 0;
    if (sections->count < MAX_SECTIONS) {
        for (uint32_t i = 0; i < sections->count; i++) {
            blocks += (sections->at[i].bytes.size + 63) / 64;
        }
        struct section *sums = &sections->at[sections->count++];
        *sums = (struct section){.name = "SUMS"};
        tr_put_u32(&sums->bytes, SHIFT);
        tr_put_u32(&sums->bytes, 0);
        for (size_t k = 0; k < blocks; k++) {
            tr_put_u64(&sums->bytes, 0); // join() computes them
        }
    }
}

/* Changes one to four sections and repairs sizes, offsets and checksums. What is no such file
 * becomes one of the sound files first. */
static inline size_t mutate_sections(uint8_t *data, size_t size, size_t max, unsigned seed,
                                     const struct tr_buffer *sound, size_t sound_count)
{
    struct tr_random random;
    struct sections sections;
    tr_random_seed(&random, seed);
    if (tr_random_below(&random, 20) == 0) {
        return LLVMFuzzerMutate(data, size, max); // header and table, too
    }
    if (!split(&sections, data, size)) {
        const struct tr_buffer *base = &sound[tr_random_below(&random, sound_count)];
        split(&sections, (const unsigned char *)base->data, base->size);
    }
    for (uint64_t changes = 1 + tr_random_below(&random, 4); changes > 0 && sections.count > 0;
         changes--) {
        change(&sections, &random, sound, sound_count);
    }
    if (tr_random_below(&random, 10) == 0) {
        add_sums(&sections);
    }
    size_t made = join(&sections, data, max);
    free_sections(&sections);
    return made ? made : LLVMFuzzerMutate(data, size, max);
}

/* The same where the first byte chooses one of the sound files, and the file is behind it. */
static inline size_t mutate_chosen(uint8_t *data, size_t size, size_t max, unsigned seed,
                                   const struct tr_buffer *sound, size_t sound_count)
{
    if (size < 1 || max < 2) {
        return LLVMFuzzerMutate(data, size, max);
    }
    return 1 + mutate_sections(data + 1, size - 1, max - 1, seed, &sound[data[0] % sound_count], 1);
}

#endif

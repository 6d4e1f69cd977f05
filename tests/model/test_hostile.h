/* test_hostile.h - malicious model files, and every use of a model that opens; for the test and for
 * the fuzzer, so without cmocka.
 */
#ifndef TRELLIS_TESTS_TEST_HOSTILE_H
#define TRELLIS_TESTS_TEST_HOSTILE_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/model.h"

/* The offsets of image.h. */
enum {
    HEADER = 32,
    ENTRY = 32,
    SECTION_COUNT = 12,
    FILE_SIZE = 16,
    TABLE_SUM = 24,
    MAX_SECTIONS = 64
};

static inline uint64_t u64_at(const unsigned char *data, size_t at)
{
    uint64_t value;
    memcpy(&value, data + at, sizeof value);
    return value;
}

static inline uint32_t u32_at(const unsigned char *data, size_t at)
{
    uint32_t value;
    memcpy(&value, data + at, sizeof value);
    return value;
}

static inline void set_u64_at(unsigned char *data, size_t at, uint64_t value)
{
    memcpy(data + at, &value, sizeof value);
}

/* The sections that the table has room for in a file of this size. */
static inline uint32_t sections_of(const unsigned char *data, size_t size)
{
    uint32_t count = size >= HEADER ? u32_at(data, SECTION_COUNT) : 0;
    return count <= MAX_SECTIONS && HEADER + (size_t)count * ENTRY <= size ? count : 0;
}

/* Where section i lies; false where that is not inside the file. */
static inline bool section_at(const unsigned char *data, size_t size, uint32_t i, size_t *begin,
                              size_t *length)
{
    size_t entry = HEADER + (size_t)i * ENTRY;
    uint64_t offset = u64_at(data, entry + 8), bytes = u64_at(data, entry + 16);
    if (offset > size || bytes > size - offset) {
        return false;
    }
    *begin = (size_t)offset;
    *length = (size_t)bytes;
    return true;
}

/* Repairs the checksums of the blocks in the section SUMS, where it fits the file: of all bytes
 * between the first section and itself. */
static inline void repair_blocks(unsigned char *data, size_t size)
{
    size_t first, ignored, sums, length;
    for (uint32_t i = 0; i < sections_of(data, size); i++) {
        if (memcmp(data + HEADER + (size_t)i * ENTRY, "SUMS", 4) != 0 ||
            !section_at(data, size, 0, &first, &ignored) ||
            !section_at(data, size, i, &sums, &length) || length < 8 || first > sums) {
            continue;
        }
        uint32_t shift = u32_at(data, sums);
        for (size_t k = 0; shift < 40 && k < (length - 8) / 8; k++) {
            size_t at = first + (k << shift), block = (size_t)1 << shift;
            if (at < sums) {
                block = block < sums - at ? block : sums - at;
                set_u64_at(data, sums + 8 + 8 * k, tr_hash64(data + at, block));
            }
        }
    }
}

/* Repairs all checksums, so that the checks behind them are tested. */
static inline void repair_checksums(unsigned char *data, size_t size)
{
    uint32_t count = sections_of(data, size);
    if (size < HEADER) {
        return;
    }
    repair_blocks(data, size);
    for (uint32_t i = 0; i < count; i++) {
        size_t begin, length;
        if (section_at(data, size, i, &begin, &length)) {
            set_u64_at(data, HEADER + (size_t)i * ENTRY + 24, tr_hash64(data + begin, length));
        }
    }
    set_u64_at(data, TABLE_SUM,
               tr_hash64(data, HEADER - 8) ^ tr_hash64(data + HEADER, (size_t)count * ENTRY));
}

/* Opens a copy of exactly these bytes, so that a read beyond them is seen. */
static inline trellis_status open_bytes(const unsigned char *data, size_t size,
                                        trellis_model **ret_model, trellis_error *error)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (size) {
        memcpy(copy, data, size);
    }
    struct tr_image image = {copy, size, TR_ALLOCATED, copy};
    return tr_model_read(&image, NULL, false, NULL, ret_model, error);
}

/* Whether opening would build a graph of many steps: L^(k+1), which the library allows up to
 * TR_MAX_STEPS, but not ten thousand times in a test. */
static inline bool is_large(const unsigned char *data, size_t size)
{
    size_t labels = 0, order = 0;
    for (uint32_t i = 0; i < sections_of(data, size); i++) {
        const unsigned char *name = data + HEADER + (size_t)i * ENTRY;
        size_t begin, length;
        if (!section_at(data, size, i, &begin, &length)) {
            continue;
        }
        for (size_t k = 0; memcmp(name, "LABL", 4) == 0 && k < length; k++) {
            labels += data[begin + k] == 0;
        }
        if (memcmp(name, "GRPH", 4) == 0 && length >= 8) {
            uint32_t k = u32_at(data, begin), cap = u32_at(data, begin + 4);
            k = cap > 1 && cap <= TR_MAX_ORDER ? 2 : k;
            order = k > order ? k : order;
        }
    }
    double steps = (double)labels;
    for (size_t k = 0; k < order && k <= TR_MAX_ORDER; k++) {
        steps *= (double)labels;
    }
    return order > 1 && order <= TR_MAX_ORDER && steps > 200000;
}

static inline trellis_status count_bytes(void *user, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i += 997) { // reads a little of it, all of it is too slow
        *(size_t *)user += (unsigned char)data[i];
    }
    *(size_t *)user += size;
    return TRELLIS_OK;
}

/* Asks about the sequence tagged last. */
static inline void ask_all(trellis_tagger *tagger, size_t length)
{
    const int32_t *numbers = trellis_tagger_nth_numbers(tagger, 0);
    const float *pairs;
    double figure;
    if (numbers) {
        trellis_tagger_score_numbers(tagger, numbers);
        trellis_tagger_log_probability_numbers(tagger, numbers, &figure, NULL);
    }
    trellis_tagger_entropy(tagger, &figure, NULL);
    trellis_tagger_pair_marginals(tagger, &pairs, NULL);
    if (!trellis_tagger_sample(tagger, 1, 2, &numbers, NULL) && length) {
        trellis_tagger_score_numbers(tagger, numbers + length);
    }
}

/* Goes through the weights and looks a few of them up. */
static inline void walk_weights(const trellis_model *model)
{
    trellis_weight_iterator *iterator;
    const trellis_weight *weight;
    size_t sum = 0, count = 0;
    if (trellis_weight_iterator_create(model, &iterator, NULL)) {
        return;
    }
    while ((weight = trellis_weight_iterator_next(iterator))) {
        for (size_t i = 0; i < weight->label_count; i++) {
            count_bytes(&sum, weight->labels[i].data, weight->labels[i].size);
        }
        if (count++ < 100) {
            bool edge = weight->kind == TRELLIS_EDGE_WEIGHT;
            trellis_model_find_attribute(model, edge, weight->attribute);
            trellis_model_weight(model, weight->attribute_number, weight->numbers,
                                 weight->label_count);
        }
    }
    trellis_weight_iterator_destroy(iterator);
}

static inline void tag_all(const trellis_model *model, const trellis_options *options)
{
    static const trellis_text words[] = {{"the", 3},           {"can", 3},   {"", 0},
                                         {"zebra", 5},         {"Dog-9", 5}, {"cat", 3},
                                         {"\xc3\xa9t\xff", 4}, {"can", 3}};
    static const trellis_attribute attributes[] = {
        {{"word[0]=the", 11}, 1}, {{"x", 1}, -2.5}, {{"word[0]=can", 11}, 1e30}};
    static const size_t begin[] = {0, 1, 2, 3, 3};
    const trellis_sequence sequences[] = {
        {.length = 8, .columns = 1, .cells = words, .weight = 1},
        {.length = 2, .columns = 4, .cells = words, .weight = 1},
        {.length = 0, .columns = 1, .cells = words, .weight = 1},
        {.length = 1, .columns = 1, .cells = words + 1, .weight = 1},
        {.length = 4,
         .columns = 2,
         .cells = words,
         .attributes = attributes,
         .attribute_begin = begin,
         .weight = 1},
        {.length = 4, .attributes = attributes, .attribute_begin = begin, .weight = 1},
    };
    trellis_tagger *tagger;
    if (trellis_tagger_create(model, options, &tagger, NULL)) {
        return;
    }
    for (size_t i = 0; i < TR_COUNT(sequences); i++) {
        const trellis_text *labels;
        size_t sum = 0;
        if (!trellis_tagger_tag(tagger, &sequences[i], &labels, NULL)) {
            for (size_t k = 0; k < sequences[i].length; k++) {
                count_bytes(&sum, labels[k].data, labels[k].size);
            }
            ask_all(tagger, sequences[i].length);
        }
    }
    trellis_tagger_destroy(tagger);
}

/* Uses a model in every way. */
static inline void exercise(const trellis_model *model)
{
    static const char *const settings[][2] = {
        {"decode", "viterbi"}, {"decode", "posterior"}, {"constrain", "iob"}};
    size_t sum = 0;
    trellis_options *options;
    trellis_writer *writer;
    if (trellis_options_create(&options, NULL)) {
        return;
    }
    for (size_t i = 0; i < TR_COUNT(settings); i++) { // each on top of those before it
        if (!trellis_options_set(options, settings[i][0], settings[i][1], NULL)) {
            tag_all(model, options);
        }
    }
    for (size_t i = 0; i <= trellis_model_label_count(model) && i < 100; i++) {
        trellis_text label = trellis_model_label(model, i);
        count_bytes(&sum, label.data, label.size);
    }
    trellis_model_note(model, "type");
    walk_weights(model);
    for (int json = 0; json < 2; json++) {
        trellis_model_info(model, json, count_bytes, &sum, NULL);
        trellis_model_export(model, json, count_bytes, &sum, NULL);
    }
    for (int bits = 16; bits <= 32; bits += 16) {
        trellis_model *packed;
        if (!trellis_model_repack(model, bits, &packed, NULL)) {
            trellis_model_info(packed, false, count_bytes, &sum, NULL);
            trellis_model_close(packed);
        }
    }
    if (!trellis_options_set(options, "tokens", "20", NULL) &&
        !trellis_writer_create(options, count_bytes, &sum, &writer, NULL)) {
        trellis_sample(model, options, writer, NULL);
        trellis_writer_destroy(writer);
    }
    trellis_options_destroy(options);
}

#endif

/* embedding.c - vectors of words: reading them, finding them. */
#include "features/embedding.h"

#include <math.h>

#include "base/hash.h"
#include "base/intern.h"
#include "features/tables.h"

/* ---- searching ------------------------------------------------------------------------------- */

bool tr_embedding_open(trellis_text table, struct tr_embedding *ret_embedding)
{
    struct tr_embedding *e = ret_embedding;
    *e = (struct tr_embedding){0};
    if (table.size < 16) {
        return false;
    }
    uint64_t words = tr_u64_at(table.data, 0), dimensions = tr_u64_at(table.data, 1);
    if (dimensions == 0 || dimensions > TR_MAX_DIMENSIONS) {
        return false;
    }
    size_t left = table.size - 16, row = sizeof(uint64_t) + dimensions * sizeof(float);
    if (left % row || left / row != words) {
        return false;
    }
    *e = (struct tr_embedding){.words = words,
                               .dimensions = (uint32_t)dimensions,
                               .hashes = table.data + 16,
                               .components = table.data + 16 + words * sizeof(uint64_t)};
    return true;
}

bool tr_embedding_find(const struct tr_embedding *embedding, trellis_text word, uint64_t *ret_row)
{
    *ret_row = tr_find_hash(embedding->hashes, embedding->words, tr_hash(word).low);
    return *ret_row < embedding->words;
}

float tr_embedding_component(const struct tr_embedding *embedding, uint64_t row, uint32_t number)
{
    uint32_t bits = tr_u32_at(embedding->components, row * embedding->dimensions + number);
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What has been read. */
struct vectors {
    struct tr_intern words;
    TR_ARRAY(float) components; // [words][dimensions]
    uint64_t dimensions;        // 0 until they are known
    bool has_header;
    int64_t announced; // words, by the header
    double squares;    // sum over all components
};

static trellis_status fail_dimensions(struct tr_input *input, trellis_error *error)
{
    return tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                      "a vector has from 1 to %d components", TR_MAX_DIMENSIONS);
}

/* Whether the first line is two whole numbers, the words and dimensions of the file. */
static trellis_status take_header(struct vectors *vectors, struct tr_input *input,
                                  trellis_text line, trellis_error *error)
{
    int64_t words, dimensions;
    vectors->has_header = tr_text_integer(tr_text_word(&line), &words) &&
                          tr_text_integer(tr_text_word(&line), &dimensions) &&
                          tr_text_word(&line).size == 0;
    if (!vectors->has_header) {
        return TRELLIS_OK;
    }
    if (dimensions < 1 || dimensions > TR_MAX_DIMENSIONS) {
        return fail_dimensions(input, error);
    }
    vectors->announced = words;
    vectors->dimensions = (uint64_t)dimensions;
    return TRELLIS_OK;
}

static trellis_status add_component(struct vectors *vectors, struct tr_input *input,
                                    trellis_text text, trellis_error *error)
{
    double value = 0;
    if (!tr_text_real(text, &value) || !isfinite((float)value)) {
        return tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                          "expected a finite number, not '%.*s'", TR_SHOW(text));
    }
    float component = (float)value;
    vectors->squares += (double)component * (double)component;
    return tr_push(&vectors->components, component) ? TRELLIS_OK : tr_fail_memory(error);
}

/* A word that the file has not had. */
static trellis_status add_word(struct vectors *vectors, struct tr_input *input, trellis_text word,
                               trellis_error *error)
{
    size_t before = tr_intern_count(&vectors->words);
    if (tr_intern_add(&vectors->words, word) == TR_NONE) {
        return tr_fail_memory(error);
    }
    return tr_intern_count(&vectors->words) > before
               ? TRELLIS_OK
               : tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                            "a second vector for '%.*s'", TR_SHOW(word));
}

static trellis_status add_line(struct vectors *vectors, struct tr_input *input, trellis_text line,
                               trellis_error *error)
{
    trellis_text word = tr_text_word(&line), text;
    if (word.size == 0) {
        return TRELLIS_OK; // an empty line
    }
    uint64_t count = 0;
    trellis_status status = add_word(vectors, input, word, error);
    while (!status && (text = tr_text_word(&line)).size) {
        status = ++count > TR_MAX_DIMENSIONS ? fail_dimensions(input, error)
                                             : add_component(vectors, input, text, error);
    }
    if (status) {
        return status;
    }
    vectors->dimensions = vectors->dimensions ? vectors->dimensions : count;
    if (count == 0) {
        return fail_dimensions(input, error);
    }
    return count == vectors->dimensions
               ? TRELLIS_OK
               : tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                            "%llu component%s instead of %llu", TR_COUNTED(count),
                            (unsigned long long)vectors->dimensions);
}

static trellis_status check_count(const struct vectors *vectors, struct tr_input *input,
                                  trellis_error *error)
{
    struct tr_place place = tr_input_place(input);
    size_t count = tr_intern_count(&vectors->words);
    if (count == 0) {
        return tr_fail_at(error, TRELLIS_FORMAT, place, "the file has no vectors");
    }
    place.line = 1;
    return !vectors->has_header || (uint64_t)vectors->announced == count
               ? TRELLIS_OK
               : tr_fail_at(error, TRELLIS_FORMAT, place,
                            "the first line announces %lld words, but there are %zu",
                            (long long)vectors->announced, count);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct sorted_word {
    uint64_t hash;
    uint32_t row;
};

static int compare_words(const void *a, const void *b)
{
    const struct sorted_word *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static void put_table(const struct vectors *vectors, const struct sorted_word *sorted,
                      struct tr_buffer *table)
{
    size_t count = tr_intern_count(&vectors->words);
    double length = sqrt(vectors->squares / (double)count); // root mean square
    length = length > 0 ? length : 1;
    tr_put_u64(table, count);
    tr_put_u64(table, vectors->dimensions);
    for (size_t i = 0; i < count; i++) {
        tr_put_u64(table, sorted[i].hash);
    }
    for (size_t i = 0; i < count; i++) {
        const float *row = vectors->components.at + sorted[i].row * vectors->dimensions;
        for (uint64_t k = 0; k < vectors->dimensions; k++) {
            float component = (float)((double)row[k] / length);
            uint32_t bits;
            memcpy(&bits, &component, sizeof bits);
            tr_put_u32(table, bits);
        }
    }
}

static trellis_status write_table(const struct vectors *vectors, struct tr_resource *resource,
                                  trellis_error *error)
{
    size_t count = tr_intern_count(&vectors->words);
    struct tr_buffer table = {0};
    struct sorted_word *sorted = tr_alloc(count, sizeof *sorted);
    if (!sorted) {
        return tr_fail_memory(error);
    }
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = (struct sorted_word){tr_hash(tr_intern_text(&vectors->words, i)).low, i};
    }
    qsort(sorted, count, sizeof *sorted, compare_words);
    put_table(vectors, sorted, &table);
    free(sorted);
    if (table.failed) {
        tr_buffer_free(&table);
        return tr_fail_memory(error);
    }
    resource->owned = table.data;
    resource->data = (trellis_text){table.data, table.size};
    return TRELLIS_OK;
}

trellis_status tr_embedding_load(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error)
{
    struct vectors vectors = {0};
    trellis_text line;
    trellis_status status;
    for (bool first = true; !(status = tr_input_line(input, &line, error)); first = false) {
        status = first ? take_header(&vectors, input, line, error) : TRELLIS_OK;
        if (!status && !(first && vectors.has_header)) {
            status = add_line(&vectors, input, line, error);
        }
        if (status) {
            break;
        }
    }
    if (status == TRELLIS_END) {
        status = check_count(&vectors, input, error);
        status = status ? status : write_table(&vectors, resource, error);
    }
    tr_intern_free(&vectors.words);
    free(vectors.components.at);
    return status;
}

/* memory_corpus.c - sequences in memory, held as numbers from the moment they are added.
 *
 *     texts -> numbers of texts:  cells [tokens][columns], labels [tokens], attributes
 *                                 [occurrences]
 *
 * An attribute that occurs a thousand times is one text and a thousand numbers of four bytes.
 * Arrays that no sequence needs (weights that are all 1, values that are all 1, ...) are never
 * made.
 */
#include "corpus/memory_corpus.h"

#include "base/error.h"
#include "base/structs.h"
#include "corpus/corpus.h"

struct trellis_corpus {
    struct tr_intern texts, label_texts, attribute_texts;
    size_t columns;           // of every sequence, once there is one
    size_t label_column;      // among the cells; SIZE_MAX: it is not there
    TR_ARRAY(size_t) begin;   // [sequences + 1] the first token of each
    TR_ARRAY(uint32_t) cell;  // [tokens][columns]
    TR_ARRAY(uint32_t) label; // [tokens], TR_NONE: none; empty: no sequence has labels
    TR_ARRAY(size_t) seen;    // [tokens + 1] into attribute; empty: no sequence has attributes
    TR_ARRAY(uint32_t) attribute;
    TR_ARRAY(float) value;      // [attribute.size]; empty: all are 1
    TR_ARRAY(float) weight;     // [sequences]; empty: all are 1
    TR_ARRAY(uint32_t) group;   // [sequences]; empty: all are 0
    TR_ARRAY(char *) names;     // of the columns
    TR_ARRAY(uint32_t) numbers; // scratch
};

trellis_status trellis_corpus_create(trellis_corpus **ret_corpus, trellis_error *error)
{
    if (!TR_CLEAR(ret_corpus)) {
        return tr_fail_null(error, __func__);
    }
    trellis_corpus *corpus = *ret_corpus = tr_alloc(1, sizeof *corpus);
    if (corpus && tr_push(&corpus->begin, 0)) {
        corpus->label_column = SIZE_MAX;
        return TRELLIS_OK;
    }
    trellis_corpus_destroy(corpus);
    *ret_corpus = NULL;
    return tr_fail_memory(error);
}

void trellis_corpus_destroy(trellis_corpus *corpus)
{
    if (!corpus) {
        return;
    }
    tr_intern_free(&corpus->texts);
    tr_intern_free(&corpus->label_texts);
    tr_intern_free(&corpus->attribute_texts);
    for (size_t i = 0; i < corpus->names.size; i++) {
        free(corpus->names.at[i]);
    }
    free(corpus->names.at);
    free(corpus->begin.at);
    free(corpus->cell.at);
    free(corpus->label.at);
    free(corpus->seen.at);
    free(corpus->attribute.at);
    free(corpus->value.at);
    free(corpus->weight.at);
    free(corpus->group.at);
    free(corpus->numbers.at);
    free(corpus);
}

size_t trellis_corpus_sequences(const trellis_corpus *corpus)
{
    if (!corpus) {
        return 0;
    }
    return corpus->begin.size - 1;
}

size_t trellis_corpus_tokens(const trellis_corpus *corpus)
{
    if (!corpus) {
        return 0;
    }
    return corpus->begin.at[corpus->begin.size - 1];
}

size_t trellis_corpus_bytes(const trellis_corpus *corpus)
{
    if (!corpus) {
        return 0;
    }
    return tr_intern_bytes(&corpus->texts) + tr_intern_bytes(&corpus->label_texts) +
           tr_intern_bytes(&corpus->attribute_texts) +
           corpus->begin.capacity * sizeof *corpus->begin.at +
           corpus->cell.capacity * sizeof *corpus->cell.at +
           corpus->label.capacity * sizeof *corpus->label.at +
           corpus->seen.capacity * sizeof *corpus->seen.at +
           corpus->attribute.capacity * sizeof *corpus->attribute.at +
           corpus->value.capacity * sizeof *corpus->value.at +
           corpus->weight.capacity * sizeof *corpus->weight.at +
           corpus->group.capacity * sizeof *corpus->group.at;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Names a column that has been named, or the next one; NULL for no name. */
static bool name_column(trellis_corpus *corpus, size_t column, const char *name)
{
    char *copy = tr_copy_text(name ? name : "", name ? strlen(name) : 0);
    if (copy && column < corpus->names.size) {
        free(corpus->names.at[column]);
        corpus->names.at[column] = copy;
        return true;
    }
    if (copy && tr_push(&corpus->names, copy)) {
        return true;
    }
    free(copy);
    return false;
}

trellis_status trellis_corpus_name_columns(trellis_corpus *corpus, const char *const *names,
                                           size_t count, trellis_error *error)
{
    if (!corpus || (!names && count > 0)) {
        return tr_fail_null(error, __func__);
    }
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = name_column(corpus, i, names[i]);
    }
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

size_t tr_corpus_columns(const trellis_corpus *corpus)
{
    return corpus->columns;
}

size_t tr_corpus_column_count(const trellis_corpus *corpus)
{
    return corpus->names.size;
}

size_t tr_corpus_label_column(const trellis_corpus *corpus)
{
    return corpus->label_column;
}

const char *tr_corpus_column_name(const trellis_corpus *corpus, size_t column)
{
    return column < corpus->names.size && *corpus->names.at[column] ? corpus->names.at[column]
                                                                    : NULL;
}

static trellis_status check(const trellis_corpus *corpus, const trellis_sequence *s,
                            trellis_error *error)
{
    size_t number = trellis_corpus_sequences(corpus) + 1;
    trellis_status status = s->length ? tr_sequence_check(s, number, error)
                                      : tr_fail(error, TRELLIS_DATA, "sequence %zu has no tokens",
                                                number);
    if (!status && corpus->begin.size > 1 && s->columns != corpus->columns) {
        status = tr_fail(error, TRELLIS_DATA, "sequence %zu has %zu columns, those before have %zu",
                         number, s->columns, corpus->columns);
    }
    return status;
}

/* Numbers of the texts of a sequence, in corpus->numbers; `stride` bytes lie between two texts. */
static bool number_texts(trellis_corpus *corpus, struct tr_intern *intern, const void *texts,
                         size_t stride, size_t count)
{
    return tr_reserve(&corpus->numbers, count) &&
           tr_intern_add_all(intern, texts, stride, count, corpus->numbers.at);
}

/* Appends the numbers to an array; false on allocation failure. */
#define APPEND_NUMBERS(corpus, array, count)                                                       \
    (tr_reserve(&(array), (array).size + (count))                                                  \
         ? (memcpy((array).at + (array).size, (corpus)->numbers.at, (count) * sizeof *(array).at), \
            (array).size += (count), true)                                                         \
         : false)

/* Fills an array up to `size` with what an earlier sequence has by default. */
#define FILL_UP(array, fill, count)                                                                \
    (tr_reserve(&(array), (count)) ? (fill_up_##fill((array).at, &(array).size, (count)), true)    \
                                   : false)

static void fill_up_ones(float *at, size_t *size, size_t count)
{
    for (; *size < count; ++*size) {
        at[*size] = 1;
    }
}

static void fill_up_none(uint32_t *at, size_t *size, size_t count)
{
    for (; *size < count; ++*size) {
        at[*size] = TR_NONE;
    }
}

static void fill_up_zeros(uint32_t *at, size_t *size, size_t count)
{
    for (; *size < count; ++*size) {
        at[*size] = 0;
    }
}

static bool add_cells(trellis_corpus *corpus, const trellis_sequence *s)
{
    size_t count = s->length * s->columns;
    return count == 0 || (number_texts(corpus, &corpus->texts, s->cells, sizeof *s->cells, count) &&
                          APPEND_NUMBERS(corpus, corpus->cell, count));
}

static bool add_labels(trellis_corpus *corpus, const trellis_sequence *s)
{
    size_t before = trellis_corpus_tokens(corpus), n = s->length;
    if (!s->labels && corpus->label.size == 0) {
        return true;
    }
    if (!FILL_UP(corpus->label, none, before)) {
        return false;
    }
    return s->labels
               ? number_texts(corpus, &corpus->label_texts, s->labels, sizeof *s->labels, n) &&
                     APPEND_NUMBERS(corpus, corpus->label, n)
               : FILL_UP(corpus->label, none, before + n);
}

/* The values of the attributes first .. end-1 of a sequence, where some value is not 1. */
static bool add_values(trellis_corpus *corpus, const trellis_attribute *attributes, size_t count)
{
    size_t before = corpus->attribute.size;
    bool ones = corpus->value.size == 0;
    for (size_t k = 0; ones && k < count; k++) {
        ones = (float)attributes[k].value == 1;
    }
    if (ones) {
        return true;
    }
    if (!FILL_UP(corpus->value, ones, before) || !tr_reserve(&corpus->value, before + count)) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        corpus->value.at[corpus->value.size++] = (float)attributes[k].value;
    }
    return true;
}

static bool add_attributes(trellis_corpus *corpus, const trellis_sequence *s)
{
    size_t tokens = trellis_corpus_tokens(corpus), n = s->length;
    if (!s->attribute_begin && corpus->seen.size == 0) {
        return true;
    }
    if (!tr_reserve(&corpus->seen, tokens + n + 1)) {
        return false;
    }
    while (corpus->seen.size <= tokens) {
        corpus->seen.at[corpus->seen.size++] = corpus->attribute.size;
    }
    size_t first = s->attribute_begin ? s->attribute_begin[0] : 0;
    size_t count = s->attribute_begin ? s->attribute_begin[n] - first : 0;
    const trellis_attribute *attributes = count ? s->attributes + first : NULL;
    size_t before = corpus->attribute.size;
    if (count && (!add_values(corpus, attributes, count) ||
                  !number_texts(corpus, &corpus->attribute_texts, &attributes->name,
                                sizeof *attributes, count) ||
                  !APPEND_NUMBERS(corpus, corpus->attribute, count))) {
        return false;
    }
    for (size_t i = 1; i <= n; i++) {
        size_t here = s->attribute_begin ? s->attribute_begin[i] - first : 0;
        corpus->seen.at[corpus->seen.size++] = before + here;
    }
    return true;
}

static bool add_weight_and_group(trellis_corpus *corpus, const trellis_sequence *s)
{
    size_t before = trellis_corpus_sequences(corpus);
    bool weighted = corpus->weight.size || (float)s->weight != 1;
    bool grouped = corpus->group.size || s->group;
    return (!weighted || (FILL_UP(corpus->weight, ones, before) &&
                          tr_push(&corpus->weight, (float)s->weight))) &&
           (!grouped ||
            (FILL_UP(corpus->group, zeros, before) && tr_push(&corpus->group, s->group)));
}

/* Forgets what was kept of a sequence that could not be added. */
static void take_back(trellis_corpus *corpus)
{
    size_t sequences = trellis_corpus_sequences(corpus), tokens = trellis_corpus_tokens(corpus);
    size_t seen = corpus->seen.size > tokens ? corpus->seen.at[tokens] : corpus->attribute.size;
#define CUT(array, count) ((array).size = (array).size < (count) ? (array).size : (count))
    CUT(corpus->cell, tokens * corpus->columns);
    CUT(corpus->label, tokens);
    CUT(corpus->seen, tokens + 1);
    CUT(corpus->attribute, seen);
    CUT(corpus->value, seen);
    CUT(corpus->weight, sequences);
    CUT(corpus->group, sequences);
#undef CUT
}

trellis_status trellis_corpus_add(trellis_corpus *corpus, const trellis_sequence *sequence,
                                  trellis_error *error)
{
    if (!corpus || !sequence) {
        return tr_fail_null(error, __func__);
    }
    trellis_sequence s;
    trellis_status status = tr_struct_take(&s, sizeof s, sequence)
                                ? check(corpus, &s, error)
                                : tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    if (status) {
        return status;
    }
    if (corpus->begin.size == 1) {
        corpus->columns = s.columns;
    }
    size_t tokens = trellis_corpus_tokens(corpus);
    if (!add_cells(corpus, &s) || !add_labels(corpus, &s) || !add_attributes(corpus, &s) ||
        !add_weight_and_group(corpus, &s) || !tr_push(&corpus->begin, tokens + s.length)) {
        take_back(corpus);
        return tr_fail_memory(error);
    }
    return TRELLIS_OK;
}

trellis_status trellis_corpus_read(trellis_corpus *corpus, const trellis_source *source,
                                   const trellis_options *options, trellis_error *error)
{
    if (!corpus || !source) {
        return tr_fail_null(error, __func__);
    }
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open_source(source, options, &reader, error);
    bool named = corpus->names.size;
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        for (size_t c = 0; !named && !status && c < sequence->columns; c++) {
            if (!name_column(corpus, c, trellis_reader_column_name(reader, c))) {
                status = tr_fail_memory(error);
            }
        }
        named = true;
        corpus->label_column = trellis_reader_label_column(reader);
        if (!status) {
            status = trellis_corpus_add(corpus, sequence, error);
        }
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* ---- looking --------------------------------------------------------------------------------- */

bool tr_corpus_view(const trellis_corpus *corpus, size_t index, struct tr_corpus_view *view)
{
    size_t first = corpus->begin.at[index], n = corpus->begin.at[index + 1] - first;
    size_t columns = corpus->columns;
    bool labelled = corpus->label.size && corpus->label.at[first] != TR_NONE;
    size_t seen = corpus->seen.size ? corpus->seen.at[first] : 0;
    size_t count = corpus->seen.size ? corpus->seen.at[first + n] - seen : 0;
    if (!tr_reserve(&view->cells, n * columns + 1) || !tr_reserve(&view->labels, n + 1) ||
        !tr_reserve(&view->attributes, count + 1) || !tr_reserve(&view->attribute_begin, n + 1)) {
        return false;
    }
    for (size_t k = 0; k < n * columns; k++) {
        view->cells.at[k] = tr_intern_text(&corpus->texts, corpus->cell.at[first * columns + k]);
    }
    for (size_t i = 0; labelled && i < n; i++) {
        view->labels.at[i] = tr_intern_text(&corpus->label_texts, corpus->label.at[first + i]);
    }
    for (size_t k = 0; k < count; k++) {
        view->attributes.at[k] = (trellis_attribute){
            tr_intern_text(&corpus->attribute_texts, corpus->attribute.at[seen + k]),
            corpus->value.size ? (double)corpus->value.at[seen + k] : 1};
    }
    for (size_t i = 0; corpus->seen.size && i <= n; i++) {
        view->attribute_begin.at[i] = corpus->seen.at[first + i] - seen;
    }
    view->sequence = (trellis_sequence){
        .struct_size = sizeof view->sequence,
        .length = n,
        .columns = columns,
        .cells = columns ? view->cells.at : NULL,
        .labels = labelled ? view->labels.at : NULL,
        .attributes = corpus->seen.size ? view->attributes.at : NULL,
        .attribute_begin = corpus->seen.size ? view->attribute_begin.at : NULL,
        .weight = corpus->weight.size ? (double)corpus->weight.at[index] : 1,
        .group = corpus->group.size ? corpus->group.at[index] : 0};
    return true;
}

void tr_corpus_view_free(struct tr_corpus_view *view)
{
    free(view->cells.at);
    free(view->labels.at);
    free(view->attributes.at);
    free(view->attribute_begin.at);
}

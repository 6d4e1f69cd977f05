/* allowed.c - restricting positions to labels: of the caller, of a column or of the tag
 * dictionary. */
#include "corpus/corpus.h"
#include "tagger/tagger_internal.h"

/* Whether a label of the model's scheme can be written as the given label of the caller's scheme.
 * Both schemes have letters for the first, a middle, the last and the only token of a span; the two
 * labels must agree in one of the four. */
static bool is_compatible(trellis_scheme inside, trellis_text label, trellis_scheme outside,
                          trellis_text written)
{
    static const char *const letters[TRELLIS_NO_SCHEME][4] = {
        [TRELLIS_IOB1] = {"IB", "I", "I", "IB"},
        [TRELLIS_IOB2] = {"B", "I", "I", "B"},
        [TRELLIS_IOBES] = {"B", "I", "E", "S"},
        [TRELLIS_BILOU] = {"B", "I", "E", "S"},
    };
    char a, b;
    trellis_text type_a = {"", 0}, type_b = {"", 0};
    if (!tr_label_split(label, &a, &type_a) || !tr_label_split(written, &b, &type_b) || a == 'O' ||
        b == 'O') {
        return tr_text_equal(label, written);
    }
    bool common = false;
    for (int place = 0; place < 4; place++) {
        common = common ||
                 (strchr(letters[inside][place], a) && strchr(letters[outside][place], b));
    }
    return common && tr_text_equal(type_a, type_b);
}

/* Adds the labels of the model that the text stands for: one, or several where the model uses
 * another label scheme. */
static trellis_status allow_label(trellis_tagger *tagger, trellis_text text, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t before = tagger->allowed.labels.size;
    bool ok = tr_tagger_number_labels(tagger),
         converts = model->inside != TRELLIS_NO_SCHEME && model->outside != TRELLIS_NO_SCHEME;
    uint32_t label = tr_intern_find(&tagger->output.label_numbers, text);
    if (!converts && label < model->label_count) {
        ok = ok && tr_push(&tagger->allowed.labels, (uint16_t)label);
    }
    for (uint32_t i = 0; ok && converts && i < model->label_count; i++) {
        ok = !is_compatible(model->inside, model->labels[i], model->outside, text) ||
             tr_push(&tagger->allowed.labels, (uint16_t)i);
    }
    return !ok ? tr_fail_memory(error)
           : tagger->allowed.labels.size > before
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA, "the model has no label '%.*s'", TR_SHOW(text));
}

trellis_status trellis_tagger_allow(trellis_tagger *tagger, size_t position,
                                    const trellis_text *labels, size_t count, trellis_error *error)
{
    if (!tagger || (!labels && count > 0)) {
        return tr_fail_null(error, __func__);
    }
    size_t begin = tagger->allowed.labels.size;
    trellis_status status = TRELLIS_OK;
    if (count == 0) {
        return tr_fail(error, TRELLIS_DATA, "no label is allowed at position %zu", position + 1);
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = allow_label(tagger, labels[i], error);
    }
    struct tr_allowed_labels allowed = {position, begin, tagger->allowed.labels.size};
    if (!status && !tr_push(&tagger->allowed.positions, allowed)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        tagger->allowed.labels.size = begin;
    }
    return status;
}

/* A cell of --forced: '_' or empty where any label is allowed, else labels separated by '|'. */
static trellis_status allow_cell(trellis_tagger *tagger, trellis_text cell, size_t position,
                                 trellis_error *error)
{
    size_t begin = tagger->allowed.labels.size;
    if (cell.size == 0 || tr_text_is(cell, "_")) {
        return TRELLIS_OK;
    }
    for (size_t at = 0, n; at <= cell.size; at += n + 1) {
        const char *bar = at < cell.size ? memchr(cell.data + at, '|', cell.size - at) : NULL;
        n = bar ? (size_t)(bar - cell.data) - at : cell.size - at;
        trellis_status status = allow_label(tagger, (trellis_text){cell.data + at, n}, error);
        if (status) {
            return status;
        }
    }
    struct tr_allowed_labels allowed = {position, begin, tagger->allowed.labels.size};
    return tr_push(&tagger->allowed.positions, allowed) ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_tagger_read_forced(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     trellis_error *error)
{
    size_t columns = sequence->columns;
    size_t column = tagger->allowed.column == SIZE_MAX ? columns - 1 : tagger->allowed.column;
    if (!tagger->allowed.option) {
        return TRELLIS_OK;
    }
    if (columns == 0 || column >= columns) {
        return tr_fail_token(error, TRELLIS_DATA, sequence, 0,
                             "no column '%s' for --forced; the line has %llu column%s",
                             tagger->allowed.option, TR_COUNTED(columns));
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_error cause = {0};
        trellis_status status = allow_cell(tagger, sequence->cells[i * columns + column], i,
                                           &cause);
        if (status) {
            return tr_fail_token(error, status, sequence, i, "%s", cause.message);
        }
    }
    return TRELLIS_OK;
}

void tr_tagger_clear_allowed(trellis_tagger *tagger)
{
    tagger->allowed.positions.size = tagger->allowed.labels.size = 0;
}

trellis_status tr_tagger_restrict_words(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        trellis_error *error)
{
    const struct tr_tag_dictionary *tag_dictionary = &tagger->model->tag_dictionary;
    size_t n = sequence->length;
    trellis_status status = TRELLIS_OK;
    if (n && tagger->input.word_column >= sequence->columns) {
        return tr_fail_token(error, TRELLIS_DATA, sequence, 0,
                             "the model has a tag dictionary, but the input has no word column");
    }
    if (!tr_reserve(&tagger->allowed.covered, n)) {
        return tr_fail_memory(error);
    }
    for (size_t k = 0; k < tagger->allowed.positions.size; k++) {
        if (tagger->allowed.positions.at[k].position < n) {
            tagger->allowed.covered.at[tagger->allowed.positions.at[k].position] = true;
        }
    }
    for (size_t i = 0; !status && i < n; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + tagger->input.word_column];
        uint32_t entry = tagger->allowed.covered.at[i]
                             ? TR_NONE
                             : tr_tag_dictionary_find(tag_dictionary, word);
        if (entry != TR_NONE) {
            const uint16_t *labels;
            size_t count = tr_tag_dictionary_labels(tag_dictionary, entry, &labels);
            status = tr_lattice_restrict(tagger->decoder.lattice, i, labels, count, error);
        }
    }
    if (n) {
        memset(tagger->allowed.covered.at, 0, n * sizeof *tagger->allowed.covered.at);
    }
    return status;
}

trellis_status tr_tagger_restrict_allowed(trellis_tagger *tagger, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t k = 0; !status && k < tagger->allowed.positions.size; k++) {
        const struct tr_allowed_labels *allowed = &tagger->allowed.positions.at[k];
        status = tr_lattice_restrict(tagger->decoder.lattice, allowed->position,
                                     tagger->allowed.labels.at + allowed->begin,
                                     allowed->end - allowed->begin, error);
    }
    return status;
}

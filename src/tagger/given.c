/* given.c - labels that are given, by the caller, a column or the tag dictionary. */
#include "corpus/corpus.h"
#include "tagger/tagger_internal.h"

/* Whether a label inside the model can be what is written as a label outside it. Both schemes have
 * letters for the first, a middle, the last and the only token of a span, and one of the four must be
 * common to both. */
static bool can_be(trellis_scheme inside, trellis_text label, trellis_scheme outside,
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

/* Adds the labels of the model that the text stands for: one, or several where the model has another
 * label scheme inside. */
static trellis_status give_label(trellis_tagger *tagger, trellis_text text, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t before = tagger->given_labels.size;
    bool fine = tr_tagger_list_names(tagger),
         converts = model->inside != TRELLIS_NO_SCHEME && model->outside != TRELLIS_NO_SCHEME;
    uint32_t label = tr_intern_find(&tagger->names, text);
    if (!converts && label < model->label_count) {
        fine = fine && tr_push(&tagger->given_labels, (uint16_t)label);
    }
    for (uint32_t i = 0; fine && converts && i < model->label_count; i++) {
        fine = !can_be(model->inside, model->labels[i], model->outside, text) ||
               tr_push(&tagger->given_labels, (uint16_t)i);
    }
    return !fine ? tr_fail_memory(error)
           : tagger->given_labels.size > before
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA, "the model has no label '%.*s'", TR_SHOW(text));
}

trellis_status trellis_tagger_allow(trellis_tagger *tagger, size_t position,
                                    const trellis_text *labels, size_t count, trellis_error *error)
{
    size_t begin = tagger->given_labels.size;
    trellis_status status = TRELLIS_OK;
    if (count == 0) {
        return tr_fail(error, TRELLIS_DATA, "no label is allowed at position %zu", position + 1);
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = give_label(tagger, labels[i], error);
    }
    struct given given = {position, begin, tagger->given_labels.size};
    if (!status && !tr_push(&tagger->given, given)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        tagger->given_labels.size = begin;
    }
    return status;
}

/* A cell of --forced: '_' or nothing where the label is free, else labels separated by '|'. */
static trellis_status give_cell(trellis_tagger *tagger, trellis_text cell, size_t position,
                                trellis_error *error)
{
    size_t begin = tagger->given_labels.size;
    if (cell.size == 0 || tr_text_is(cell, "_")) {
        return TRELLIS_OK;
    }
    for (size_t at = 0, n; at <= cell.size; at += n + 1) {
        const char *bar = at < cell.size ? memchr(cell.data + at, '|', cell.size - at) : NULL;
        n = bar ? (size_t)(bar - cell.data) - at : cell.size - at;
        trellis_status status = give_label(tagger, (trellis_text){cell.data + at, n}, error);
        if (status) {
            return status;
        }
    }
    struct given given = {position, begin, tagger->given_labels.size};
    return tr_push(&tagger->given, given) ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_tagger_give_column(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     trellis_error *error)
{
    size_t columns = sequence->columns;
    size_t column = tagger->forced_column == SIZE_MAX ? columns - 1 : tagger->forced_column;
    if (!tagger->forced) {
        return TRELLIS_OK;
    }
    if (columns == 0 || column >= columns) {
        return tr_fail_at(error, TRELLIS_DATA, (struct tr_place){.line = sequence->line},
                          "line %llu: there is no column '%s' for --forced, there are %zu columns",
                          (unsigned long long)sequence->line, tagger->forced, columns);
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_error cause = {0};
        trellis_status status = give_cell(tagger, sequence->cells[i * columns + column], i, &cause);
        if (status) {
            uint64_t line = tr_token_line(sequence, i);
            return tr_fail_at(error, status, (struct tr_place){.line = line}, "line %llu: %s",
                              (unsigned long long)line, cause.message);
        }
    }
    return TRELLIS_OK;
}

void tr_tagger_forget_given(trellis_tagger *tagger)
{
    tagger->given.size = tagger->given_labels.size = 0;
}

/* Restricts words of the tag dictionary that have no labels given to those they have there. */
trellis_status tr_tagger_restrict_words(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        trellis_error *error)
{
    const struct tr_tag_dictionary *tag_dictionary = &tagger->model->tag_dictionary;
    size_t n = sequence->length;
    trellis_status status = TRELLIS_OK;
    if (n && tagger->word_column >= sequence->columns) {
        return tr_fail_at(error, TRELLIS_DATA, (struct tr_place){.line = sequence->line},
                          "line %llu: the model has a tag dictionary, and there is no column of "
                          "words here",
                          (unsigned long long)sequence->line);
    }
    if (!tr_reserve(&tagger->is_given, n)) {
        return tr_fail_memory(error);
    }
    for (size_t k = 0; k < tagger->given.size; k++) {
        if (tagger->given.at[k].position < n) {
            tagger->is_given.at[tagger->given.at[k].position] = true;
        }
    }
    for (size_t i = 0; !status && i < n; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + tagger->word_column];
        uint32_t entry = tagger->is_given.at[i] ? TR_NONE
                                                : tr_tag_dictionary_find(tag_dictionary, word);
        if (entry != TR_NONE) {
            const uint16_t *labels;
            size_t count = tr_tag_dictionary_labels(tag_dictionary, entry, &labels);
            status = tr_lattice_restrict(tagger->lattice, i, labels, count, error);
        }
    }
    if (n) {
        memset(tagger->is_given.at, 0, n * sizeof *tagger->is_given.at);
    }
    return status;
}

/* Restricts positions to the labels given for them. */
trellis_status tr_tagger_restrict_given(trellis_tagger *tagger, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t k = 0; !status && k < tagger->given.size; k++) {
        const struct given *given = &tagger->given.at[k];
        status = tr_lattice_restrict(tagger->lattice, given->position,
                                     tagger->given_labels.at + given->begin,
                                     given->end - given->begin, error);
    }
    return status;
}

/* constraint.c - forbidden transitions: those a label scheme rules out, or a list. */
#include "graph/constraint.h"

#include "base/input.h"
#include "base/text.h"
#include "corpus/corpus.h"

struct steps {
    TR_ARRAY(uint16_t) labels; // pairs
};

/* What may follow what in each scheme:
 *
 *     iob1   B-X only directly after a span of type X; anything else
 *     iob2   I-X only after B-X or I-X
 *     iobes  after B-X and I-X only I-X and E-X; elsewhere only B, S and O
 */
bool tr_constraint_legal(trellis_scheme scheme, const trellis_text *from, const trellis_text *to)
{
    char before = 'O', after = 'O';
    trellis_text type_before = {"", 0}, type_after = {"", 0};
    if (from) {
        tr_label_split(*from, &before, &type_before);
    }
    if (to) {
        tr_label_split(*to, &after, &type_after);
    }
    bool same = before != 'O' && tr_text_equal(type_before, type_after);
    switch (scheme) {
    case TRELLIS_IOB1:
        return after != 'B' || same;
    case TRELLIS_IOB2:
        return after != 'I' || same;
    case TRELLIS_IOBES:
    case TRELLIS_BILOU: {
        bool open = before == 'B' || before == 'I', goes_on = after == 'I' || after == 'E';
        return open ? goes_on && same : !goes_on;
    }
    case TRELLIS_NO_SCHEME:
        break;
    }
    return true;
}

static bool add(struct steps *steps, uint32_t from, uint32_t to)
{
    return tr_push(&steps->labels, (uint16_t)from) && tr_push(&steps->labels, (uint16_t)to);
}

static trellis_status forbid_illegal(struct steps *steps, const trellis_text *labels,
                                     uint32_t count, trellis_error *error)
{
    trellis_scheme scheme = tr_scheme_guess(labels, count);
    if (scheme == TRELLIS_NO_SCHEME) {
        return tr_fail(error, TRELLIS_DATA,
                       "--constrain iob needs span labels (B-X, I-X, O), and these are not");
    }
    for (uint32_t from = 0; from <= count; from++) {
        for (uint32_t to = 0; to <= count; to++) {
            bool both_ends = from == count && to == count;
            if (!both_ends && !tr_constraint_legal(scheme, from < count ? &labels[from] : NULL,
                                                   to < count ? &labels[to] : NULL)) {
                if (!add(steps, from, to < count ? to : count + 1)) {
                    return tr_fail_memory(error);
                }
            }
        }
    }
    return TRELLIS_OK;
}

static bool find_label(const trellis_text *labels, uint32_t count, trellis_text word, bool first,
                       uint32_t *ret_label)
{
    if (tr_text_is(word, first ? "<start>" : "<end>")) {
        *ret_label = first ? count : count + 1;
        return true;
    }
    for (*ret_label = 0; *ret_label < count; ++*ret_label) {
        if (tr_text_equal(labels[*ret_label], word)) {
            return true;
        }
    }
    return false;
}

static trellis_status read_list(struct steps *steps, const char *path,
                                const trellis_options *options, const trellis_text *labels,
                                uint32_t count, trellis_error *error)
{
    struct tr_input *input;
    trellis_text line;
    trellis_status status = tr_input_open_file(path, options, &input, error);
    if (status) {
        return status;
    }
    while (!(status = tr_input_line(input, &line, error))) {
        trellis_text from = tr_text_word(&line), to = tr_text_word(&line),
                     more = tr_text_word(&line);
        uint32_t a, b;
        if (from.size == 0 || from.data[0] == '#') {
            continue;
        }
        if (to.size == 0 || more.size) {
            status = tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                                "expected two labels, a forbidden transition");
        } else if (!find_label(labels, count, from, true, &a)) {
            status = tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                                "there is no label '%.*s'", TR_SHOW(from));
        } else if (!find_label(labels, count, to, false, &b)) {
            status = tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                                "there is no label '%.*s'", TR_SHOW(to));
        } else if (!add(steps, a, b)) {
            status = tr_fail_memory(error);
        }
        if (status) {
            break;
        }
    }
    tr_input_close(input);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

trellis_status tr_constraint_steps(const char *rule, const trellis_options *options,
                                   const trellis_text *labels, uint32_t label_count,
                                   uint16_t (**ret_steps)[2], size_t *ret_count,
                                   trellis_error *error)
{
    struct steps steps = {0};
    trellis_status status = TRELLIS_OK;
    if (strcmp(rule, "iob") == 0) {
        status = forbid_illegal(&steps, labels, label_count, error);
    } else if (strcmp(rule, "none") != 0) {
        status = read_list(&steps, rule, options, labels, label_count, error);
    }
    if (status) {
        free(steps.labels.at);
        return status;
    }
    *ret_steps = (uint16_t(*)[2])steps.labels.at;
    *ret_count = steps.labels.size / 2;
    return TRELLIS_OK;
}

/* loss.c - the loss of a labelling: Hamming, a file of costs, and errors that break spans. */
#include "lattice/loss.h"

#include "base/input.h"
#include "corpus/corpus.h"

/* A label as a part of a span. */
struct part {
    char letter; // B, I, E, S or O
    trellis_text type;
};

/* A cost other than 1. */
struct exception {
    uint16_t gold, predicted;
    float cost;
};

struct tr_loss {
    uint32_t labels;
    TR_ARRAY(struct exception) exceptions; // sorted by gold and predicted
    uint32_t *begin;                       // [labels + 1] into exceptions; NULL: there are none
    double span;                           // the X of --span-loss
    struct part *parts;                    // [labels], NULL where X is 1
};

/* ---- the file of costs ----------------------------------------------------------------------- */

static trellis_status read_line(struct tr_loss *loss, const struct tr_intern *labels,
                                trellis_text line, struct tr_place place, trellis_error *error)
{
    trellis_text gold = tr_text_word(&line), predicted = tr_text_word(&line),
                 number = tr_text_word(&line);
    if (gold.size == 0 || gold.data[0] == '#') {
        return TRELLIS_OK;
    }
    if (number.size == 0 || tr_text_word(&line).size) {
        return tr_fail_at(error, TRELLIS_FORMAT, place,
                          "expected a gold label, a predicted label and a cost");
    }
    uint32_t a = tr_intern_find(labels, gold), b = tr_intern_find(labels, predicted);
    if (a >= loss->labels || b >= loss->labels) {
        return tr_fail_at(error, TRELLIS_FORMAT, place, "there is no label '%.*s'",
                          TR_SHOW(a >= loss->labels ? gold : predicted));
    }
    double cost;
    if (!tr_text_real(number, &cost) || !(cost >= 0 && cost <= 1e9)) {
        return tr_fail_at(error, TRELLIS_FORMAT, place,
                          "a cost is a number from 0 to 1e9, not '%.*s'", TR_SHOW(number));
    }
    if (a == b && cost != 0) {
        return tr_fail_at(error, TRELLIS_FORMAT, place,
                          "the cost of a correct label is 0, not %.*s", TR_SHOW(number));
    }
    struct exception exception = {(uint16_t)a, (uint16_t)b, (float)cost};
    return a == b || tr_push(&loss->exceptions, exception) ? TRELLIS_OK : tr_fail_memory(error);
}

static int by_labels(const void *a, const void *b)
{
    const struct exception *x = a, *y = b;
    return x->gold != y->gold ? (x->gold > y->gold) - (x->gold < y->gold)
                              : (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

/* Sorts the costs by label. Two costs for one pair are an error. */
static trellis_status arrange(struct tr_loss *loss, const struct tr_intern *labels,
                              const char *path, trellis_error *error)
{
    struct exception *at = loss->exceptions.at;
    size_t count = loss->exceptions.size;
    loss->begin = tr_alloc((size_t)loss->labels + 1, sizeof *loss->begin);
    if (!loss->begin) {
        return tr_fail_memory(error);
    }
    if (count) {
        qsort(at, count, sizeof *at, by_labels);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && by_labels(&at[i - 1], &at[i]) == 0) {
            return tr_fail(error, TRELLIS_FORMAT,
                           "%s: the cost of predicting '%.*s' for '%.*s' is given twice", path,
                           TR_SHOW(tr_intern_text(labels, at[i].predicted)),
                           TR_SHOW(tr_intern_text(labels, at[i].gold)));
        }
        loss->begin[at[i].gold + 1]++;
    }
    for (uint32_t c = 0; c < loss->labels; c++) {
        loss->begin[c + 1] += loss->begin[c];
    }
    return TRELLIS_OK;
}

static trellis_status read_costs(struct tr_loss *loss, const struct tr_intern *labels,
                                 const trellis_options *options, const char *path,
                                 trellis_error *error)
{
    struct tr_input *input;
    trellis_text line;
    trellis_status status = tr_input_open_file(path, options, &input, error);
    if (status) {
        return status;
    }
    while (!(status = tr_input_line(input, &line, error))) {
        status = read_line(loss, labels, line, tr_input_place(input), error);
        if (status) {
            break;
        }
    }
    tr_input_close(input);
    return status == TRELLIS_END ? arrange(loss, labels, path, error) : status;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static trellis_status read_parts(struct tr_loss *loss, const struct tr_intern *labels,
                                 trellis_error *error)
{
    loss->parts = tr_alloc(loss->labels, sizeof *loss->parts);
    if (!loss->parts) {
        return tr_fail_memory(error);
    }
    for (uint32_t c = 0; c < loss->labels; c++) {
        struct part *part = &loss->parts[c];
        trellis_text label = tr_intern_text(labels, c);
        if (!tr_label_split(label, &part->letter, &part->type)) {
            return tr_fail(error, TRELLIS_DATA,
                           "--span-loss needs span labels (B-X, I-X, O), and '%.*s' is none",
                           TR_SHOW(label));
        }
    }
    return TRELLIS_OK;
}

/* Whether a span begins or ends between two adjacent labels; NULL is an end of the sequence. */
static bool is_boundary(const struct part *before, const struct part *after)
{
    bool inside_before = before && before->letter != 'O',
         inside_after = after && after->letter != 'O';
    if (!inside_before || !inside_after) {
        return inside_before || inside_after;
    }
    return before->letter == 'E' || before->letter == 'S' || after->letter == 'B' ||
           after->letter == 'S' || !tr_text_equal(before->type, after->type);
}

static bool beside_boundary(const struct tr_loss *loss, const uint16_t *gold, size_t n, size_t i)
{
    const struct part *parts = loss->parts, *here = &parts[gold[i]];
    return is_boundary(i > 0 ? &parts[gold[i - 1]] : NULL, here) ||
           is_boundary(here, i + 1 < n ? &parts[gold[i + 1]] : NULL);
}

static bool begins_span(const struct tr_loss *loss, uint16_t label)
{
    return loss->parts[label].letter == 'B' || loss->parts[label].letter == 'S';
}

/* ---- the loss -------------------------------------------------------------------------------- */

double tr_loss_at(const struct tr_loss *loss, const uint16_t *gold, size_t n, size_t i,
                  uint16_t predicted)
{
    if (gold[i] == predicted) {
        return 0;
    }
    double cost = 1;
    size_t k = loss->begin ? loss->begin[gold[i]] : 0;
    size_t end = loss->begin ? loss->begin[gold[i] + 1] : 0;
    for (; k < end; k++) {
        if (loss->exceptions.at[k].predicted == predicted) {
            cost = (double)loss->exceptions.at[k].cost;
        }
    }
    bool breaks = loss->parts &&
                  (begins_span(loss, predicted) || beside_boundary(loss, gold, n, i));
    return breaks ? cost * loss->span : cost;
}

double tr_loss_of(const struct tr_loss *loss, const uint16_t *gold, const uint16_t *predicted,
                  size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += tr_loss_at(loss, gold, n, i, predicted[i]);
    }
    return sum;
}

/* row[d] += scale * cost_i(gold[i], d): 1 for all, the exceptions, then the spans */
static void augment_row(const struct tr_loss *loss, const uint16_t *gold, size_t n, size_t i,
                        double scale, float *row)
{
    bool boundary = loss->parts && beside_boundary(loss, gold, n, i);
    float other = (float)(boundary ? scale * loss->span : scale);
    for (uint32_t d = 0; d < loss->labels; d++) {
        bool begins = loss->parts && !boundary && begins_span(loss, (uint16_t)d);
        row[d] += d == gold[i] ? 0 : begins ? (float)(scale * loss->span) : other;
    }
    size_t end = loss->begin ? loss->begin[gold[i] + 1] : 0;
    for (size_t k = loss->begin ? loss->begin[gold[i]] : 0; k < end; k++) {
        const struct exception *e = &loss->exceptions.at[k];
        bool breaks = boundary || (loss->parts && begins_span(loss, e->predicted));
        row[e->predicted] += (float)(scale * (breaks ? loss->span : 1) * ((double)e->cost - 1));
    }
}

void tr_loss_augment(const struct tr_loss *loss, const uint16_t *gold, size_t n, double scale,
                     float *scores, size_t stride)
{
    for (size_t i = 0; i < n; i++) {
        augment_row(loss, gold, n, i, scale, scores + i * stride);
    }
}

/* As all cost 1 but the exceptions:  risk(d) = sum_c p(c) - p(d) + sum over exceptions (c, d) of
 * p(c) (cost(c, d) - 1) */
uint16_t tr_loss_least_risk(const struct tr_loss *loss, const float *p, double *risk)
{
    double all = 0;
    for (uint32_t c = 0; c < loss->labels; c++) {
        all += (double)p[c];
    }
    for (uint32_t d = 0; d < loss->labels; d++) {
        risk[d] = all - (double)p[d];
    }
    for (size_t k = 0; k < loss->exceptions.size; k++) {
        const struct exception *e = &loss->exceptions.at[k];
        risk[e->predicted] += (double)p[e->gold] * ((double)e->cost - 1);
    }
    uint16_t best = 0;
    for (uint32_t d = 1; d < loss->labels; d++) {
        bool may = p[d] > 0, better = risk[d] < risk[best] || !(p[best] > 0);
        best = may && better ? (uint16_t)d : best;
    }
    return best;
}

trellis_status tr_loss_create(const trellis_options *options, const struct tr_intern *labels,
                              uint32_t count, struct tr_loss **ret_loss, trellis_error *error)
{
    const char *path = tr_option_text(options, "cost");
    struct tr_loss *loss = *ret_loss = tr_alloc(1, sizeof *loss);
    if (!loss) {
        return tr_fail_memory(error);
    }
    loss->labels = count;
    loss->span = tr_option_real(options, "span-loss");
    trellis_status status = *path ? read_costs(loss, labels, options, path, error) : TRELLIS_OK;
    if (!status && loss->span != 1) {
        status = read_parts(loss, labels, error);
    }
    if (status) {
        tr_loss_destroy(loss);
        *ret_loss = NULL;
    }
    return status;
}

void tr_loss_destroy(struct tr_loss *loss)
{
    if (loss) {
        free(loss->exceptions.at);
        free(loss->begin);
        free(loss->parts);
        free(loss);
    }
}

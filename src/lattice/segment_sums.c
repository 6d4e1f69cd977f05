/* segment_sums.c - log Z and marginals of a segment lattice, in single precision with scaling.
 *
 * With psi_i(c) = exp(node_i(c) - m_i), the start's and the end's scores among the node scores,
 * M(a,b) = exp(step(a,b) - shift), g_i(d,t) = exp(segment[i][d][t]), and F, I, L the labels first,
 * inside and last of a type t:
 *
 *   begin_i(c)  = sum_a end_{i-1}(a) M(a,c)                                     1 for i = 1
 *   opened_i    = begin_i(F) psi_i(F) / s_i               passed_i = psi_i(I) / s_i
 *   end_i(c)    = begin_i(c) psi_i(c) g_i(1,t)                                  one token
 *   end_i(L)    = psi_i(L) (M(F,L) opened_{i-1} g_i(2,t) + M(F,I) M(I,L) sum_{d>2} opened_{i-d+1} run_d g_i(d,t)
 *                           + M(I,L) long_{i-1})          run_3 = passed_{i-1}, run_{d+1} = run_d M(I,I) passed_{i-d+1}
 *   long_i      = psi_i(I) (M(I,I) long_{i-1} + M(F,I) M(I,I)^{D-2} opened_{i-D+1} prod passed),  D = max_length + 1
 *
 * all divided by s_i, the sum of end_i, long_i and of what is in progress, an estimate that leaves
 * out the scores of segments: in the middle of a segment that is certain, end_i alone would be next
 * to nothing. Backward the same with the same s_i; the probability of a segment is the product of
 * what is before, in and after it.
 *
 * All that is done for each type and length is done for four types at once, and without branches:
 * factors of transitions that a type does not have are 0, and g is 1 for the segments of D tokens,
 * which have no score, and 0 for longer ones, which are in long_i.
 *
 * Single precision is enough under the conditions of forward_backward.c; otherwise the result is
 * discarded and the reference is used.
 */
#include <string.h>

#include "lattice/segment.h"

/* Kept out of their callers, whose variables would take the registers of the inner loops. */
#define APART __attribute__((noinline))

/* Four types at once. */
enum { QUAD = 4 };
typedef float quad __attribute__((vector_size(16), aligned(4)));
typedef double double_quad __attribute__((vector_size(32), aligned(8)));

/* Of the current sequence; shapes as in struct tr_segment_lattice. */
struct segment_sums {
    struct tr_lattice *lattice;
    const struct tr_steps *steps;
    const struct tr_segments *segments;
    struct tr_segment_lattice *at;
    size_t n, width, types, lanes, rows;
    float *end, *to, *inverse;
    float max_whole; // no factor of a segment is larger; at least 1
};

static float *row(const struct segment_sums *x, const struct tr_floats *floats, size_t i)
{
    return floats->at + i * x->width;
}

/* Those of four types from t on; position i of an array [n][lanes]. */
static inline quad *four(const struct segment_sums *x, const struct tr_floats *floats, size_t i,
                         size_t t)
{
    return (quad *)(floats->at + i * x->lanes + t);
}

/* g_i(d, t) */
static inline quad whole(const struct segment_sums *x, size_t i, size_t d, size_t t)
{
    return *(const quad *)(x->at->whole.at + (i * (x->rows + 1) + d - 1) * x->lanes + t);
}

static inline quad constant(const float *of, size_t t)
{
    return *(const quad *)(of + t);
}

/* An element of a row of labels, 0 where a type does not have the label. */
static inline float of_label(const float *row, uint16_t label)
{
    return label == TR_NO_LABEL ? 0 : row[label];
}

static bool has_several(const struct tr_segment_type *type)
{
    return type->first != TR_NO_LABEL && type->last != TR_NO_LABEL;
}

/* The longest segment up to i that is summed one by one. */
static size_t longest_at(const struct segment_sums *x, size_t i)
{
    return x->rows + 1 < i + 1 ? x->rows + 1 : i + 1;
}

/* ---- factors --------------------------------------------------------------------------------- */

bool tr_segment_make_room(struct tr_lattice *lattice)
{
    struct tr_segment_lattice *at = lattice->of.segment;
    size_t n = lattice->length, width = lattice->graph->width, lanes = at->lanes;
    size_t rows = lattice->graph->segments->max_length;
    return tr_floats_room(&lattice->fast.alpha, n, width) &&
           tr_floats_room(&lattice->fast.to, n, width) &&
           tr_floats_room(&lattice->fast.inverse, n, 1) && tr_floats_room(&at->factor, n, width) &&
           tr_floats_room(&at->begin, n, width) && tr_floats_room(&at->onwards, n, lanes) &&
           tr_floats_room(&at->back, n, lanes) && tr_floats_room(&at->opened, n, lanes) &&
           tr_floats_room(&at->passed, n, lanes) && tr_floats_room(&at->to_first, n, lanes) &&
           tr_floats_room(&at->whole, n * (rows + 1) + TR_LANES, lanes);
}

/* psi_i; returns m_i. */
static float node_factors(const struct segment_sums *x, size_t i)
{
    float *psi = row(x, &x->at->factor, i);
    memcpy(psi, tr_node_at(x->lattice, i), x->width * sizeof *psi);
    if (i == 0) {
        x->lattice->kernels->add(psi, x->steps->score.start, x->width);
    }
    if (i + 1 == x->n) {
        x->lattice->kernels->add(psi, x->steps->score.end, x->width);
    }
    return x->lattice->kernels->exp_row(psi, psi, x->width);
}

/* M of the steps within segments; 0 where a type does not have both labels. */
static void step_factors(const struct segment_sums *x)
{
    const float *factor = x->steps->of.dense.factor;
    for (size_t t = 0; t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        bool several = has_several(type), inside = several && type->inside != TR_NO_LABEL;
        const float *first = factor + (several ? type->first : 0) * x->width;
        const float *within = factor + (inside ? type->inside : 0) * x->width;
        x->at->direct[t] = several ? first[type->last] : 0;
        x->at->enter[t] = inside ? first[type->inside] : 0;
        x->at->stay[t] = inside ? within[type->inside] : 0;
        x->at->leave[t] = inside ? within[type->last] : 0;
    }
}

/* g of all segments. */
static void whole_factors(struct segment_sums *x)
{
    size_t row_size = (x->rows + 1) * x->lanes, count = x->n * row_size;
    float *g = x->at->whole.at, largest = 0;
    memset(g, 0, tr_padded(count) * sizeof *g);
    const float *score = x->at->score.at;
    for (size_t i = 0; x->at->has_scores && i < x->n; i++) {
        for (size_t d = 0; d < x->rows; d++, score += x->width) {
            for (size_t t = 0; t < x->types; t++) {
                float value = score[x->segments->type[t].head] * x->at->seen[d * x->lanes + t];
                g[i * row_size + d * x->lanes + t] = value;
                largest = value > largest ? value : largest;
            }
        }
    }
    if (x->at->has_scores) {
        x->lattice->kernels->exp(g, g, tr_padded(count));
        x->max_whole = expf(largest);
    }
    for (size_t i = 0; i < x->n; i++, g += row_size) {
        for (size_t k = 0; k < row_size; k++) {
            g[k] = x->at->has_scores ? g[k] * x->at->counted[k] : x->at->counted[k];
        }
    }
}

/* ---- forward --------------------------------------------------------------------------------- */

static void begin_row(struct segment_sums *x, size_t i)
{
    float *begin = row(x, &x->at->begin, i);
    if (i == 0) {
        memcpy(begin, x->at->begins, x->width * sizeof *begin);
        return;
    }
    x->lattice->kernels->vector_matrix(begin, x->end + (i - 1) * x->width,
                                       x->steps->of.dense.factor, x->segments->labels, x->width);
    for (size_t c = 0; c < x->width; c++) {
        begin[c] *= x->at->begins[c];
    }
}

/* Segments of one token, and the first tokens of longer ones; opened and passed are not divided by
 * s_i yet. */
static void single_row(const struct segment_sums *x, size_t i)
{
    const float *begin = row(x, &x->at->begin, i), *psi = row(x, &x->at->factor, i);
    const float *g = x->at->whole.at + i * (x->rows + 1) * x->lanes;
    float *end = x->end + i * x->width;
    float *opened = x->at->opened.at + i * x->lanes, *passed = x->at->passed.at + i * x->lanes;
    for (size_t c = 0; c < x->width; c++) {
        end[c] = begin[c] * psi[c] * x->at->alone[c];
    }
    memset(opened, 0, x->lanes * sizeof *opened);
    memset(passed, 0, x->lanes * sizeof *passed);
    for (size_t t = 0; t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        if (type->single != TR_NO_LABEL) {
            end[type->single] = begin[type->single] * psi[type->single] * g[t];
        }
        opened[t] = has_several(type) ? begin[type->first] * psi[type->first] : 0;
        passed[t] = of_label(psi, type->inside);
    }
}

/* end_i(L) / psi_i(L) of segments of several tokens of four types; sets long_i. */
APART static quad several(const struct segment_sums *x, size_t i, size_t t)
{
    const struct tr_segment_lattice *at = x->at;
    quad enter = constant(at->enter, t), stay = constant(at->stay, t);
    quad before = *four(x, &at->onwards, i - 1, t), run = {1, 1, 1, 1};
    quad opened = *four(x, &at->opened, i - 1, t), inner = {0}, later = {0};
    quad two = constant(at->direct, t) * opened * whole(x, i, 2, t);
    quad sooner = opened * constant(at->longer + x->lanes, t);
    for (size_t d = 3; d <= longest_at(x, i); d++) {
        run *= *four(x, &at->passed, i + 2 - d, t) * (d > 3 ? stay : (quad){1, 1, 1, 1});
        quad sum = *four(x, &at->opened, i + 1 - d, t) * run;
        inner += sum * whole(x, i, d, t);
        later += sum * constant(at->longer + (d - 1) * x->lanes, t);
    }
    *four(x, &at->onwards, i, t) = *four(x, &at->passed, i, t) *
                                   (stay * before + enter * (sooner + stay * later));
    return two + constant(at->leave, t) * (enter * inner + before);
}

static void several_row(const struct segment_sums *x, size_t i)
{
    const float *psi = row(x, &x->at->factor, i);
    if (i == 0) {
        memset(x->at->onwards.at, 0, x->lanes * sizeof(float));
    }
    for (size_t t = 0; i > 0 && t < x->lanes; t += QUAD) {
        quad sum = several(x, i, t);
        for (size_t k = 0; k < QUAD && t + k < x->types; k++) {
            const struct tr_segment_type *type = &x->segments->type[t + k];
            if (has_several(type)) {
                x->end[i * x->width + type->last] += psi[type->last] * sum[k];
            }
        }
    }
}

/* s_i, with what is in progress. */
static float row_sum(const struct segment_sums *x, size_t i)
{
    const float *opened = x->at->opened.at + i * x->lanes,
                *passed = x->at->passed.at + i * x->lanes;
    const float *onwards = x->at->onwards.at + i * x->lanes;
    float sum = x->lattice->kernels->sum(x->end + i * x->width, x->width);
    for (size_t t = 0; t < x->types; t++) {
        float *progress = &x->at->in_progress[t];
        float larger = x->at->enter[t] > x->at->stay[t] ? x->at->enter[t] : x->at->stay[t];
        *progress = *progress * passed[t] * larger + opened[t];
        sum += *progress + onwards[t];
    }
    return sum;
}

static void scale_row(const struct segment_sums *x, size_t i, float inverse)
{
    x->lattice->kernels->scale(x->end + i * x->width, inverse, x->width);
    for (size_t t = 0; t < x->lanes; t += QUAD) {
        *(quad *)(x->at->in_progress + t) *= inverse;
        *four(x, &x->at->onwards, i, t) *= inverse;
        *four(x, &x->at->opened, i, t) *= inverse;
        *four(x, &x->at->passed, i, t) *= inverse;
    }
}

static bool forward(struct segment_sums *x)
{
    struct tr_log_product z = {0, 1};
    memset(x->at->in_progress, 0, x->lanes * sizeof *x->at->in_progress);
    for (size_t i = 0; i < x->n; i++) {
        z.log += (double)node_factors(x, i) + (i > 0 ? (double)x->steps->shift : 0);
        begin_row(x, i);
        single_row(x, i);
        several_row(x, i);
        float sum = row_sum(x, i);
        if (!(sum > 0 && sum < INFINITY)) {
            return false;
        }
        x->inverse[i] = 1 / sum;
        tr_multiply_in(&z, (double)sum);
        scale_row(x, i, 1 / sum);
    }
    double last = (double)x->lattice->kernels->sum(x->end + (x->n - 1) * x->width, x->width);
    x->lattice->log_z = z.log + log(z.product) + log(last);
    return isfinite(x->lattice->log_z) && last > 1e-20;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* Adds to what is kept in double precision. */
static inline void add(double *to, quad amount)
{
    *(double_quad *)to += __builtin_convertvector(amount, double_quad);
}

/* The probabilities of the segments of d tokens of four types that end at i. */
static void set_marginals(struct segment_sums *x, size_t i, size_t d, size_t t, quad p)
{
    float *marginal = x->at->marginal.at + (i * x->rows + d - 1) * x->width;
    p *= constant(x->at->seen + (d - 1) * x->lanes, t);
    for (size_t k = 0; k < QUAD && t + k < x->types; k++) {
        marginal[x->segments->type[t + k].head] = p[k];
    }
}

/* Segments of several tokens of four types that end at i (`end` is what follows them, with their last
 * tokens), or become long there and go on (`goes`): their probabilities, and what they add to
 * to_first of where they begin, still without the factors of their first tokens. */
APART static void several_back(struct segment_sums *x, size_t i, size_t t, quad end, quad goes)
{
    struct tr_segment_lattice *at = x->at;
    double *inner = at->inner.at + t;
    quad enter = constant(at->enter, t), stay = constant(at->stay, t);
    quad leave = enter * constant(at->leave, t) * end, onwards = enter * goes;
    quad one = {1, 1, 1, 1}, run = one, ending = {0}, stays = {0};
    quad opened = *four(x, &at->opened, i - 1, t);
    quad part = constant(at->direct, t) * end * whole(x, i, 2, t), p = part * opened;
    quad longer = onwards * constant(at->longer + x->lanes, t), going = longer * opened;
    *four(x, &at->to_first, i - 1, t) += part + longer;
    add(at->within[TR_FIRST_LAST] + t, p);
    add(inner + i * x->lanes, going);
    if (at->has_scores && x->rows >= 2) {
        set_marginals(x, i, 2, t, p);
    }
    onwards *= stay;
    for (size_t d = 3; d <= longest_at(x, i); d++) {
        run *= *four(x, &at->passed, i + 2 - d, t) * (d > 3 ? stay : one);
        opened = *four(x, &at->opened, i + 1 - d, t);
        part = leave * run * whole(x, i, d, t);
        longer = onwards * run * constant(at->longer + (d - 1) * x->lanes, t);
        p = part * opened;
        quad q = longer * opened;
        *four(x, &at->to_first, i + 1 - d, t) += part + longer;
        add(inner + (i + 2 - d) * x->lanes, p + q);
        ending += p;
        going += q;
        stays += p * (float)(d - 3) + q * (float)(d - 2);
        if (at->has_scores && d <= x->rows) {
            set_marginals(x, i, d, t, p);
        }
    }
    add(inner + i * x->lanes, -ending);
    add(inner + (i + 1) * x->lanes, -going);
    add(at->within[TR_FIRST_INSIDE] + t, ending + going);
    add(at->within[TR_INSIDE_INSIDE] + t, stays);
    add(at->within[TR_INSIDE_LAST] + t, ending);
}

/* Long segments that were going on before i. */
static void long_back(struct segment_sums *x, size_t i, size_t t, quad end, quad goes)
{
    quad before = *four(x, &x->at->onwards, i - 1, t);
    quad leave = constant(x->at->leave, t) * end, stay = constant(x->at->stay, t) * goes;
    float *node = x->lattice->marginal.node.at + i * x->width;
    *four(x, &x->at->back, i - 1, t) = leave + stay;
    leave *= before;
    stay *= before;
    add(x->at->within[TR_INSIDE_LAST] + t, leave);
    add(x->at->within[TR_INSIDE_INSIDE] + t, stay);
    for (size_t k = 0; k < QUAD && t + k < x->types; k++) {
        uint16_t inside = x->segments->type[t + k].inside;
        if (inside != TR_NO_LABEL) {
            node[inside] += stay[k];
        }
    }
}

/* Segments of one token, and the label marginals of all that begin or end at i. */
APART static void single_back(struct segment_sums *x, size_t i, const float *after)
{
    const float *begin = row(x, &x->at->begin, i), *psi = row(x, &x->at->factor, i);
    const float *end = x->end + i * x->width, *begins = x->at->begins;
    const float *g = x->at->whole.at + i * (x->rows + 1) * x->lanes;
    const float *to_first = x->at->to_first.at + i * x->lanes;
    float *to = x->to + i * x->width, *node = x->lattice->marginal.node.at + i * x->width;
    float inverse = x->inverse[i];
    for (size_t c = 0; c < x->width; c++) {
        to[c] = after[c] * x->at->alone[c];
    }
    for (size_t t = 0; t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        uint16_t c = type->single;
        if (c != TR_NO_LABEL) {
            float add = after[c] * g[t];
            to[c] += add;
            if (x->at->has_scores) {
                x->at->marginal.at[i * x->rows * x->width + type->head] = begin[c] * psi[c] *
                                                                          inverse * add;
            }
        }
        if (type->first != TR_NO_LABEL) {
            to[type->first] += to_first[t];
        }
    }
    for (size_t c = 0; c < x->width; c++) {
        to[c] *= begins[c] * psi[c] * inverse;
        node[c] += begin[c] * to[c] + (1 - begins[c]) * end[c] * after[c];
    }
}

/* Segments of all types that end at i, or go on there. */
static void types_back(struct segment_sums *x, size_t i, const float *after)
{
    const float *psi = row(x, &x->at->factor, i);
    for (size_t t = 0; i > 0 && t < x->lanes; t += QUAD) {
        quad end = {0}, goes = *four(x, &x->at->back, i, t) * *four(x, &x->at->passed, i, t);
        for (size_t k = 0; k < QUAD && t + k < x->types; k++) {
            const struct tr_segment_type *type = &x->segments->type[t + k];
            end[k] = has_several(type) ? after[type->last] * psi[type->last] * x->inverse[i] : 0;
        }
        several_back(x, i, t, end, goes);
        long_back(x, i, t, end, goes);
    }
}

/* Transitions within segments, of all positions. */
static void add_within(struct segment_sums *x)
{
    double *const *within = x->at->within;
    for (size_t t = 0; t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        double *first = x->at->pair + (has_several(type) ? type->first : 0) * x->width;
        if (has_several(type)) {
            first[type->last] += within[TR_FIRST_LAST][t];
        }
        if (has_several(type) && type->inside != TR_NO_LABEL) {
            first[type->inside] += within[TR_FIRST_INSIDE][t];
            x->at->pair[type->inside * x->width + type->inside] += within[TR_INSIDE_INSIDE][t];
            x->at->pair[type->inside * x->width + type->last] += within[TR_INSIDE_LAST][t];
        }
    }
}

static bool backward(struct segment_sums *x)
{
    float *after = x->lattice->scratch.row; // what follows a segment that ends here, by label
    float limit = tr_max_beta(x->steps) / (1e5f * x->max_whole);
    float last = x->lattice->kernels->sum(x->end + (x->n - 1) * x->width, x->width);
    memset(after, 0, x->width * sizeof *after);
    for (size_t c = 0; c < x->segments->labels; c++) {
        after[c] = 1 / last;
        x->at->end[c] += (double)(x->end[(x->n - 1) * x->width + c] / last);
    }
    memset(x->at->to_first.at, 0, x->n * x->lanes * sizeof(float));
    memset(x->at->back.at + (x->n - 1) * x->lanes, 0, x->lanes * sizeof(float));
    for (int k = 0; k < TR_WITHIN_SEGMENTS; k++) {
        memset(x->at->within[k], 0, x->lanes * sizeof(double));
    }
    for (size_t i = x->n; i-- > 0;) {
        types_back(x, i, after);
        single_back(x, i, after);
        if (!(x->lattice->kernels->sum(x->to + i * x->width, x->width) <= limit)) {
            return false;
        }
        if (i > 0) {
            x->lattice->kernels->vector_matrix(after, x->to + i * x->width,
                                               x->steps->of.dense.factor_by_to, x->segments->labels,
                                               x->width);
        }
    }
    add_within(x);
    return true;
}

bool tr_segment_fast_sums(struct tr_lattice *lattice, const struct tr_steps *steps)
{
    const struct tr_segments *segments = lattice->graph->segments;
    struct segment_sums x = {.lattice = lattice,
                             .steps = steps,
                             .segments = segments,
                             .at = lattice->of.segment,
                             .n = lattice->length,
                             .width = lattice->graph->width,
                             .types = segments->types,
                             .lanes = lattice->of.segment->lanes,
                             .rows = segments->max_length,
                             .max_whole = 1};
    tr_lattice_pad_nodes(lattice);
    x.end = lattice->fast.alpha.at;
    x.to = lattice->fast.to.at;
    x.inverse = lattice->fast.inverse.at;
    step_factors(&x);
    whole_factors(&x);
    if (!forward(&x) || !backward(&x)) {
        return false;
    }
    tr_segment_add_inner(lattice);
    return true;
}

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
 * Single precision is enough under the conditions of forward_backward.c; otherwise the result is
 * discarded and the reference is used.
 */
#include <string.h>

#include "lattice/segment.h"

/* Of the current sequence; shapes as in struct tr_segment_lattice. */
struct segment_sums {
    struct tr_lattice *lattice;
    const struct tr_steps *steps;
    const struct tr_segments *segments;
    struct tr_segment_lattice *at;
    size_t n, width, types, rows;
    float *end, *to, *inverse;
    float max_whole; // no factor of a segment is larger; at least 1
};

static float *row(const struct segment_sums *x, const struct tr_floats *floats, size_t i)
{
    return floats->at + i * x->width;
}

static inline float step_factor(const struct segment_sums *x, uint16_t a, uint16_t b)
{
    return x->steps->of.dense.factor[a * x->width + b];
}

/* g_i(d, t) */
static inline float whole(const struct segment_sums *x, size_t i, size_t d, size_t t)
{
    return x->at->has_scores && d <= x->segments->type[t].max_length
               ? x->at->whole.at[(i * x->rows + d - 1) * x->types + t]
               : 1;
}

static bool has_several(const struct tr_segment_type *type)
{
    return type->first != TR_NO_LABEL && type->last != TR_NO_LABEL;
}

/* The longest segment up to i that is summed one by one. */
static size_t longest_at(const struct tr_segment_type *type, size_t i)
{
    size_t longest = type->inside == TR_NO_LABEL ? 2 : (size_t)type->max_length + 1;
    return longest < i + 1 ? longest : i + 1;
}

/* ---- factors --------------------------------------------------------------------------------- */

bool tr_segment_make_room(struct tr_lattice *lattice)
{
    struct tr_segment_lattice *at = lattice->of.segment;
    size_t n = lattice->length, width = lattice->graph->width;
    size_t types = lattice->graph->segments->types, rows = lattice->graph->segments->max_length;
    return tr_floats_room(&lattice->fast.alpha, n, width) &&
           tr_floats_room(&lattice->fast.to, n, width) &&
           tr_floats_room(&lattice->fast.inverse, n, 1) && tr_floats_room(&at->factor, n, width) &&
           tr_floats_room(&at->begin, n, width) && tr_floats_room(&at->onwards, n, types) &&
           tr_floats_room(&at->back, n, types) && tr_floats_room(&at->opened, n, types) &&
           tr_floats_room(&at->passed, n, types) &&
           (!at->has_scores || tr_floats_room(&at->whole, n * rows + TR_LANES, types + 1));
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

/* g of all segments. */
static void whole_factors(struct segment_sums *x)
{
    const float *score = x->at->score.at;
    float *g = x->at->whole.at, largest = 0;
    for (size_t k = 0; k < x->n * x->rows; k++, score += x->width) {
        for (size_t t = 0; t < x->types; t++) {
            float value = score[x->segments->type[t].head];
            g[k * x->types + t] = value;
            largest = value > largest ? value : largest;
        }
    }
    size_t count = tr_padded(x->n * x->rows * x->types);
    memset(g + x->n * x->rows * x->types, 0, (count - x->n * x->rows * x->types) * sizeof *g);
    x->lattice->kernels->exp(g, g, count);
    x->max_whole = expf(largest);
}

/* ---- forward --------------------------------------------------------------------------------- */

static void begin_row(struct segment_sums *x, size_t i)
{
    float *begin = row(x, &x->at->begin, i);
    if (i > 0) {
        x->lattice->kernels->vector_matrix(begin, x->end + (i - 1) * x->width,
                                           x->steps->of.dense.factor, x->segments->labels,
                                           x->width);
    }
    for (size_t c = 0; c < x->width; c++) {
        bool begins = c < x->segments->labels && x->segments->begins[c];
        begin[c] = !begins ? 0 : i > 0 ? begin[c] : 1;
    }
}

/* Segments of one token. */
static void single_row(const struct segment_sums *x, size_t i)
{
    const float *begin = row(x, &x->at->begin, i), *psi = row(x, &x->at->factor, i);
    float *end = x->end + i * x->width;
    memset(end, 0, x->width * sizeof *end);
    for (size_t c = 0; c < x->segments->labels; c++) {
        end[c] = x->segments->type_of[c] == TR_NO_LABEL ? begin[c] * psi[c] : 0;
    }
    for (size_t t = 0; t < x->types; t++) {
        uint16_t c = x->segments->type[t].single;
        if (c != TR_NO_LABEL) {
            end[c] = begin[c] * psi[c] * whole(x, i, 1, t);
        }
    }
}

/* end_i(L) / psi_i(L) of segments with tokens inside, and long_i. */
static float with_inside(const struct segment_sums *x, size_t i, size_t t)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    const float *opened = x->at->opened.at + t, *passed = x->at->passed.at + t;
    size_t types = x->types, longest = longest_at(type, i), longer = (size_t)type->max_length + 1;
    float *onwards = x->at->onwards.at + i * types + t, before = onwards[-(ptrdiff_t)types];
    float on = step_factor(x, type->inside, type->inside), inner = 0, run = 1;
    float enter = step_factor(x, type->first, type->inside);
    for (size_t d = 3; d <= longest; d++) {
        run *= passed[(i + 2 - d) * types] * (d > 3 ? on : 1);
        inner += opened[(i + 1 - d) * types] * run * whole(x, i, d, t);
    }
    *onwards = on * before;
    if (longest == longer) { // run is that of the D - 2 tokens before i
        *onwards += enter * opened[(i + 1 - longer) * types] * run * (longer > 2 ? on : 1);
    }
    *onwards *= row(x, &x->at->factor, i)[type->inside];
    return step_factor(x, type->inside, type->last) * (enter * inner + before);
}

/* Segments of several tokens of one type, and long ones. */
static void several(const struct segment_sums *x, size_t i, size_t t)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    x->at->onwards.at[i * x->types + t] = 0;
    if (!has_several(type) || i == 0) {
        return;
    }
    float sum = step_factor(x, type->first, type->last) * x->at->opened.at[(i - 1) * x->types + t] *
                whole(x, i, 2, t);
    if (type->inside != TR_NO_LABEL) {
        sum += with_inside(x, i, t);
    }
    x->end[i * x->width + type->last] += row(x, &x->at->factor, i)[type->last] * sum;
}

/* s_i, with what is in progress. */
static float row_sum(const struct segment_sums *x, size_t i)
{
    const float *begin = row(x, &x->at->begin, i), *psi = row(x, &x->at->factor, i);
    float sum = x->lattice->kernels->sum(x->end + i * x->width, x->width);
    for (size_t t = 0; t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        float *progress = &x->at->in_progress[t];
        *progress = type->inside != TR_NO_LABEL && type->first != TR_NO_LABEL
                        ? *progress * psi[type->inside] *
                              fmaxf(step_factor(x, type->first, type->inside),
                                    step_factor(x, type->inside, type->inside))
                        : 0;
        *progress += has_several(type) ? begin[type->first] * psi[type->first] : 0;
        sum += *progress + x->at->onwards.at[i * x->types + t];
    }
    return sum;
}

static void scale_row(const struct segment_sums *x, size_t i, float inverse)
{
    const float *begin = row(x, &x->at->begin, i), *psi = row(x, &x->at->factor, i);
    x->lattice->kernels->scale(x->end + i * x->width, inverse, x->width);
    for (size_t t = 0; t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        size_t at = i * x->types + t;
        x->at->in_progress[t] *= inverse;
        x->at->onwards.at[at] *= inverse;
        x->at->opened.at[at] = has_several(type) ? begin[type->first] * psi[type->first] * inverse
                                                 : 0;
        x->at->passed.at[at] = type->inside != TR_NO_LABEL ? psi[type->inside] * inverse : 0;
    }
}

static bool forward(struct segment_sums *x)
{
    struct tr_log_product z = {0, 1};
    memset(x->at->in_progress, 0, x->types * sizeof *x->at->in_progress);
    for (size_t i = 0; i < x->n; i++) {
        z.log += (double)node_factors(x, i) + (i > 0 ? (double)x->steps->shift : 0);
        begin_row(x, i);
        single_row(x, i);
        for (size_t t = 0; t < x->types; t++) {
            several(x, i, t);
        }
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

/* What a type has at position i of the way back. */
struct way_back {
    float end;  // what follows a segment that ends here, with its last token
    float goes; // what follows a long one that goes on here, with this token
};

/* Where segments that end at i have their marginals, by type and length; NULL: they have none. */
static float *marginals_at(const struct segment_sums *x, size_t i, size_t t)
{
    return x->at->has_scores
               ? x->at->marginal.at + i * x->rows * x->width + x->segments->type[t].head
               : NULL;
}

/* Segments of two tokens that end at i: their probabilities, and what they add to `to` of where they
 * begin, still without the factors of their first tokens. */
static void two_back(struct segment_sums *x, size_t i, size_t t, struct way_back after)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    float *marginal = marginals_at(x, i, t);
    float part = step_factor(x, type->first, type->last) * after.end * whole(x, i, 2, t);
    float p = part * x->at->opened.at[(i - 1) * x->types + t];
    x->to[(i - 1) * x->width + type->first] += part;
    x->at->pair[type->first * x->width + type->last] += (double)p;
    if (marginal && type->max_length >= 2) {
        marginal[x->width] = p;
    }
}

/* The same of those with tokens inside: all of them together, and the steps from inside to inside.
 * Returns the factors of the tokens inside the longest one. */
static float inside_back(struct segment_sums *x, size_t i, size_t t, struct way_back after,
                         double *ret_all, double *ret_steps)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    const float *opened = x->at->opened.at + t, *passed = x->at->passed.at + t;
    size_t types = x->types, longest = longest_at(type, i);
    double *inner = x->at->inner.at + t, all = 0, steps = 0;
    float *marginal = marginals_at(x, i, t), run = 1;
    float on = step_factor(x, type->inside, type->inside);
    float leave = step_factor(x, type->first, type->inside) *
                  step_factor(x, type->inside, type->last) * after.end;
    for (size_t d = 3; d <= longest; d++) {
        run *= passed[(i + 2 - d) * types] * (d > 3 ? on : 1);
        float part = leave * run * whole(x, i, d, t), p = part * opened[(i + 1 - d) * types];
        x->to[(i + 1 - d) * x->width + type->first] += part;
        inner[(i + 2 - d) * types] += (double)p;
        all += (double)p;
        steps += (double)p * (double)(d - 3);
        if (marginal && d <= type->max_length) {
            marginal[(d - 1) * x->width] = p;
        }
    }
    inner[i * types] -= all;
    *ret_all = all;
    *ret_steps = steps;
    return run;
}

/* The same of those that have just become long at i, and go on; `run` is that of their tokens
 * inside before i. Returns their probability. */
static double becoming_long(struct segment_sums *x, size_t i, size_t t, struct way_back after,
                            float run)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    size_t types = x->types, longer = (size_t)type->max_length + 1, s = i + 1 - longer;
    double *inner = x->at->inner.at + t;
    float on = step_factor(x, type->inside, type->inside);
    float part = step_factor(x, type->first, type->inside) * run * (longer > 2 ? on : 1) *
                 after.goes;
    double p = (double)(part * x->at->opened.at[s * types + t]);
    x->to[s * x->width + type->first] += part;
    inner[(s + 1) * types] += p;
    inner[(i + 1) * types] -= p;
    return p;
}

/* Segments of several tokens that end at i, or become long there. */
static void several_back(struct segment_sums *x, size_t i, size_t t, struct way_back after)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    size_t longer = (size_t)type->max_length + 1;
    double *pair = x->at->pair, all, steps;
    two_back(x, i, t, after);
    if (type->inside == TR_NO_LABEL) {
        return;
    }
    float run = inside_back(x, i, t, after, &all, &steps);
    pair[type->inside * x->width + type->last] += all;
    if (longest_at(type, i) == longer) {
        double p = becoming_long(x, i, t, after, run);
        all += p;
        steps += p * (double)(longer - 2);
    }
    pair[type->first * x->width + type->inside] += all;
    pair[type->inside * x->width + type->inside] += steps;
}

/* Long segments that were going on before i. */
static void long_back(struct segment_sums *x, size_t i, size_t t, struct way_back after)
{
    const struct tr_segment_type *type = &x->segments->type[t];
    if (type->inside == TR_NO_LABEL) {
        return;
    }
    float before = x->at->onwards.at[(i - 1) * x->types + t];
    float leave = step_factor(x, type->inside, type->last) * after.end;
    float on = step_factor(x, type->inside, type->inside) * after.goes;
    double *pair = x->at->pair + type->inside * x->width;
    x->at->back.at[(i - 1) * x->types + t] = leave + on;
    pair[type->last] += (double)(before * leave);
    pair[type->inside] += (double)(before * on);
    x->lattice->marginal.node.at[i * x->width + type->inside] += before * on;
}

/* Segments of one token, and the label marginals of all that begin or end at i. */
static void single_back(struct segment_sums *x, size_t i, const float *after)
{
    const float *begin = row(x, &x->at->begin, i), *psi = row(x, &x->at->factor, i);
    const float *end = x->end + i * x->width;
    float *to = x->to + i * x->width, *node = x->lattice->marginal.node.at + i * x->width;
    for (size_t c = 0; c < x->segments->labels; c++) {
        uint16_t t = x->segments->type_of[c];
        const struct tr_segment_type *type = t == TR_NO_LABEL ? NULL : &x->segments->type[t];
        float add = 0;
        if (!type || c == type->single) {
            add = after[c] * (type ? whole(x, i, 1, t) : 1);
            if (type && x->at->has_scores) {
                x->at->marginal.at[i * x->rows * x->width + type->head] = begin[c] * psi[c] *
                                                                          x->inverse[i] * add;
            }
        }
        to[c] = x->segments->begins[c] ? (to[c] + add) * psi[c] * x->inverse[i] : 0;
        node[c] += x->segments->begins[c] ? begin[c] * to[c] : end[c] * after[c];
    }
}

/* Segments of all types that end at i, or go on there. */
static void types_back(struct segment_sums *x, size_t i, const float *after)
{
    const float *psi = row(x, &x->at->factor, i);
    for (size_t t = 0; i > 0 && t < x->types; t++) {
        const struct tr_segment_type *type = &x->segments->type[t];
        if (has_several(type)) {
            struct way_back way = {after[type->last] * psi[type->last] * x->inverse[i], 0};
            way.goes = type->inside == TR_NO_LABEL
                           ? 0
                           : x->at->back.at[i * x->types + t] * psi[type->inside] * x->inverse[i];
            several_back(x, i, t, way);
            long_back(x, i, t, way);
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
    memset(x->to, 0, x->n * x->width * sizeof *x->to);
    memset(x->at->back.at + (x->n - 1) * x->types, 0, x->types * sizeof(float));
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
                             .rows = segments->max_length,
                             .max_whole = 1};
    tr_lattice_pad_nodes(lattice);
    x.end = lattice->fast.alpha.at;
    x.to = lattice->fast.to.at;
    x.inverse = lattice->fast.inverse.at;
    if (x.at->has_scores) {
        whole_factors(&x);
    }
    if (!forward(&x) || !backward(&x)) {
        return false;
    }
    tr_segment_add_inner(lattice);
    return true;
}

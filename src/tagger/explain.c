/* explain.c - why a token has its label: the weights that separate it from the runner-up.
 *
 * A score is a sum of weights, so the difference of two labellings is a sum of differences:
 *
 *     score(z) - score(r) = sum over features f of  w_f * (count of f in z - count of f in r)
 *
 * z is the predicted labelling, r the best one with another label at the token, by Viterbi with the
 * label of z forbidden there. Only tokens where z and r differ, and the transitions around them,
 * contribute. In a locally normalised model the states before a token also differ in their
 * normaliser, which is a line of its own.
 */
#include "tagger/explain.h"

#include <math.h>

#include "corpus/corpus.h"
#include "graph/path.h"

#define MAX_TOKENS 1000

trellis_status trellis_explainer_create(const trellis_model *model, const trellis_options *options,
                                        trellis_explainer **ret_explainer, trellis_error *error)
{
    if (!TR_CLEAR(ret_explainer) || !model) {
        return tr_fail_null(error, __func__);
    }
    trellis_explainer *explainer = tr_alloc(1, sizeof *explainer);
    if (!explainer) {
        return tr_fail_memory(error);
    }
    explainer->model = model;
    trellis_status status = trellis_tagger_create(model, options, &explainer->tagger, error);
    if (!status) {
        status = tr_extractor_create(model->features, true, &explainer->extractor, error);
    }
    if (!status && model->segments) {
        tr_extractor_set_segments(explainer->extractor, model->segments->max_length);
    }
    if (status) {
        trellis_explainer_destroy(explainer);
        return status;
    }
    *ret_explainer = explainer;
    return TRELLIS_OK;
}

void trellis_explainer_destroy(trellis_explainer *explainer)
{
    if (!explainer) {
        return;
    }
    trellis_tagger_destroy(explainer->tagger);
    tr_extractor_destroy(explainer->extractor);
    free(explainer->begin.at);
    free(explainer->segment_begin.at);
    free(explainer->attributes.at);
    tr_buffer_free(&explainer->texts);
    free(explainer->marginals.at);
    free(explainer->path.at);
    free(explainer->runner_up.at);
    free(explainer->explanations.at);
    free(explainer->contributions.at);
    free(explainer->names.at);
    free(explainer->runner_up_labels.at);
    free(explainer);
}

trellis_status trellis_explainer_bind(trellis_explainer *explainer, const trellis_reader *reader,
                                      trellis_error *error)
{
    if (!explainer) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = trellis_tagger_bind(explainer->tagger, reader, error);
    explainer->bound = true;
    return status ? status : tr_extractor_bind(explainer->extractor, reader, SIZE_MAX, error);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool add_attributes(trellis_explainer *explainer, const trellis_sequence *sequence,
                           enum tr_attribute_kind kind, const struct tr_observation *observation,
                           size_t token)
{
    bool edge = kind == TR_EDGE_ATTRIBUTE;
    const struct tr_seen *seen = tr_observed(observation, kind);
    const struct tr_table *table = edge ? &explainer->model->edge : &explainer->model->node;
    for (size_t k = seen->begin[token]; table->bucket_count && k < seen->begin[token + 1]; k++) {
        struct tr_attribute attribute = {.edge = edge,
                                         .row = tr_table_find(table, seen->low[k]),
                                         .value = seen->value ? (double)seen->value[k] : 1,
                                         .text = explainer->texts.size};
        if (attribute.row == TR_NONE) {
            continue;
        }
        tr_extractor_text(explainer->extractor, sequence, kind, token, k, &explainer->texts);
        attribute.text_size = explainer->texts.size - attribute.text;
        if (!tr_push(&explainer->attributes, attribute)) {
            return false;
        }
    }
    return true;
}

/* The real-valued columns of a token. */
static bool add_reals(trellis_explainer *explainer, const double *reals, size_t token)
{
    const struct tr_gaussian *gaussian = &explainer->model->gaussian;
    bool ok = true;
    for (uint32_t d = 0; ok && d < gaussian->columns; d++) {
        struct tr_attribute attribute = {.real = true,
                                         .row = d,
                                         .value = reals[token * gaussian->columns + d],
                                         .text = explainer->texts.size};
        tr_buffer_text(&explainer->texts, tr_gaussian_name(gaussian, d));
        tr_buffer_format(&explainer->texts, "=%.6g", attribute.value);
        attribute.text_size = explainer->texts.size - attribute.text;
        ok = tr_push(&explainer->attributes, attribute);
    }
    return ok;
}

/* The attributes of all segments. */
static bool add_segments(trellis_explainer *explainer, const trellis_sequence *sequence,
                         const struct tr_observation *observation)
{
    size_t count = sequence->length * observation->max_segment;
    bool ok = tr_reserve(&explainer->segment_begin, count + 1);
    explainer->segment_begin.size = ok && observation->max_segment ? count + 1 : 0;
    for (size_t c = 0; ok && c < explainer->segment_begin.size; c++) {
        explainer->segment_begin.at[c] = explainer->attributes.size;
        ok = c == count ||
             add_attributes(explainer, sequence, TR_SEGMENT_ATTRIBUTE, observation, c);
    }
    return ok;
}

static trellis_status extract(trellis_explainer *explainer, const trellis_sequence *sequence,
                              trellis_error *error)
{
    const struct tr_observation *observation = NULL;
    trellis_status status = tr_extractor_run(explainer->extractor, sequence, &observation, error);
    const double *reals = tr_tagger_result(explainer->tagger).reals;
    bool ok = tr_reserve(&explainer->begin, sequence->length + 1);
    explainer->attributes.size = explainer->texts.size = 0;
    for (size_t i = 0; !status && ok && i <= sequence->length; i++) {
        explainer->begin.at[i] = explainer->attributes.size;
        ok = i == sequence->length ||
             (add_reals(explainer, reals, i) &&
              add_attributes(explainer, sequence, TR_NODE_ATTRIBUTE, observation, i) &&
              add_attributes(explainer, sequence, TR_EDGE_ATTRIBUTE, observation, i));
    }
    ok = ok && (status || add_segments(explainer, sequence, observation));
    return status ? status : ok && !explainer->texts.failed ? TRELLIS_OK : tr_fail_memory(error);
}

/* ---- contributions --------------------------------------------------------------------------- */

static double weight_of(const trellis_explainer *explainer, const struct tr_attribute *attribute,
                        const uint16_t *path, size_t i)
{
    const trellis_model *model = explainer->model;
    uint32_t outcome = path[i];
    if (attribute->real) {
        return tr_gaussian_log(&model->gaussian, path[i], attribute->row, attribute->value);
    }
    if (attribute->edge) {
        outcome += path[i - 1] * model->graph->width;
    }
    return attribute->value * (double)tr_table_weight(attribute->edge ? &model->edge : &model->node,
                                                      attribute->row, outcome);
}

/* The attributes of a token; with `all` also those that contribute to both alike. */
static bool compare_attributes(trellis_explainer *explainer, size_t i, bool all)
{
    const uint16_t *path = explainer->path.at, *runner_up = explainer->runner_up.at;
    for (size_t k = explainer->begin.at[i]; k < explainer->begin.at[i + 1]; k++) {
        const struct tr_attribute *attribute = &explainer->attributes.at[k];
        trellis_contribution c = {
            .position = i,
            .attribute = {explainer->texts.data + attribute->text, attribute->text_size},
            .predicted = weight_of(explainer, attribute, path, i),
            .runner_up = weight_of(explainer, attribute, runner_up, i),
        };
        bool counts = c.predicted != c.runner_up || (all && c.predicted != 0);
        if (counts && !tr_push(&explainer->contributions, c)) {
            return false;
        }
    }
    return true;
}

/* The weight of an attribute for the type of a segment, 0 where it has none or is too long. */
static double segment_weight(const trellis_explainer *explainer,
                             const struct tr_attribute *attribute, const struct tr_segment *segment)
{
    const struct tr_segments *segments = explainer->model->segments;
    size_t d = segment->end - segment->begin;
    if (segment->type == TR_NO_LABEL || d > segments->type[segment->type].max_length) {
        return 0;
    }
    return attribute->value * (double)tr_table_weight(&explainer->model->node, attribute->row,
                                                      segments->type[segment->type].head);
}

/* The attributes of a segment of a labelling; the other one may have it too, with another type. With
 * `again` it is one of the runner-up, and those that both have are left out. */
static bool compare_segment(trellis_explainer *explainer, struct tr_segment segment, size_t token,
                            bool again)
{
    const struct tr_segments *segments = explainer->model->segments;
    size_t d = segment.end - segment.begin;
    struct tr_segment other = tr_segment_at(segments,
                                            again ? explainer->path.at : explainer->runner_up.at,
                                            explainer->length, segment.begin);
    bool both = other.end == segment.end && other.type != TR_NO_LABEL;
    if (segment.type == TR_NO_LABEL || d > segments->max_length || (both && again)) {
        return true;
    }
    other.type = both ? other.type : TR_NO_LABEL;
    bool here = segment.begin <= token && token < segment.end, ok = true;
    size_t c = (segment.end - 1) * segments->max_length + d - 1;
    for (size_t k = explainer->segment_begin.at[c]; ok && k < explainer->segment_begin.at[c + 1];
         k++) {
        const struct tr_attribute *attribute = &explainer->attributes.at[k];
        double ours = segment_weight(explainer, attribute, &segment);
        double theirs = segment_weight(explainer, attribute, &other);
        trellis_contribution contribution = {
            .position = here ? token : segment.begin,
            .attribute = {explainer->texts.data + attribute->text, attribute->text_size},
            .predicted = again ? theirs : ours,
            .runner_up = again ? ours : theirs,
        };
        bool counts = ours != theirs || (here && ours != 0);
        ok = !counts || tr_push(&explainer->contributions, contribution);
    }
    return ok;
}

/* The segments of both labellings: those that differ, and those that the token is in. */
static bool compare_segments(trellis_explainer *explainer, size_t token)
{
    bool ok = true;
    for (int again = 0; explainer->segment_begin.size && again < 2; again++) {
        const uint16_t *path = again ? explainer->runner_up.at : explainer->path.at;
        for (size_t at = 0; ok && at < explainer->length;) {
            struct tr_segment segment = tr_segment_at(explainer->model->segments, path,
                                                      explainer->length, at);
            ok = compare_segment(explainer, segment, token, again);
            at = segment.end;
        }
    }
    return ok;
}

static bool is_among(const uint32_t *features, size_t count, uint32_t feature)
{
    for (size_t i = 0; i < count; i++) {
        if (features[i] == feature) {
            return true;
        }
    }
    return false;
}

/* The labels are offsets into `names` until it has stopped growing; see set_pointers(). */
static bool add_transition(trellis_explainer *explainer, size_t i, uint32_t feature,
                           double predicted, double runner_up)
{
    const struct tr_gram *gram = &explainer->model->grams[feature];
    trellis_contribution c = {
        .position = i, .label_count = gram->length, .predicted = predicted, .runner_up = runner_up};
    for (size_t k = 0; k < gram->length; k++) {
        if (!tr_push(&explainer->names, tr_model_gram_label(explainer->model, gram->label[k]))) {
            return false;
        }
    }
    return tr_push(&explainer->contributions, c);
}

/* The grams of the two transitions. */
static bool compare_grams(trellis_explainer *explainer, const struct tr_tagging_result *result,
                          size_t i, const uint32_t step[2], const uint32_t other[2], bool all)
{
    uint32_t ours[TR_MAX_ORDER + 1], theirs[TR_MAX_ORDER + 1];
    size_t our_count = tr_path_features(result->graph, step[0], step[1], ours);
    size_t their_count = tr_path_features(result->graph, other[0], other[1], theirs);
    const float *weights = explainer->model->step_weights;
    bool ok = true;
    for (size_t k = 0; ok && k < our_count; k++) {
        double w = (double)weights[ours[k]];
        bool common = is_among(theirs, their_count, ours[k]);
        ok = w == 0 || (common && !all) || add_transition(explainer, i, ours[k], w, common ? w : 0);
    }
    for (size_t k = 0; ok && k < their_count; k++) {
        double w = (double)weights[theirs[k]];
        ok = w == 0 || is_among(ours, our_count, theirs[k]) ||
             add_transition(explainer, i, theirs[k], 0, w);
    }
    return ok;
}

/* Of a locally normalised model: the states before a token. */
static bool compare_normalisers(trellis_explainer *explainer,
                                const struct tr_tagging_result *result, size_t i, uint32_t ours,
                                uint32_t theirs)
{
    trellis_contribution c = {
        .position = i,
        .attribute = tr_text("normaliser"),
        .predicted = tr_lattice_normaliser_score(result->lattice, i - 1, ours),
        .runner_up = tr_lattice_normaliser_score(result->lattice, i - 1, theirs),
    };
    return c.predicted == c.runner_up || tr_push(&explainer->contributions, c);
}

/* The difference between the two labellings, and all attributes of the token. */
static bool compare_paths(trellis_explainer *explainer, const struct tr_tagging_result *result,
                          size_t token)
{
    size_t n = explainer->length;
    const uint16_t *path = explainer->path.at, *runner_up = explainer->runner_up.at;
    uint32_t ours = TR_NO_STATE, theirs = TR_NO_STATE;
    bool ok = true;
    for (size_t i = 0; ok && i <= n; i++) {
        uint32_t our_next = i < n ? tr_graph_next(result->graph, ours, path[i]) : TR_NO_STATE;
        uint32_t their_next = i < n ? tr_graph_next(result->graph, theirs, runner_up[i])
                                    : TR_NO_STATE;
        bool differ = i < n && (path[i] != runner_up[i] || (i && path[i - 1] != runner_up[i - 1]));
        if (i < n && (differ || i == token)) {
            ok = compare_attributes(explainer, i, i == token);
        }
        if (ok && (ours != theirs || our_next != their_next || i == token)) {
            ok = compare_grams(explainer, result, i, (uint32_t[]){ours, our_next},
                               (uint32_t[]){theirs, their_next}, i == token);
        }
        if (ok && i > 0 && ours != theirs) {
            ok = compare_normalisers(explainer, result, i, ours, theirs);
        }
        ours = our_next;
        theirs = their_next;
    }
    return ok && compare_segments(explainer, token);
}

static int compare_contributions(const void *a, const void *b)
{
    const trellis_contribution *x = a, *y = b;
    double dx = fabs(x->predicted - x->runner_up), dy = fabs(y->predicted - y->runner_up);
    double sx = fabs(x->predicted), sy = fabs(y->predicted); // of those that make no difference
    if (dx != dy || sx != sy) {
        return dx != dy ? (dx < dy) - (dx > dy) : (sx < sy) - (sx > sy);
    }
    if (x->position != y->position) {
        return x->position < y->position ? -1 : 1;
    }
    size_t shorter = x->attribute.size < y->attribute.size ? x->attribute.size : y->attribute.size;
    int order = shorter ? memcmp(x->attribute.data, y->attribute.data, shorter) : 0;
    return order
               ? order
               : (x->attribute.size > y->attribute.size) - (x->attribute.size < y->attribute.size);
}

/* ---- runners-up ------------------------------------------------------------------------------ */

/* The best labelling with another label at the token; false where there is none. The scores of the
 * lattice are restored. */
static trellis_status find_runner_up(trellis_explainer *explainer,
                                     const struct tr_tagging_result *result, size_t token,
                                     bool *ret_found, trellis_error *error)
{
    float *node = tr_lattice_nodes(result->lattice) + token * result->graph->width +
                  explainer->path.at[token];
    float kept = *node;
    double score;
    trellis_error none = {0};
    *node = -INFINITY;
    trellis_status status = tr_lattice_viterbi(result->lattice, result->steps,
                                               explainer->runner_up.at, &score, &none);
    *node = kept;
    *ret_found = status == TRELLIS_OK;
    return status && status != TRELLIS_DATA ? tr_fail(error, status, "%s", none.message)
                                            : TRELLIS_OK;
}

static bool explain_token(trellis_explainer *explainer, const struct tr_tagging_result *result,
                          size_t token)
{
    trellis_explanation *explanation = &explainer->explanations.at[token];
    size_t begin = explainer->contributions.size, width = result->graph->width;
    uint16_t runner_up = explainer->runner_up.at[token];
    if (!compare_paths(explainer, result, token)) {
        return false;
    }
    explanation->runner_up = explainer->model->labels[runner_up];
    explanation->contribution_count = explainer->contributions.size - begin;
    explanation->margin = 0;
    for (size_t k = begin; k < explainer->contributions.size; k++) {
        const trellis_contribution *c = &explainer->contributions.at[k];
        explanation->margin += c->predicted - c->runner_up;
    }
    if (explainer->marginals.size) {
        explanation->runner_up_probability = (double)
                                                 explainer->marginals.at[token * width + runner_up];
    }
    for (size_t i = 0; i < explainer->length; i++) {
        trellis_text label = explainer->model->labels[explainer->runner_up.at[i]];
        if (!tr_push(&explainer->runner_up_labels, label)) {
            return false;
        }
    }
    return true;
}

/* Sets the pointers into the arrays, now that they no longer grow, and sorts the contributions. */
static void set_pointers(trellis_explainer *explainer)
{
    size_t contribution = 0, name = 0, runner_up_labels = 0;
    for (size_t i = 0; i < explainer->length; i++) {
        trellis_explanation *explanation = &explainer->explanations.at[i];
        trellis_contribution *list = explainer->contributions.at + contribution;
        for (size_t k = 0; k < explanation->contribution_count; k++) {
            list[k].labels = list[k].label_count ? explainer->names.at + name : NULL;
            name += list[k].label_count;
        }
        if (explanation->contribution_count) {
            qsort(list, explanation->contribution_count, sizeof *list, compare_contributions);
        }
        explanation->contributions = list;
        contribution += explanation->contribution_count;
        if (explanation->runner_up.data) {
            explanation->runner_up_labels = explainer->runner_up_labels.at + runner_up_labels;
            runner_up_labels += explainer->length;
        }
    }
}

static trellis_status explain(trellis_explainer *explainer, struct tr_tagging_result *result,
                              trellis_error *error)
{
    size_t width = result->graph->width;
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < explainer->length; i++) {
        bool has_runner_up = false;
        uint16_t label = explainer->path.at[i];
        double probability = explainer->marginals.size
                                 ? (double)explainer->marginals.at[i * width + label]
                                 : NAN;
        explainer->explanations.at[i] = (trellis_explanation){
            .predicted = explainer->model->labels[label],
            .runner_up = {NULL, 0},
            .margin = INFINITY,
            .predicted_probability = probability,
            .runner_up_probability = NAN};
        status = find_runner_up(explainer, result, i, &has_runner_up, error);
        if (!status && has_runner_up && !explain_token(explainer, result, i)) {
            status = tr_fail_memory(error);
        }
    }
    return status;
}

static trellis_status copy_result(trellis_explainer *explainer,
                                  const struct tr_tagging_result *result, trellis_error *error)
{
    size_t n = explainer->length, size = n * result->graph->width;
    explainer->marginals.size = 0;
    if (!tr_reserve(&explainer->path, n + 1) || !tr_reserve(&explainer->runner_up, n + 1) ||
        !tr_reserve(&explainer->explanations, n + 1) || !tr_reserve(&explainer->marginals, size)) {
        return tr_fail_memory(error);
    }
    if (n == 0) { // a tagger that has seen no token has no path
        return TRELLIS_OK;
    }
    memcpy(explainer->path.at, result->path, n * sizeof *result->path);
    trellis_status status = tr_tagger_compute_marginals(explainer->tagger, 0, NULL);
    if (status == TRELLIS_MEMORY) { // anything else: there are no probabilities
        return tr_fail_memory(error);
    }
    if (!status) {
        memcpy(explainer->marginals.at, tr_lattice_node_marginals(result->lattice),
               size * sizeof *explainer->marginals.at);
        explainer->marginals.size = size;
    }
    return TRELLIS_OK;
}

trellis_status trellis_explainer_run(trellis_explainer *explainer, const trellis_sequence *given,
                                     const trellis_explanation **ret_explanations,
                                     trellis_error *error)
{
    if (!TR_CLEAR(ret_explanations) || !explainer || !given) {
        return tr_fail_null(error, __func__);
    }
    const trellis_text *labels;
    explainer->length = 0;
    explainer->contributions.size = explainer->names.size = explainer->runner_up_labels.size = 0;
    trellis_sequence sequence;
    trellis_status status = tr_sequence_take(given, &sequence, error);
    if (!status && sequence.length > MAX_TOKENS) {
        status = tr_fail(error, TRELLIS_LIMIT,
                         "a sequence of %zu tokens is too long to be explained: the maximum is %d",
                         sequence.length, MAX_TOKENS);
    }
    if (!status && !explainer->bound) {
        status = trellis_explainer_bind(explainer, NULL, error);
    }
    if (!status) {
        status = trellis_tagger_tag(explainer->tagger, &sequence, &labels, error);
    }
    if (!status) {
        status = extract(explainer, &sequence, error);
    }
    if (!status) {
        struct tr_tagging_result result = tr_tagger_result(explainer->tagger);
        explainer->length = sequence.length;
        status = copy_result(explainer, &result, error);
        status = status ? status : explain(explainer, &result, error);
    }
    if (status) {
        explainer->length = 0;
        return status;
    }
    set_pointers(explainer);
    *ret_explanations = explainer->explanations.at;
    return TRELLIS_OK;
}

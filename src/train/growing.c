/* growing.c - a training whose data comes bit by bit: labels and attributes may appear at any
 * time. */
#include "train/growing.h"

#include "corpus/corpus.h"
#include "model/model.h"

/* ---- what can be learned bit by bit ---------------------------------------------------------- */

/* Options that need all of the data before learning begins, or files while it goes on. */
static trellis_status check_options(const struct tr_settings *settings, trellis_error *error)
{
    const trellis_options *options = settings->options;
    bool scheme = !tr_option_is(options, "train-scheme", "none") &&
                  trellis_scheme_from_name(tr_option_text(options, "scheme")) == TRELLIS_NO_SCHEME;
    bool constraint_file = !tr_option_is(options, "constrain", "none") &&
                           !tr_option_is(options, "constrain", "iob");
    const char *wrong =
        settings->order > 1     ? "--order above 1: grams of labels are chosen from all of the data"
        : settings->counted     ? "--counted: grams of labels are chosen from all of the data"
        : settings->prune > 0   ? "--prune"
        : settings->max_segment ? "--segments: lengths are found in all of the data"
        : *settings->dictionary ? "--dictionary: a tag dictionary is made from all of the data"
        : settings->min_count > 1 ? "--min-count: how often attributes occur is not known yet"
        : settings->min_feature_count > 0
            ? "--min-feature-count: how often features occur is not known yet"
        : settings->transitions == TR_TRANSITIONS_OBSERVED
            ? "--transitions observed: every transition may be seen later"
        : settings->select_l1 > 0          ? "--select-l1: features are selected by all of the data"
        : *settings->from                  ? "--from: pass the model itself"
        : *tr_option_text(options, "cost") ? "--cost: it does not read files"
        : constraint_file                  ? "--constrain FILE: it does not read files"
        : scheme ? "--train-scheme without --scheme: the scheme is guessed from all of the data"
                 : NULL;
    if (wrong) {
        return tr_fail(error, TRELLIS_OPTION, "learning online is not possible with %s", wrong);
    }
    if (settings->margin && tr_option_flag(options, "partial") &&
        (settings->abilities & TR_PENALISED)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "a loss needs all gold labels; with --partial leave out --loss, --cost and "
                       "--span-loss");
    }
    return settings->algorithm->online || (settings->abilities & TR_STOCHASTIC)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_OPTION,
                         "-t %s -a %s needs all of the data at once; -t perceptron, -t mira and -a "
                         "sgd can learn online",
                         settings->learner->name, settings->algorithm->name);
}

static trellis_status resolve(struct tr_growing *growing, const trellis_options *options,
                              trellis_error *error)
{
    struct tr_training *t = &growing->training;
    *growing = (struct tr_growing){.word_column = 0};
    trellis_status status = trellis_options_copy(options, &growing->options, error);
    if (!status) {
        status = tr_settings_resolve(growing->options, &t->settings, error);
    }
    if (!status) {
        status = check_options(&t->settings, error);
    }
    t->settings.all_features = true;
    t->data.inside = trellis_scheme_from_name(tr_option_text(growing->options, "train-scheme"));
    t->data.outside = trellis_scheme_from_name(tr_option_text(growing->options, "scheme"));
    bool threads = !status && !t->settings.algorithm->online && t->settings.batch > 1;
    return threads ? tr_pool_create_for(growing->options, &t->pool, error) : status;
}

static trellis_status open_templates(struct tr_growing *growing, trellis_error *error)
{
    trellis_features **features = &growing->training.data.features;
    trellis_status status = tr_features_read(growing->templates.data, growing->templates.size,
                                             features, error);
    if (!status) {
        status = tr_extractor_create(*features, true, &growing->extractor, error);
    }
    if (!status) { // a column that has a name only waits for trellis_online_bind()
        (void)tr_extractor_bind(growing->extractor, NULL, SIZE_MAX, NULL);
    }
    return status;
}

static trellis_status write_templates(struct tr_growing *growing, const trellis_features *features,
                                      trellis_error *error)
{
    if (tr_features_needs_counts(features) || tr_features_learns(features)) {
        return tr_fail(error, TRELLIS_OPTION,
                       "learning online is not possible with templates that ask how often words "
                       "occur in the training data, or as what");
    }
    return tr_features_write(features, &growing->templates, error);
}

trellis_status tr_growing_create(struct tr_growing *growing, const trellis_options *options,
                                 const trellis_features *features, trellis_error *error)
{
    struct tr_training *t = &growing->training;
    trellis_status status = resolve(growing, options, error);
    if (!status && features) {
        status = write_templates(growing, features, error);
    } else if (!status) {
        trellis_source none = {.struct_size = sizeof none}; // the format is that of the options
        t->sources.train = &none;
        status = tr_training_choose_features(t, error);
        t->sources.train = NULL;
        if (!status) {
            status = write_templates(growing, t->data.features, error);
        }
        trellis_features_destroy(t->data.features);
        t->data.features = NULL;
    }
    return status ? status : open_templates(growing, error);
}

trellis_status tr_growing_create_from_block(struct tr_growing *growing,
                                            const trellis_options *options, trellis_text block,
                                            trellis_error *error)
{
    trellis_status status = resolve(growing, options, error);
    tr_buffer_text(&growing->templates, block);
    if (!status && growing->templates.failed) {
        status = tr_fail_memory(error);
    }
    return status ? status : open_templates(growing, error);
}

void tr_growing_free(struct tr_growing *growing)
{
    struct tr_training *t = &growing->training;
    tr_extractor_destroy(growing->extractor);
    tr_pool_destroy(t->pool);
    tr_loss_destroy(t->loss);
    tr_layout_free(&t->layout);
    tr_words_free(&t->data.seen);
    tr_dataset_free(&t->data.train);
    tr_vocabulary_free(&t->data.vocabulary);
    trellis_features_destroy(t->data.features);
    tr_buffer_free(&growing->templates);
    trellis_options_destroy(growing->options);
}

/* ---- the sequences at hand ------------------------------------------------------------------- */

struct tr_growing_mark tr_growing_mark(const struct tr_growing *growing)
{
    const struct tr_training_data *data = &growing->training.data;
    return (struct tr_growing_mark){.labels = tr_intern_count(&data->train.labels),
                                    .nodes = data->vocabulary.node.index.entries.size,
                                    .edges = data->vocabulary.edge.index.entries.size,
                                    .fingerprint = data->train.fingerprint};
}

void tr_growing_roll_back(struct tr_growing *growing, struct tr_growing_mark mark)
{
    struct tr_training_data *data = &growing->training.data;
    tr_dataset_clear(&data->train);
    tr_intern_truncate(&data->train.labels, mark.labels);
    data->train.label_count = (uint32_t)mark.labels;
    data->train.fingerprint = mark.fingerprint;
    tr_attribute_index_truncate(&data->vocabulary.node.index, mark.nodes);
    tr_attribute_index_truncate(&data->vocabulary.edge.index, mark.edges);
}

trellis_status tr_growing_read(struct tr_growing *growing, const trellis_sequence *sequence,
                               trellis_error *error)
{
    struct tr_training_data *data = &growing->training.data;
    bool convert = data->inside != TRELLIS_NO_SCHEME;
    struct tr_dataset_settings settings = {.options = growing->options,
                                           .features = data->features,
                                           .from = convert ? data->outside : TRELLIS_NO_SCHEME,
                                           .to = data->inside,
                                           .label_use = TR_LABELS_NEEDED,
                                           .partial = tr_option_flag(growing->options, "partial")};
    return tr_dataset_add(&data->train, &data->vocabulary, &settings, growing->extractor, sequence,
                          error);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Room for half as many again, so that what is copied is at most some multiple of what there is. */
static uint32_t room_for(size_t attributes, uint32_t room)
{
    size_t more = room + room / 2 < TR_NONE ? room + room / 2 : TR_NONE;
    return attributes <= room ? room : (uint32_t)(attributes > more ? attributes : more);
}

/* Rows for `room` attributes, of which those of the index are in use. */
static trellis_status make_rows(struct tr_attributes *attributes, uint32_t outcomes, uint32_t room,
                                trellis_error *error)
{
    attributes->rows = NULL;
    trellis_status status = tr_rows_create_whole(outcomes, room, &attributes->rows, error);
    if (!status) {
        tr_rows_set_attributes(attributes->rows, (uint32_t)attributes->index.entries.size);
    }
    return status;
}

/* Where the grams of the old graph are among those of the new one; the start and the end have other
 * numbers there. */
static trellis_status match_grams(struct tr_relayout *relayout, trellis_error *error)
{
    const struct tr_layout *from = &relayout->from->layout, *to = &relayout->to->layout;
    relayout->gram = tr_alloc(from->plan.gram_count, sizeof *relayout->gram);
    if (!relayout->gram) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < from->plan.gram_count; i++) {
        struct tr_gram gram = from->grams[i];
        for (int k = 0; k < gram.length; k++) {
            if (gram.label[k] >= from->plan.labels) {
                gram.label[k] = (uint16_t)(gram.label[k] - from->plan.labels + to->plan.labels);
            }
        }
        relayout->gram[i] = (uint32_t)tr_gram_find(to->grams, to->plan.gram_count, &gram);
    }
    return TRELLIS_OK;
}

/* Rows of labels, `rows` of them in the old layout; in the new one they are further apart. */
static void copy_rows(const char *from, char *to, size_t rows, size_t step_from, size_t step_to,
                      size_t size)
{
    for (size_t i = 0; i < rows; i++) {
        memcpy(to + i * step_to, from + i * step_from, size);
    }
}

void tr_relayout_copy(const struct tr_relayout *relayout, const void *from, void *to,
                      size_t element)
{
    if (!relayout->from) {
        return;
    }
    const struct tr_training *a = relayout->from, *b = relayout->to;
    const struct tr_rows *node = a->data.vocabulary.node.rows, *edge = a->data.vocabulary.edge.rows;
    size_t labels = a->layout.plan.labels, width = a->layout.graph->width;
    size_t new_width = b->layout.graph->width;
    const char *old = from;
    char *new = to;
    copy_rows(old, new, node->attributes, node->width * element,
              b->data.vocabulary.node.rows->width * element, labels * element);
    for (size_t e = 0; e < edge->attributes; e++) {
        size_t old_at = a->layout.node_size + e * edge->width;
        size_t new_at = b->layout.node_size + e * b->data.vocabulary.edge.rows->width;
        copy_rows(old + old_at * element, new + new_at *element, labels, width * element,
                  new_width * element, labels * element);
    }
    for (size_t i = 0; i < a->layout.plan.gram_count; i++) {
        memcpy(new + (b->layout.step_begin + relayout->gram[i]) * element,
               old + (a->layout.step_begin + i) * element, element);
    }
}

static bool has_room(const struct tr_growing *growing)
{
    const struct tr_training *t = &growing->training;
    return growing->has_layout && t->layout.plan.labels == t->data.train.label_count &&
           t->data.vocabulary.node.index.entries.size <= growing->node_room &&
           t->data.vocabulary.edge.index.entries.size <= growing->edge_room;
}

/* Everything for a larger layout, in a copy of the training that shares the rest with it. */
static trellis_status make_next(struct tr_growing *growing, struct tr_training *next,
                                trellis_error *error)
{
    const struct tr_learner_hooks *hooks = next->settings.learner->hooks;
    struct tr_vocabulary *v = &next->data.vocabulary;
    uint32_t labels = next->data.train.label_count, width = tr_row_width(labels);
    next->layout = (struct tr_layout){0};
    next->loss = NULL;
    v->edge.rows = NULL;
    trellis_status status = make_rows(
        &v->node, labels, room_for(v->node.index.entries.size, growing->node_room), error);
    if (!status) {
        status = make_rows(&v->edge, labels ? (labels - 1) * width + labels : 0,
                           room_for(v->edge.index.entries.size, growing->edge_room), error);
    }
    if (!status) {
        status = tr_training_make_layout(next, error);
    }
    if (!status && hooks && hooks->prepare) {
        status = hooks->prepare(next, error);
    }
    return status;
}

/* Frees what belongs to a layout. */
static void free_layout(struct tr_training *training)
{
    tr_layout_free(&training->layout);
    tr_loss_destroy(training->loss);
    tr_rows_destroy(training->data.vocabulary.node.rows);
    tr_rows_destroy(training->data.vocabulary.edge.rows);
}

static trellis_status enlarge(struct tr_growing *growing, tr_relayout_function function, void *user,
                              trellis_error *error)
{
    struct tr_training *t = &growing->training, next = *t;
    struct tr_relayout relayout = {.from = growing->has_layout ? t : NULL, .to = &next};
    struct tr_vocabulary *v = &next.data.vocabulary;
    trellis_status status = make_next(growing, &next, error);
    if (!status && relayout.from) {
        status = match_grams(&relayout, error);
    }
    if (!status) {
        status = function(user, &relayout, error);
    }
    free(relayout.gram);
    if (status) {
        free_layout(&next);
        return status;
    }
    free_layout(t);
    t->layout = next.layout;
    t->loss = next.loss;
    t->data.vocabulary.node.rows = v->node.rows;
    t->data.vocabulary.edge.rows = v->edge.rows;
    growing->node_room = room_for(v->node.index.entries.size, growing->node_room);
    growing->edge_room = room_for(v->edge.index.entries.size, growing->edge_room);
    growing->has_layout = true;
    return TRELLIS_OK;
}

trellis_status tr_growing_fit(struct tr_growing *growing, tr_relayout_function relayout, void *user,
                              trellis_error *error)
{
    struct tr_training *t = &growing->training;
    if (!has_room(growing)) {
        return enlarge(growing, relayout, user, error);
    }
    trellis_status status = tr_training_check_labels(t, error);
    if (!status) {
        struct tr_vocabulary *v = &t->data.vocabulary;
        tr_rows_set_attributes(v->node.rows, (uint32_t)v->node.index.entries.size);
        tr_rows_set_attributes(v->edge.rows, (uint32_t)v->edge.index.entries.size);
    }
    return status;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* The weights that are not 0, on their way into a model. */
struct nonzero_weights {
    tr_weight_at weight;
    const void *user;
    TR_ARRAY(float) weights;
};

/* Lists the pairs of some attributes with their weights, and makes rows of them. */
static trellis_status draw_attributes(struct nonzero_weights *drawing,
                                      const struct tr_attributes *all, size_t base,
                                      struct tr_rows **ret_rows, trellis_error *error)
{
    const struct tr_rows *rows = all->rows;
    uint64_t *begin = tr_alloc((size_t)rows->attributes + 1, sizeof *begin);
    TR_ARRAY(uint32_t) outcomes = {0};
    bool ok = begin && tr_reserve(&outcomes, 1);
    for (uint32_t a = 0; ok && a < rows->attributes; a++) {
        for (uint32_t j = 0; ok && j < rows->outcomes; j++) {
            float weight = drawing->weight(drawing->user, base + (size_t)a * rows->width + j);
            if (weight != 0) {
                ok = tr_push(&outcomes, j) && tr_push(&drawing->weights, weight);
            }
        }
        begin[a + 1] = outcomes.size;
    }
    if (!ok) {
        free(begin);
        free(outcomes.at);
        return tr_fail_memory(error);
    }
    return tr_rows_create(rows->outcomes, rows->attributes, 0, begin, outcomes.at, ret_rows, error);
}

static trellis_status draw_steps(struct nonzero_weights *drawing, const struct tr_layout *layout,
                                 struct tr_layout *drawn, trellis_error *error)
{
    drawn->grams = tr_alloc(layout->plan.gram_count, sizeof *drawn->grams);
    bool ok = drawn->grams != NULL;
    size_t kept = 0;
    for (size_t i = 0; ok && i < layout->plan.gram_count; i++) {
        float weight = drawing->weight(drawing->user, layout->step_begin + i);
        if (weight != 0) {
            drawn->grams[kept++] = layout->grams[i];
            ok = tr_push(&drawing->weights, weight);
        }
    }
    drawn->plan.grams = drawn->grams;
    drawn->plan.gram_count = drawn->step_size = kept;
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* A training without data, as if it had ended with these weights. */
trellis_status tr_growing_model(const struct tr_growing *growing, tr_weight_at weight,
                                const void *user, trellis_model **ret_model, trellis_error *error)
{
    const struct tr_training *t = &growing->training;
    struct nonzero_weights drawing = {.weight = weight, .user = user};
    struct tr_training end = *t;
    struct tr_vocabulary *v = &end.data.vocabulary;
    *ret_model = NULL;
    if (!growing->has_layout) {
        return tr_fail(error, TRELLIS_DATA, "nothing has been learned yet");
    }
    end.notes = (struct tr_buffer){0};
    end.data.train = (struct tr_dataset){.labels = t->data.train.labels,
                                         .label_count = t->data.train.label_count,
                                         .sequences = growing->sequences,
                                         .tokens = growing->tokens,
                                         .fingerprint = t->data.train.fingerprint};
    v->node.rows = v->edge.rows = NULL;
    end.layout.grams = NULL;
    trellis_status status = draw_attributes(&drawing, &t->data.vocabulary.node, 0, &v->node.rows,
                                            error);
    end.layout.node_size = drawing.weights.size;
    if (!status) {
        status = draw_attributes(&drawing, &t->data.vocabulary.edge, t->layout.node_size,
                                 &v->edge.rows, error);
    }
    end.layout.step_begin = drawing.weights.size;
    if (!status) {
        status = draw_steps(&drawing, &t->layout, &end.layout, error);
    }
    if (!status && !tr_reserve(&drawing.weights, 1)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        end.best = (struct tr_iterate){.size = drawing.weights.size,
                                       .weights = drawing.weights.at,
                                       .figures = tr_training_figures(t)};
        status = tr_training_result(&end, false, ret_model, error);
    }
    tr_buffer_free(&end.notes);
    tr_rows_destroy(v->node.rows);
    tr_rows_destroy(v->edge.rows);
    free(end.layout.grams);
    free(drawing.weights.at);
    return status;
}

/* judge.h - the likelihood and its gradient against all that can be chosen, one by one.
 *
 * What is learned is a list of choices. Each has some alternatives, one or more of which agree with
 * what is known, and costs
 *
 *     weight (log sum over all of exp(w . Phi) - log sum over those that agree of exp(w . Phi))
 *
 * where a loss, if there is one, is added to w . Phi.
 *
 * For a CRF a sequence is one choice, among all label sequences. For an MEMM each label is one,
 * among those that may follow the labels before it. The judge writes out Phi of every alternative
 * and sums in double precision. It knows the dataset and the plan of the graph, not the graph.
 * Weights and values are multiples of small powers of 2, so that what the kernels round is their
 * own sums and not their input.
 */
#ifndef TRELLIS_TESTS_TRAIN_JUDGE_H
#define TRELLIS_TESTS_TRAIN_JUDGE_H

#include <math.h>

#include "model/test_model.h"
#include "train/objective.h"

enum { LABELS = 3, LONGEST = 5, MAX_GRAMS = 512 };

struct kind {
    const char *name;
    uint32_t order, count_cap;
    bool observed_states, free_steps;
};

static const struct kind kinds[] = {
    {"order 0", 0, 0, false, false},   {"order 1", 1, 0, false, false},
    {"free steps", 1, 0, false, true}, {"order 2", 2, 0, false, false},
    {"order 3", 3, 0, false, false},   {"observed 2", 2, 0, true, false},
    {"observed 3", 3, 0, true, false}, {"counted", 1, 3, false, false},
};

/* What is seen. */
static const char *const templates[] = {
    "node word\n"
    "node bias\n"
    "step\n",
    "node word[-1..0]\n"
    "node real(x)\n"
    "step start end\n",
    "node word\n"
    "node real(x)&word[-1]\n"
    "edge bias\n"
    "edge word\n"
    "edge real(x)\n"
    "step start end\n",
};

/* No sentence has these steps, so that they can be forbidden: B to A, the start to C, B to the
 * end. */
static const uint16_t forbidden[][2] = {{1, 0}, {LABELS, 2}, {1, LABELS + 1}};

/* What a problem is made from. */
struct recipe {
    const struct kind *kind;
    const char *templates;
    const char *path;          // of a corpus; NULL: a random one of
    size_t sequences;          // sentences
    uint64_t words;            // that differ
    bool weights;              // they count differently, one of them not at all
    bool partial;              // labels are unknown, or one of two
    bool dictionary;           // learned from them
    bool all_features, priors; // label priors
    bool seen_steps;           // those not seen have no feature
    bool forbid;
    bool local;
    bool loss; // the costs below
    unsigned seed;
};

/* What a wrong label costs, where there is a loss, and the same as a file. */
static const double costs[LABELS][LABELS] = {{0, 2.5, 1}, {1, 0, 0.25}, {0, 1, 0}};
static const char *const cost_file = "A B 2.5\nB C 0.25\nC A 0\n";

/* One entry of Phi, the entries of one alternative, and the alternatives of one choice. */
struct entry {
    size_t feature;
    double value;
};
struct alternative {
    size_t begin, end; // of its entries
    bool agrees;
    double loss; // of its labels, where there is one
};
struct choice {
    size_t begin, end; // of its alternatives
    double weight;
};

struct problem {
    struct tr_training training;
    trellis_options *options;
    struct tr_gram grams[MAX_GRAMS];
    size_t node, edge, size; // features
    bool bundled;            // the library adds up bundles of attributes
    size_t bundles;          // how many it had the last time
    TR_ARRAY(struct entry) entries;
    TR_ARRAY(struct alternative) alternatives;
    TR_ARRAY(struct choice) choices;
};

/* ---- a corpus -------------------------------------------------------------------------------- */

static inline bool is_forbidden(uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < TR_COUNT(forbidden); i++) {
        if (forbidden[i][0] == from && forbidden[i][1] == to) {
            return true;
        }
    }
    return false;
}

/* Labels are numbered as they come, so the first sentence brings A, B and C in that order. */
static inline void draw_labels(struct tr_random *random, size_t sentence, uint16_t *labels,
                               size_t n)
{
    bool ok = sentence == 0;
    for (size_t i = 0; i < n; i++) {
        labels[i] = (uint16_t)(i * LABELS / n);
    }
    while (!ok) {
        uint32_t before = LABELS;
        ok = true;
        for (size_t i = 0; i < n; i++) {
            labels[i] = (uint16_t)tr_random_below(random, LABELS);
            ok = ok && !is_forbidden(before, labels[i]);
            before = labels[i];
        }
        ok = ok && !is_forbidden(before, LABELS + 1);
    }
}

static inline void draw_sentence(struct tr_random *random, const struct recipe *recipe, size_t s,
                                 struct tr_buffer *out)
{
    size_t n = s == 0 ? LONGEST : 1 + tr_random_below(random, LONGEST);
    struct tr_buffer words = {0}, x = {0}, labels = {0};
    uint16_t drawn[LONGEST];
    draw_labels(random, s, drawn, n);
    for (size_t i = 0; i < n; i++) {
        size_t how = recipe->partial && s >= 3 ? tr_random_below(random, 4) : 0;
        const char *comma = i ? "," : "";
        tr_buffer_format(&words, "%s\"w%u\"", comma,
                         (unsigned)tr_random_below(random, recipe->words));
        tr_buffer_format(&x, "%s\"%.2f\"", comma, 0.25 * ((double)tr_random_below(random, 17) - 8));
        if (how == 1) {
            tr_buffer_format(&labels, "%s\"_\"", comma);
        } else if (how == 2) {
            tr_buffer_format(&labels, "%s\"%c|%c\"", comma, 'A' + drawn[i],
                             'A' + (drawn[i] + 1) % LABELS);
        } else {
            tr_buffer_format(&labels, "%s\"%c\"", comma, 'A' + drawn[i]);
        }
    }
    double weight = !recipe->weights ? 1 : s == 1 ? 0 : 0.25 * (double)(1 + s * 5 % 9);
    tr_buffer_format(out, "{\"weight\":%g,\"tokens\":[%.*s],\"x\":[%.*s],\"labels\":[%.*s]}\n",
                     weight, (int)words.size, words.data, (int)x.size, x.data, (int)labels.size,
                     labels.data);
    tr_buffer_free(&words);
    tr_buffer_free(&x);
    tr_buffer_free(&labels);
}

/* Random sentences with a real column x. */
static inline const char *draw_corpus(struct tr_random *random, const struct recipe *recipe)
{
    struct tr_buffer text = {0};
    for (size_t s = 0; s < recipe->sequences; s++) {
        draw_sentence(random, recipe, s, &text);
    }
    const char *path = put_file("random.jsonl", text.data, text.size);
    tr_buffer_free(&text);
    return path;
}

/* ---- a training ------------------------------------------------------------------------------ */

static inline void learn_dictionary(struct tr_training *t, struct tr_intern *words)
{
    struct tr_tag_dictionary_builder draft = {0};
    trellis_error error = {0};
    assert_ok(tr_tag_dictionary_learn(&draft, &t->data.train, words, 1, NULL, &error), error);
    assert_ok(tr_tag_dictionary_write(&draft, &t->data.tag_dictionary_block, &error), error);
    assert_true(tr_tag_dictionary_read(t->data.tag_dictionary_block.data,
                                       t->data.tag_dictionary_block.size, t->data.train.label_count,
                                       &t->data.tag_dictionary));
    assert_ok(tr_tag_dictionary_apply(&t->data.tag_dictionary, &t->data.train, words, &error),
              error);
    tr_tag_dictionary_builder_free(&draft);
}

static inline void read_data(struct problem *p, const struct recipe *recipe)
{
    struct tr_training *t = &p->training;
    struct tr_intern words = {0};
    trellis_error error = {0};
    tr_random_seed(&t->random, recipe->seed);
    const char *path = recipe->path ? recipe->path : draw_corpus(&t->random, recipe);
    assert_ok(trellis_options_create(&p->options, &error), error);
    t->settings.options = p->options;
    assert_ok(tr_features_parse(tr_text(recipe->templates), "test", &t->data.features, &error),
              error);
    struct tr_dataset_settings source = {.options = p->options,
                                         .features = t->data.features,
                                         .from = TRELLIS_NO_SCHEME,
                                         .to = TRELLIS_NO_SCHEME,
                                         .words = recipe->dictionary ? &words : NULL,
                                         .partial = recipe->partial};
    assert_ok(tr_dataset_read(
                  &t->data.train, &t->data.vocabulary, NULL, &source,
                  &(trellis_source){.struct_size = sizeof(trellis_source), .path = path}, &error),
              error);
    if (recipe->dictionary) {
        learn_dictionary(t, &words);
    }
    tr_intern_free(&words);
    struct tr_arrangement arrangement = {.min_count = 1, .all_features = recipe->all_features};
    assert_ok(tr_dataset_arrange(&t->data.train, &t->data.vocabulary, &arrangement, &error), error);
}

static inline void add_gram(struct problem *p, struct tr_gram gram)
{
    for (size_t i = 0; i < p->training.layout.plan.gram_count; i++) {
        if (memcmp(&p->grams[i], &gram, sizeof gram) == 0) {
            return;
        }
    }
    assert_true(p->training.layout.plan.gram_count < MAX_GRAMS);
    p->grams[p->training.layout.plan.gram_count++] = gram;
}

/* The grams of the corpus, label priors where asked for, and for counted states c c d and c c c
 * d. */
static inline void make_grams(struct problem *p, const struct recipe *recipe)
{
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    size_t count;
    bool all = !recipe->seen_steps && !recipe->kind->free_steps;
    assert_ok(tr_dataset_grams(&t->data.train, &t->layout.plan, tr_features_steps(t->data.features),
                               all ? 2 : 0, NULL, &t->layout.grams, &count, &error),
              error);
    for (size_t i = 0; i < count; i++) {
        add_gram(p, t->layout.grams[i]);
    }
    for (uint16_t c = 0; c < t->layout.plan.labels; c++) {
        if (recipe->priors) {
            add_gram(p, (struct tr_gram){1, {c}});
        }
        for (uint16_t d = 0; t->layout.plan.count_cap && d < t->layout.plan.labels + 2; d++) {
            if (d != t->layout.plan.labels) {
                add_gram(p, (struct tr_gram){3, {c, c, d}});
                add_gram(p, (struct tr_gram){4, {c, c, c, d}});
            }
        }
    }
    t->layout.plan.grams = p->grams;
}

static inline void make_graph(struct problem *p, const struct recipe *recipe)
{
    const struct kind *kind = recipe->kind;
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    t->layout.plan = (struct tr_graph_plan){.labels = t->data.train.label_count,
                                            .order = kind->order,
                                            .count_cap = kind->count_cap,
                                            .observed_states = kind->observed_states,
                                            .forbidden = forbidden,
                                            .forbidden_count = recipe->forbid ? TR_COUNT(forbidden)
                                                                              : 0};
    make_grams(p, recipe);
    enum tr_listing listing = kind->free_steps ? TR_LIST_FREE : TR_LIST_BY_SIZE;
    assert_ok(tr_graph_create_listing(&t->layout.plan, listing, &t->layout.graph, &error), error);
}

static inline void problem_free(struct problem *p)
{
    struct tr_training *t = &p->training;
    tr_pool_destroy(t->pool);
    tr_graph_destroy(t->layout.graph);
    free(t->layout.grams);
    tr_dataset_free(&t->data.train);
    tr_vocabulary_free(&t->data.vocabulary);
    tr_buffer_free(&t->data.tag_dictionary_block);
    trellis_features_destroy(t->data.features);
    trellis_options_destroy(p->options);
    tr_loss_destroy(t->loss);
    free(p->entries.at);
    free(p->alternatives.at);
    free(p->choices.at);
    free(p);
}

static inline struct problem *make_problem(const struct recipe *recipe)
{
    struct problem *p = tr_alloc(1, sizeof *p);
    assert_non_null(p);
    struct tr_training *t = &p->training;
    read_data(p, recipe);
    make_graph(p, recipe);
    t->settings.abilities = recipe->local ? TR_LOCAL : 0;
    if (recipe->loss) {
        trellis_error error = {0};
        assert_ok(trellis_options_set(p->options, "cost", put_text("costs", cost_file), &error),
                  error);
        assert_ok(tr_loss_create(p->options, &t->data.train.labels, LABELS, &t->loss, &error),
                  error);
    }
    t->layout.kernels = recipe->priors ? tr_row_kernels() : &tr_row_kernels_baseline;
    t->layout.node_size = (t->data.vocabulary.node.rows->size + 15) / 16 *
                          16; // rows begin at whole vectors
    t->layout.edge_size = (t->data.vocabulary.edge.rows->size + 15) / 16 * 16;
    t->layout.step_size = t->layout.plan.gram_count;
    t->layout.step_begin = t->layout.node_size + t->layout.edge_size;
    t->layout.size = t->layout.step_begin + t->layout.step_size;
    p->node = tr_rows_pairs(t->data.vocabulary.node.rows);
    p->edge = tr_rows_pairs(t->data.vocabulary.edge.rows);
    p->size = p->node + p->edge + t->layout.step_size;
    assert_int_equal(tr_pass_set_grids(t, NULL), TRELLIS_OK); // without it threads would matter
    return p;
}

/* ---- what can be chosen ---------------------------------------------------------------------- */

static inline void add_entry(struct problem *p, size_t feature, double value)
{
    assert_true(tr_push(&p->entries, (struct entry){feature, value}));
}

/* The features of the attributes of a token with an outcome. */
static inline void add_attributes(struct problem *p, const struct tr_rows *rows, size_t base,
                                  const struct tr_occurrences *occurrences, size_t token,
                                  uint32_t outcome)
{
    for (uint32_t k = occurrences->begin.at[token]; k < occurrences->begin.at[token + 1]; k++) {
        uint32_t a = occurrences->attribute.at[k];
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            if (rows->outcome[i] == outcome) {
                add_entry(p, base + i,
                          occurrences->value.size ? (double)occurrences->value.at[k] : 1);
            }
        }
    }
}

/* The grams that end at a place of the sequence as written out; false where the step is
 * forbidden. */
static inline bool add_grams(struct problem *p, const uint16_t *written, size_t place)
{
    const struct tr_graph_plan *plan = &p->training.layout.plan;
    for (size_t g = 0; g < plan->gram_count; g++) {
        size_t length = plan->grams[g].length;
        if (length <= place + 1 && memcmp(written + place + 1 - length, plan->grams[g].label,
                                          length * sizeof *written) == 0) {
            add_entry(p, p->node + p->edge + g, 1);
        }
    }
    return plan->forbidden_count == 0 || !is_forbidden(written[place - 1], written[place]);
}

/* What the label at i adds to Phi, the end with the last; false where it must not stand there. */
static inline bool add_label(struct problem *p, size_t first, const uint16_t *labels, size_t n,
                             size_t i)
{
    const struct tr_training *t = &p->training;
    uint16_t written[LONGEST + 2] = {LABELS}; // the start, the labels, the end
    memcpy(written + 1, labels, n * sizeof *labels);
    written[n + 1] = LABELS + 1;
    add_attributes(p, t->data.vocabulary.node.rows, 0, &t->data.train.node, first + i, labels[i]);
    if (i > 0) {
        add_attributes(p, t->data.vocabulary.edge.rows, p->node, &t->data.train.edge, first + i,
                       labels[i - 1] * tr_row_width(LABELS) + labels[i]);
    }
    uint32_t entry = t->data.train.entry.size ? t->data.train.entry.at[first + i] : TR_NONE;
    bool allowed = add_grams(p, written, i + 1);
    if (i + 1 == n) {
        allowed = add_grams(p, written, n + 1) && allowed;
    }
    return allowed && (entry == TR_NONE ||
                       tr_tag_dictionary_allows(&t->data.tag_dictionary, entry, labels[i]));
}

/* Whether a label agrees with what is known of a token. */
static inline bool is_known(const struct tr_dataset *data, size_t token, uint16_t label)
{
    const uint16_t *open;
    size_t count = tr_dataset_open(data, token, &open);
    bool among = count == 0;
    for (size_t k = 0; k < count; k++) {
        among = among || open[k] == label;
    }
    return among;
}

/* The labels from .. to-1 as an alternative of the choice at hand, where they are allowed. */
static inline void add_alternative(struct problem *p, size_t first, const uint16_t *labels,
                                   size_t n, size_t from, size_t to)
{
    struct alternative alternative = {.begin = p->entries.size, .agrees = true};
    bool allowed = true;
    for (size_t i = from; i < to; i++) {
        allowed = add_label(p, first, labels, n, i) && allowed;
        alternative.loss += p->training.loss
                                ? costs[p->training.data.train.gold.at[first + i]][labels[i]]
                                : 0;
        alternative.agrees = alternative.agrees &&
                             is_known(&p->training.data.train, first + i, labels[i]);
    }
    alternative.end = p->entries.size;
    if (allowed) {
        assert_true(tr_push(&p->alternatives, alternative));
    } else {
        p->entries.size = alternative.begin;
    }
}

static inline bool next_labels(uint16_t *labels, size_t n)
{
    for (size_t i = n; i-- > 0; labels[i] = 0) {
        if (++labels[i] < LABELS) {
            return true;
        }
    }
    return false;
}

/* All choices of the corpus. */
static inline void write_out(struct problem *p)
{
    const struct tr_dataset *data = &p->training.data.train;
    for (size_t s = 0; s < data->sequences; s++) {
        size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
        struct choice choice = {.weight = data->weight.size ? (double)data->weight.at[s] : 1};
        for (size_t i = 0; i < (tr_training_can(&p->training, TR_LOCAL) ? n : 1); i++) {
            uint16_t labels[LONGEST] = {0};
            choice.begin = p->alternatives.size;
            if (tr_training_can(&p->training, TR_LOCAL)) {
                memcpy(labels, data->gold.at + first, n * sizeof *labels);
                for (labels[i] = 0; labels[i] < LABELS; labels[i]++) {
                    add_alternative(p, first, labels, n, i, i + 1);
                }
            } else {
                do {
                    add_alternative(p, first, labels, n, 0, n);
                } while (next_labels(labels, n));
            }
            choice.end = p->alternatives.size;
            assert_true(tr_push(&p->choices, choice));
        }
    }
}

/* ---- the judge ------------------------------------------------------------------------------- */

/* w . Phi, and the loss */
static inline double dot(const struct problem *p, size_t alternative, const double *w)
{
    const struct alternative *a = &p->alternatives.at[alternative];
    double sum = a->loss;
    for (size_t k = a->begin; k < a->end; k++) {
        sum += p->entries.at[k].value * w[p->entries.at[k].feature];
    }
    return sum;
}

/* log sum exp(w . Phi) over all alternatives, or those that agree; adds amount * E[Phi] to the
 * gradient. */
static inline double judge_choice(const struct problem *p, const struct choice *choice, bool agree,
                                  const double *w, double amount, double *gradient)
{
    double largest = -INFINITY, sum = 0;
    for (size_t z = choice->begin; z < choice->end; z++) {
        largest = !agree || p->alternatives.at[z].agrees ? fmax(largest, dot(p, z, w)) : largest;
    }
    for (size_t z = choice->begin; z < choice->end; z++) {
        sum += !agree || p->alternatives.at[z].agrees ? exp(dot(p, z, w) - largest) : 0;
    }
    assert_true(isfinite(largest) && sum > 0);
    for (size_t z = choice->begin; gradient && z < choice->end; z++) {
        const struct alternative *a = &p->alternatives.at[z];
        double share = !agree || a->agrees ? amount * exp(dot(p, z, w) - largest) / sum : 0;
        for (size_t k = a->begin; k < a->end; k++) {
            gradient[p->entries.at[k].feature] += share * p->entries.at[k].value;
        }
    }
    return largest + log(sum);
}

/* f(w) and, unless it is NULL, its gradient. */
static inline double judge(const struct problem *p, double l2, const double *w, double *gradient)
{
    double value = 0;
    for (size_t j = 0; j < p->size; j++) {
        value += l2 * w[j] * w[j];
        if (gradient) {
            gradient[j] = 2 * l2 * w[j];
        }
    }
    for (size_t k = 0; k < p->choices.size; k++) {
        const struct choice *choice = &p->choices.at[k];
        double all = judge_choice(p, choice, false, w, choice->weight, gradient);
        double known = judge_choice(p, choice, true, w, -choice->weight, gradient);
        value += choice->weight * (all - known);
    }
    return value;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Multiples of 1/16 in [-size, size]. */
static inline void draw_weights(struct tr_random *random, double size, double *w, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        w[j] = floor((2 * tr_random_real(random) - 1) * size * 16) / 16;
    }
}

static inline double largest_of(const double *numbers, size_t count)
{
    double largest = 0;
    for (size_t j = 0; j < count; j++) {
        largest = fmax(largest, fabs(numbers[j]));
    }
    return largest;
}

/* f and its gradient as the library has them, by as many threads. */
static inline double evaluate(struct problem *p, unsigned threads, double l2, const double *w,
                              double *gradient)
{
    struct tr_likelihood *likelihood;
    trellis_error error = {0};
    double value;
    assert_ok(tr_pool_create(threads, &p->training.pool, &error), error);
    assert_ok(tr_likelihood_create(&p->training, &likelihood, &error), error);
    assert_int_equal(likelihood->size, p->size);
    if (p->bundled) {
        assert_ok(tr_likelihood_bundle(likelihood, true, NULL, NULL, &error), error);
        p->bundles = likelihood->bundles ? likelihood->bundles->count : 0;
    }
    struct tr_crf_objective objective = {likelihood, l2};
    for (int twice = 0; twice < 2; twice++) { // what the first call leaves behind must not be seen
        memset(gradient, 0x55, p->size * sizeof *gradient);
        assert_ok(tr_crf_evaluate(&objective, w, gradient, &value, &error), error);
    }
    tr_likelihood_destroy(likelihood);
    tr_pool_destroy(p->training.pool);
    p->training.pool = NULL;
    return value;
}

/* Value and gradient against the judge's, with random weights up to a size. */
static inline void compare_once(struct problem *p, const char *name, double size, double l2)
{
    double *w = tr_alloc(p->size, sizeof *w);
    double *wanted = tr_alloc(p->size, sizeof *w), *got = tr_alloc(p->size, sizeof *w);
    assert_true(w && wanted && got);
    draw_weights(&p->training.random, size, w, p->size);
    double value = judge(p, l2, w, wanted), found = evaluate(p, 1, l2, w, got);
    double largest = largest_of(wanted, p->size);
    if (!(fabs(found - value) <= 1e-5 * fabs(value) + 1e-6)) {
        fail_msg("%s, weights to %g: f is %.9g and should be %.9g", name, size, found, value);
    }
    for (size_t j = 0; j < p->size; j++) {
        if (!(fabs(got[j] - wanted[j]) <= 1e-4 * largest)) {
            fail_msg(
                "%s, weights to %g: df/dw[%zu] is %.9g and should be %.9g (%zu node, %zu edge)",
                name, size, j, got[j], wanted[j], p->node, p->edge);
        }
    }
    free(w);
    free(wanted);
    free(got);
}

/* Without bundles, and with them. */
static inline void compare(struct problem *p, const char *name, double size, double l2)
{
    for (int bundled = 0; bundled < 2; bundled++) {
        p->bundled = bundled;
        compare_once(p, name, size, l2);
    }
    p->bundled = false;
}

/* Value and gradient by one thread and by several, to the last bit. */
static inline void compare_threads(struct problem *p)
{
    static const unsigned threads[] = {2, 3, 8};
    double *w = tr_alloc(p->size, sizeof *w);
    double *one = tr_alloc(p->size, sizeof *w), *many = tr_alloc(p->size, sizeof *w);
    assert_true(w && one && many);
    draw_weights(&p->training.random, 2, w, p->size);
    double value = evaluate(p, 1, 0.1, w, one);
    for (size_t i = 0; i < TR_COUNT(threads); i++) {
        double other = evaluate(p, threads[i], 0.1, w, many);
        assert_memory_equal(&other, &value, sizeof value);
        assert_memory_equal(many, one, p->size * sizeof *one);
    }
    free(w);
    free(one);
    free(many);
}

/* The judge's gradient against central differences of the judge's value, for some features. */
static inline void judge_the_judge(struct problem *p, const char *name)
{
    const double h = 1e-4;
    double *w = tr_alloc(p->size, sizeof *w), *gradient = tr_alloc(p->size, sizeof *w);
    assert_true(w && gradient);
    draw_weights(&p->training.random, 1, w, p->size);
    judge(p, 0.5, w, gradient);
    double largest = largest_of(gradient, p->size);
    for (size_t j = 0; j < p->size; j += 1 + p->size / 25) {
        double kept = w[j];
        w[j] = kept + h;
        double above = judge(p, 0.5, w, NULL);
        w[j] = kept - h;
        double below = judge(p, 0.5, w, NULL);
        w[j] = kept;
        if (!(fabs((above - below) / (2 * h) - gradient[j]) <= 1e-6 * largest)) {
            fail_msg("%s: the reference is wrong in feature %zu", name, j);
        }
    }
    free(w);
    free(gradient);
}

#endif

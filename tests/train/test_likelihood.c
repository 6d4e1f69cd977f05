/* test_likelihood.c - the objective of a CRF against all label sequences, one by one.
 *
 * The judge writes out Phi(X, Z) for every Z of every short sentence and sums in double precision:
 *
 *     f(w)  = sum_s weight_s (log sum_Z exp(w . Phi(X_s, Z)) - w . Phi(X_s, Z_s)) + l2 |w|^2
 *     df/dw = sum_s weight_s (sum_Z P(Z | X_s) Phi(X_s, Z) - Phi(X_s, Z_s)) + 2 l2 w
 *
 * It knows the dataset and the plan of the graph, not the graph. Weights and values are multiples of
 * small powers of 2, so that what the kernels round is their own sums and not their input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "train/objective.h"

enum kind {
    ORDER_0,
    ORDER_1,
    FREE_STEPS,
    ORDER_2,
    ORDER_3,
    OBSERVED_2,
    OBSERVED_3,
    COUNTED,
    KINDS
};

static const char *const kind_name[KINDS] = {"order 0", "order 1",    "free steps", "order 2",
                                             "order 3", "observed 2", "observed 3", "counted"};

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

enum { LABELS = 3, WORDS = 4, LONGEST = 5, MOST_GRAMS = 512, COUNT_CAP = 3 };

/* No sentence has these steps, so that they can be forbidden: B to A, the start to C, B to the end. */
static const uint16_t forbidden[][2] = {{1, 0}, {LABELS, 2}, {1, LABELS + 1}};

/* One entry of Phi(X, Z), and the entries of one Z. */
struct entry {
    size_t feature;
    double value;
};
struct path {
    size_t begin, end; // of its entries
};

struct problem {
    struct tr_training training;
    trellis_options *options;
    struct tr_gram grams[MOST_GRAMS];
    size_t node, edge, size; // features
    TR_ARRAY(struct entry) entries;
    TR_ARRAY(struct path) paths;
    TR_ARRAY(size_t) first; // [sequences + 1] path of each sequence
    TR_ARRAY(size_t) gold;  // [sequences] the path of its own labels
};

static void check(trellis_status status, const trellis_error *error)
{
    if (status) {
        fail_msg("%s", error->message);
    }
}

/* ---- a corpus ------------------------------------------------------------------------------------ */

static bool is_forbidden(uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < TR_COUNT(forbidden); i++) {
        if (forbidden[i][0] == from && forbidden[i][1] == to) {
            return true;
        }
    }
    return false;
}

/* Labels are numbered as they come, so the first sentence brings A, B and C in that order. */
static void draw_labels(struct tr_random *random, size_t sentence, uint16_t *labels, size_t n)
{
    bool fine = sentence == 0;
    for (size_t i = 0; i < n; i++) {
        labels[i] = (uint16_t)(i * LABELS / n);
    }
    while (!fine) {
        uint32_t before = LABELS;
        fine = true;
        for (size_t i = 0; i < n; i++) {
            labels[i] = (uint16_t)tr_random_below(random, LABELS);
            fine = fine && !is_forbidden(before, labels[i]);
            before = labels[i];
        }
        fine = fine && !is_forbidden(before, LABELS + 1);
    }
}

static void write_array(FILE *file, const char *name, const char *texts, size_t n)
{
    fprintf(file, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        fprintf(file, "%s\"%s\"", i ? "," : "", texts + 8 * i);
    }
    fputc(']', file);
}

/* Random sentences with a real column x; with `weights` they count differently, one of them not at
 * all. */
static void write_corpus(const char *path, struct tr_random *random, size_t sequences, bool weights)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t s = 0; s < sequences; s++) {
        size_t n = s == 0 ? LONGEST : 1 + tr_random_below(random, LONGEST);
        uint16_t labels[LONGEST];
        char word[LONGEST][8], x[LONGEST][8], label[LONGEST][8];
        draw_labels(random, s, labels, n);
        for (size_t i = 0; i < n; i++) {
            snprintf(word[i], 8, "w%u", (unsigned)tr_random_below(random, WORDS));
            snprintf(x[i], 8, "%.2f", 0.25 * ((double)tr_random_below(random, 17) - 8));
            snprintf(label[i], 8, "%c", 'A' + labels[i]);
        }
        fprintf(file, "{\"weight\":%g",
                weights ? 0.25 * (double)(s == 1 ? 0 : 1 + tr_random_below(random, 9)) : 1.0);
        write_array(file, "tokens", word[0], n);
        write_array(file, "x", x[0], n);
        write_array(file, "labels", label[0], n);
        fputs("}\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

/* ---- a training ---------------------------------------------------------------------------------- */

static void add_gram(struct problem *p, struct tr_gram gram)
{
    for (size_t i = 0; i < p->training.plan.gram_count; i++) {
        if (memcmp(&p->grams[i], &gram, sizeof gram) == 0) {
            return;
        }
    }
    assert_true(p->training.plan.gram_count < MOST_GRAMS);
    p->grams[p->training.plan.gram_count++] = gram;
}

/* The grams of the corpus, label priors where asked for, and for counted states c c d and c c c d. */
static void make_grams(struct problem *p, enum kind kind, bool priors)
{
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    size_t count;
    check(tr_dataset_grams(&t->data, &t->plan, tr_features_steps(t->features), kind != FREE_STEPS,
                           &t->grams, &count, &error),
          &error);
    for (size_t i = 0; i < count; i++) {
        add_gram(p, t->grams[i]);
    }
    for (uint16_t c = 0; c < LABELS; c++) {
        if (priors) {
            add_gram(p, (struct tr_gram){1, {c}});
        }
        for (uint16_t d = 0; kind == COUNTED && d < LABELS + 2; d++) {
            if (d != LABELS) {
                add_gram(p, (struct tr_gram){3, {c, c, d}});
                add_gram(p, (struct tr_gram){4, {c, c, c, d}});
            }
        }
    }
    t->plan.grams = p->grams;
}

static void make_graph(struct problem *p, enum kind kind, bool forbid, bool priors)
{
    static const uint32_t order[KINDS] = {0, 1, 1, 2, 3, 2, 3, 1};
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    t->plan = (struct tr_graph_plan){.labels = LABELS,
                                     .order = order[kind],
                                     .count_cap = kind == COUNTED ? COUNT_CAP : 0,
                                     .observed_states = kind == OBSERVED_2 || kind == OBSERVED_3,
                                     .forbidden = forbidden,
                                     .forbidden_count = forbid ? TR_COUNT(forbidden) : 0};
    make_grams(p, kind, priors);
    enum tr_listing listing = kind == FREE_STEPS ? TR_LIST_FREE : TR_LIST_BY_SIZE;
    check(tr_graph_create_listing(&t->plan, listing, &t->graph, &error), &error);
    assert_int_equal(t->graph->free_steps, kind == FREE_STEPS || t->graph->step_count == 0);
    t->kernels = priors ? tr_row_kernels() : &tr_row_kernels_baseline;
    t->node_size = (t->vocabulary.node.rows->size + 15) / 16 * 16; // rows begin at whole vectors
    t->edge_size = (t->vocabulary.edge.rows->size + 15) / 16 * 16;
    t->step_size = t->plan.gram_count;
    t->size = t->node_size + t->edge_size + t->step_size;
    p->node = tr_rows_pairs(t->vocabulary.node.rows);
    p->edge = tr_rows_pairs(t->vocabulary.edge.rows);
    p->size = p->node + p->edge + t->step_size;
}

static void make_data(struct problem *p, const char *text, size_t sequences, bool weights,
                      bool all_features, unsigned seed)
{
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    const char *folder = getenv("TRELLIS_TMP");
    char path[400];
    snprintf(path, sizeof path, "%s/likelihood-%d.jsonl", folder ? folder : "/tmp", (int)getpid());
    tr_random_seed(&t->random, seed);
    write_corpus(path, &t->random, sequences, weights);
    check(trellis_options_create(&p->options, &error), &error);
    t->options = p->options;
    check(tr_features_parse(tr_text(text), "test", &t->features, &error), &error);
    struct tr_dataset_source source = {.options = p->options,
                                       .features = t->features,
                                       .from = TRELLIS_NO_SCHEME,
                                       .to = TRELLIS_NO_SCHEME};
    check(tr_dataset_read(&t->data, &t->vocabulary, NULL, &source, path, &error), &error);
    struct tr_arrangement arrangement = {.min_count = 1, .all_features = all_features};
    check(tr_dataset_arrange(&t->data, &t->vocabulary, &arrangement, &error), &error);
    assert_int_equal(t->data.label_count, LABELS);
    unlink(path);
}

static void problem_free(struct problem *p)
{
    struct tr_training *t = &p->training;
    tr_pool_destroy(t->pool);
    tr_graph_destroy(t->graph);
    free(t->grams);
    tr_dataset_free(&t->data);
    tr_vocabulary_free(&t->vocabulary);
    trellis_features_destroy(t->features);
    trellis_options_destroy(p->options);
    free(p->entries.at);
    free(p->paths.at);
    free(p->first.at);
    free(p->gold.at);
    free(p);
}

/* ---- the judge ----------------------------------------------------------------------------------- */

static void add_entry(struct problem *p, size_t feature, double value)
{
    assert_true(tr_push(&p->entries, (struct entry){feature, value}));
}

/* The features of the attributes of a token with an outcome. */
static void add_attributes(struct problem *p, const struct tr_rows *rows, size_t base,
                           const struct tr_occurrences *occurrences, size_t token, uint32_t outcome)
{
    for (uint32_t k = occurrences->begin.at[token]; k < occurrences->begin.at[token + 1]; k++) {
        uint32_t a = occurrences->attribute.at[k];
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            if (rows->outcome[i] == outcome) {
                double value = occurrences->value.size ? (double)occurrences->value.at[k] : 1;
                add_entry(p, base + i, value);
            }
        }
    }
}

/* Phi(X, Z) as entries; false where Z is forbidden. */
static bool write_out(struct problem *p, size_t first, const uint16_t *labels, size_t n)
{
    const struct tr_training *t = &p->training;
    const struct tr_graph_plan *plan = &t->plan;
    uint16_t written[LONGEST + 2] = {LABELS}; // the start, the labels, the end
    memcpy(written + 1, labels, n * sizeof *labels);
    written[n + 1] = LABELS + 1;
    for (size_t i = 0; plan->forbidden_count && i <= n; i++) {
        if (is_forbidden(written[i], written[i + 1])) {
            return false;
        }
    }
    uint32_t width = tr_row_width(LABELS);
    for (size_t i = 0; i < n; i++) {
        add_attributes(p, t->vocabulary.node.rows, 0, &t->data.node, first + i, labels[i]);
        if (i > 0) {
            add_attributes(p, t->vocabulary.edge.rows, p->node, &t->data.edge, first + i,
                           labels[i - 1] * width + labels[i]);
        }
    }
    for (size_t g = 0; g < plan->gram_count; g++) {
        size_t length = plan->grams[g].length;
        for (size_t i = 0; i + length <= n + 2; i++) {
            if (memcmp(written + i, plan->grams[g].label, length * sizeof *written) == 0) {
                add_entry(p, p->node + p->edge + g, 1);
            }
        }
    }
    return true;
}

static bool next_labels(uint16_t *labels, size_t n)
{
    for (size_t i = n; i-- > 0; labels[i] = 0) {
        if (++labels[i] < LABELS) {
            return true;
        }
    }
    return false;
}

static void write_out_all(struct problem *p)
{
    const struct tr_dataset *data = &p->training.data;
    for (size_t s = 0; s < data->sequences; s++) {
        size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
        uint16_t labels[LONGEST] = {0};
        assert_true(tr_push(&p->first, p->paths.size));
        do {
            struct path path = {p->entries.size, 0};
            bool allowed = write_out(p, first, labels, n);
            path.end = p->entries.size;
            if (memcmp(labels, data->gold.at + first, n * sizeof *labels) == 0) {
                assert_true(allowed && tr_push(&p->gold, p->paths.size));
            }
            assert_true(!allowed || tr_push(&p->paths, path));
        } while (next_labels(labels, n));
    }
    assert_true(tr_push(&p->first, p->paths.size));
    assert_int_equal(p->gold.size, data->sequences);
}

static double dot(const struct problem *p, size_t path, const double *w)
{
    double sum = 0;
    for (size_t k = p->paths.at[path].begin; k < p->paths.at[path].end; k++) {
        sum += p->entries.at[k].value * w[p->entries.at[k].feature];
    }
    return sum;
}

static void add_path(const struct problem *p, size_t path, double amount, double *gradient)
{
    for (size_t k = p->paths.at[path].begin; k < p->paths.at[path].end; k++) {
        gradient[p->entries.at[k].feature] += amount * p->entries.at[k].value;
    }
}

/* f(w) and, unless it is NULL, its gradient. */
static double judge(const struct problem *p, double l2, const double *w, double *gradient)
{
    const struct tr_dataset *data = &p->training.data;
    double value = 0;
    for (size_t j = 0; j < p->size; j++) {
        value += l2 * w[j] * w[j];
        if (gradient) {
            gradient[j] = 2 * l2 * w[j];
        }
    }
    for (size_t s = 0; s < data->sequences; s++) {
        double weight = data->weight.size ? (double)data->weight.at[s] : 1;
        double most = -INFINITY, sum = 0;
        for (size_t z = p->first.at[s]; z < p->first.at[s + 1]; z++) {
            most = fmax(most, dot(p, z, w));
        }
        for (size_t z = p->first.at[s]; z < p->first.at[s + 1]; z++) {
            sum += exp(dot(p, z, w) - most);
        }
        double log_z = most + log(sum);
        value += weight * (log_z - dot(p, p->gold.at[s], w));
        for (size_t z = p->first.at[s]; gradient && z < p->first.at[s + 1]; z++) {
            add_path(p, z, weight * exp(dot(p, z, w) - log_z), gradient);
        }
        if (gradient) {
            add_path(p, p->gold.at[s], -weight, gradient);
        }
    }
    return value;
}

/* ---- comparing ----------------------------------------------------------------------------------- */

/* Multiples of 1/16 in [-size, size]. */
static void draw_weights(struct tr_random *random, double size, double *w, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        w[j] = floor((2 * tr_random_real(random) - 1) * size * 16) / 16;
    }
}

static double most_of(const double *numbers, size_t count)
{
    double most = 0;
    for (size_t j = 0; j < count; j++) {
        most = fmax(most, fabs(numbers[j]));
    }
    return most;
}

/* f and its gradient by as many threads. */
static double evaluate(struct problem *p, unsigned threads, double l2, const double *w,
                       double *gradient)
{
    struct tr_likelihood *likelihood;
    trellis_error error = {0};
    double value;
    check(tr_pool_create(threads, &p->training.pool, &error), &error);
    check(tr_likelihood_create(&p->training, l2, &likelihood, &error), &error);
    assert_int_equal(tr_likelihood_size(likelihood), p->size);
    for (int twice = 0; twice < 2; twice++) { // what the first call leaves behind must not be seen
        memset(gradient, 0x55, p->size * sizeof *gradient);
        check(tr_likelihood_evaluate(likelihood, w, gradient, &value, &error), &error);
    }
    tr_likelihood_destroy(likelihood);
    tr_pool_destroy(p->training.pool);
    p->training.pool = NULL;
    return value;
}

static void compare(struct problem *p, const char *name, double size, double l2)
{
    double *w = tr_alloc(p->size, sizeof *w);
    double *wanted = tr_alloc(p->size, sizeof *w), *got = tr_alloc(p->size, sizeof *w);
    assert_true(w && wanted && got);
    draw_weights(&p->training.random, size, w, p->size);
    double value = judge(p, l2, w, wanted), found = evaluate(p, 1, l2, w, got);
    double most = most_of(wanted, p->size);
    if (!(fabs(found - value) <= 1e-5 * fabs(value))) {
        fail_msg("%s, weights to %g: f is %.9g and should be %.9g", name, size, found, value);
    }
    for (size_t j = 0; j < p->size; j++) {
        if (!(fabs(got[j] - wanted[j]) <= 1e-4 * most)) {
            fail_msg(
                "%s, weights to %g: df/dw[%zu] is %.9g and should be %.9g (%zu node, %zu edge)",
                name, size, j, got[j], wanted[j], p->node, p->edge);
        }
    }
    free(w);
    free(wanted);
    free(got);
}

/* The judge's gradient against central differences of the judge's value, for some features. */
static void judge_the_judge(struct problem *p, const char *name)
{
    const double h = 1e-4;
    double *w = tr_alloc(p->size, sizeof *w), *gradient = tr_alloc(p->size, sizeof *w);
    assert_true(w && gradient);
    draw_weights(&p->training.random, 1, w, p->size);
    judge(p, 0.5, w, gradient);
    double most = most_of(gradient, p->size);
    for (size_t j = 0; j < p->size; j += 1 + p->size / 25) {
        double kept = w[j];
        w[j] = kept + h;
        double above = judge(p, 0.5, w, NULL);
        w[j] = kept - h;
        double below = judge(p, 0.5, w, NULL);
        w[j] = kept;
        if (!(fabs((above - below) / (2 * h) - gradient[j]) <= 1e-6 * most)) {
            fail_msg("%s: the judge errs in feature %zu", name, j);
        }
    }
    free(w);
    free(gradient);
}

static struct problem *make_problem(enum kind kind, size_t variant, size_t sequences)
{
    struct problem *p = tr_alloc(1, sizeof *p);
    assert_non_null(p);
    unsigned seed = (unsigned)(1 + 100 * variant + kind);
    make_data(p, templates[variant % TR_COUNT(templates)], sequences, variant & 1, variant & 2,
              seed);
    make_graph(p, kind, variant & 4, variant & 1 || kind == ORDER_0);
    return p;
}

/* ---- tests --------------------------------------------------------------------------------------- */

/* All kinds of graph by all kinds of features, with small weights and with such that single precision
 * must give up. */
static void test_value_and_gradient(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (size_t variant = 0; variant < 8; variant++) {
            char name[80];
            snprintf(name, sizeof name, "%s, variant %zu", kind_name[kind], variant);
            struct problem *p = make_problem((enum kind)kind, variant, 20);
            write_out_all(p);
            if (variant < TR_COUNT(templates)) {
                judge_the_judge(p, name);
            }
            compare(p, name, 0, 0);
            compare(p, name, 1, 0);
            compare(p, name, 2, 0.75);
            compare(p, name, 30, 0);
            compare(p, name, 300, 0.01);
            problem_free(p);
        }
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static const unsigned threads[] = {2, 3, 8};
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct problem *p = make_problem((enum kind)kind, 5, 150);
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
        problem_free(p);
    }
}

/* Features to weights and back. */
static void test_spread_and_gather(void **state)
{
    (void)state;
    struct problem *p = make_problem(ORDER_2, 2, 20);
    struct tr_likelihood *likelihood;
    trellis_error error = {0};
    check(tr_pool_create(1, &p->training.pool, &error), &error);
    check(tr_likelihood_create(&p->training, 0, &likelihood, &error), &error);
    double *w = tr_alloc(p->size, sizeof *w), *back = tr_alloc(p->size, sizeof *w);
    float *weights = tr_alloc_aligned(p->training.size, sizeof *weights);
    assert_true(w && back && weights);
    draw_weights(&p->training.random, 3, w, p->size);
    tr_likelihood_spread(likelihood, w, weights);
    tr_likelihood_gather(likelihood, weights, back);
    assert_memory_equal(w, back, p->size * sizeof *w);
    free(w);
    free(back);
    free(weights);
    tr_likelihood_destroy(likelihood);
    problem_free(p);
}

/* Gold labels that the graph forbids cannot be learned: the value says so, and nothing crashes. */
static void test_forbidden_gold(void **state)
{
    (void)state;
    static const uint16_t all[][2] = {{LABELS, 0}, {LABELS, 1}};
    struct problem *p = make_problem(ORDER_1, 0, 20);
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    tr_graph_destroy(t->graph);
    t->plan.forbidden = all;
    t->plan.forbidden_count = TR_COUNT(all);
    check(tr_graph_create(&t->plan, &t->graph, &error), &error);
    double *w = tr_alloc(p->size, sizeof *w), *gradient = tr_alloc(p->size, sizeof *w);
    assert_true(w && gradient);
    assert_true(isinf(evaluate(p, 1, 0, w, gradient)));
    free(w);
    free(gradient);
    problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_and_gradient),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_spread_and_gather),
        cmocka_unit_test(test_forbidden_gold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

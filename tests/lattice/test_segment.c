/* test_segment.c - segment lattices against all segmentations of tiny random sequences.
 *
 * The judge cuts a sequence into segments one by one, writes their labels and adds up scores by
 * their definition; it knows nothing of cells, arcs and sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "graph/constraint.h"
#include "lattice/lattice_internal.h"

enum { MAX_N = 6, MAX_LABELS = 11, MAX_LENGTH = 4, MAX_GRAMS = 160, MAX_PATHS = 200000 };

static const char *const iob2[] = {"O", "B-X", "I-X", "B-Y", "I-Y"};
static const char *const iobes[] = {"O", "S-X", "B-X", "I-X", "E-X", "S-Y", "B-Y", "E-Y"};
static const char *const single[] = {"B-X", "O", "B-Y", "I-Y"};
static const char *const plain[] = {"N", "V", "D"};
/* More types than the kernels take at once. */
static const char *const five[] = {"O",   "B-A", "I-A", "B-B", "I-B", "B-C",
                                   "I-C", "B-D", "I-D", "B-E", "I-E"};
static const struct {
    const char *const *labels;
    uint32_t count;
} sets[] = {{iob2, 5}, {iobes, 8}, {single, 4}, {plain, 3}, {five, 11}};

struct trial {
    unsigned seed;
    uint32_t labels;
    size_t n;
    trellis_text label[MAX_LABELS];
    uint32_t lengths[MAX_LABELS];
    bool with_edges, with_segments;
    float node[MAX_N][MAX_LABELS];
    float edge[MAX_N][MAX_LABELS][MAX_LABELS];
    float segment[MAX_N][MAX_LENGTH][MAX_LABELS]; // [i][d - 1][type]
    struct tr_gram grams[MAX_GRAMS];
    float weights[MAX_GRAMS];
    struct tr_graph_plan plan;
    uint16_t (*forbidden)[2];
    struct tr_segments *segments;
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
};

struct path {
    uint16_t labels[MAX_N];
    double score;
    struct {
        size_t i, d;
        uint16_t t;
    } segment[MAX_N];
    size_t segments;
};

static struct path *paths; // of the trial at hand
static size_t path_count;

#define expect(trial, condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %u: ", (trial)->seed);                                               \
            print_error(__VA_ARGS__);                                                              \
            print_error("\n");                                                                     \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- the judge ------------------------------------------------------------------------------- */

static double gram_score(const struct trial *trial, uint16_t a, uint16_t b)
{
    double score = 0;
    for (size_t g = 0; g < trial->plan.gram_count; g++) {
        const struct tr_gram *gram = &trial->grams[g];
        bool pair = gram->length == 2 && gram->label[0] == a && gram->label[1] == b;
        bool alone = gram->length == 1 && gram->label[0] == b;
        score += pair || alone ? (double)trial->weights[g] : 0;
    }
    return score;
}

static void finish(const struct trial *trial, struct path path)
{
    uint16_t before = (uint16_t)trial->labels;
    path.score = 0;
    for (size_t i = 0; i < trial->n; i++) {
        uint16_t c = path.labels[i];
        path.score += gram_score(trial, before, c) + (double)trial->node[i][c];
        path.score += i > 0 && trial->with_edges ? (double)trial->edge[i][before][c] : 0;
        before = c;
    }
    path.score += gram_score(trial, before, (uint16_t)(trial->labels + 1));
    for (size_t k = 0; k < path.segments; k++) {
        uint16_t t = path.segment[k].t;
        if (trial->with_segments && path.segment[k].d <= trial->lengths[t]) {
            path.score += (double)trial->segment[path.segment[k].i][path.segment[k].d - 1][t];
        }
    }
    if (path.score > -INFINITY) {
        assert_true(path_count < MAX_PATHS);
        paths[path_count++] = path;
    }
}

static uint16_t find(const struct trial *trial, char letter, trellis_text type)
{
    for (uint16_t c = 0; c < trial->labels; c++) {
        trellis_text label = trial->label[c];
        if (label.size > 2 && label.data[1] == '-' && label.data[0] == letter &&
            label.data[2] == type.data[2]) {
            return c;
        }
    }
    return TR_NO_LABEL;
}

/* All ways to cut the tokens from `at` on. */
static void cut(const struct trial *trial, size_t at, struct path path)
{
    bool closed = trial->labels == 8;
    if (at == trial->n) {
        finish(trial, path);
        return;
    }
    for (uint16_t c = 0; c < trial->labels; c++) {
        if (trial->label[c].size == 1) {
            path.labels[at] = c;
            cut(trial, at + 1, path);
        }
    }
    for (uint16_t t = 0; t < trial->segments->types; t++) {
        trellis_text type = trial->label[trial->segments->type[t].head];
        for (size_t d = 1; at + d <= trial->n; d++) {
            struct path longer = path;
            bool possible = true;
            for (size_t k = 0; k < d; k++) {
                char letter = closed && d == 1       ? 'S'
                              : k == 0               ? 'B'
                              : closed && k + 1 == d ? 'E'
                                                     : 'I';
                longer.labels[at + k] = find(trial, letter, type);
                possible = possible && longer.labels[at + k] != TR_NO_LABEL;
            }
            if (possible) {
                longer.segment[longer.segments].i = at + d - 1;
                longer.segment[longer.segments].d = d;
                longer.segment[longer.segments++].t = t;
                cut(trial, at + d, longer);
            }
        }
    }
}

static int by_score(const void *a, const void *b)
{
    double x = ((const struct path *)a)->score, y = ((const struct path *)b)->score;
    return (x < y) - (x > y);
}

static double judge_log_z(void)
{
    double sum = 0;
    for (size_t p = 0; p < path_count; p++) {
        sum += exp(paths[p].score - paths[0].score);
    }
    return paths[0].score + log(sum);
}

/* ---- random sequences ------------------------------------------------------------------------ */

static float random_score(struct tr_random *random, unsigned seed)
{
    static const double size[] = {1, 3, 30, 200};
    double max = size[seed % 4];
    return seed % 7 == 0 ? (float)tr_random_below(random, 3) - 1
                         : (float)(round((2 * tr_random_real(random) - 1) * max * 64) / 64);
}

static void make_grams(struct trial *trial, struct tr_random *random)
{
    uint32_t labels = trial->labels;
    size_t count = 0;
    for (uint16_t a = 0; a <= labels; a++) {
        for (uint16_t b = 0; b <= labels + 1; b++) {
            if (b != labels && !(a == labels && b == labels + 1) &&
                tr_random_below(random, 4) > 0) {
                trial->grams[count++] = (struct tr_gram){2, {a, b}};
            }
        }
    }
    trial->grams[count++] = (struct tr_gram){1, {0}};
    for (size_t g = 0; g < count; g++) {
        trial->weights[g] = random_score(random, trial->seed / 5);
    }
    trial->plan.gram_count = count;
}

static void make_trial(struct trial *trial, unsigned seed, size_t set)
{
    struct tr_random random;
    memset(trial, 0, sizeof *trial);
    tr_random_seed(&random, seed);
    trial->seed = seed;
    trial->labels = sets[set].count;
    for (uint32_t c = 0; c < trial->labels; c++) {
        trial->label[c] = tr_text(sets[set].labels[c]);
    }
    trial->n = 1 + tr_random_below(&random, sets[set].labels == five ? 4 : MAX_N);
    trial->with_edges = seed % 3 == 0;
    trial->with_segments = seed % 5 != 0;
    make_grams(trial, &random);
    assert_int_equal(tr_segments_create(trial->label, trial->labels, &trial->segments, NULL), 0);
    for (uint32_t t = 0; t < trial->segments->types; t++) {
        trial->lengths[t] = 1 + (uint32_t)tr_random_below(&random, MAX_LENGTH);
    }
    assert_true(tr_segments_set_lengths(trial->segments, trial->lengths));
    size_t forbidden;
    assert_int_equal(tr_constraint_steps(sets[set].labels == plain ? "none" : "iob", NULL,
                                         trial->label, trial->labels, &trial->forbidden, &forbidden,
                                         NULL),
                     0);
    trial->plan.labels = trial->labels;
    trial->plan.order = 1;
    trial->plan.grams = trial->grams;
    trial->plan.forbidden = (const uint16_t(*)[2])trial->forbidden;
    trial->plan.forbidden_count = forbidden;
    trial->plan.segments = trial->segments;
    for (size_t i = 0; i < MAX_N; i++) {
        for (uint32_t c = 0; c < MAX_LABELS; c++) {
            bool out = seed % 4 == 1 && tr_random_below(&random, 8) == 0;
            trial->node[i][c] = out ? -INFINITY : random_score(&random, seed);
            for (uint32_t b = 0; b < MAX_LABELS; b++) {
                trial->edge[i][c][b] = random_score(&random, seed / 3);
            }
            for (size_t d = 0; d < MAX_LENGTH; d++) {
                trial->segment[i][d][c] = random_score(&random, seed / 2);
            }
        }
    }
    assert_int_equal(tr_graph_create(&trial->plan, &trial->graph, NULL), 0);
    assert_int_equal(tr_steps_create(trial->graph, NULL, &trial->steps, NULL), 0);
    tr_steps_set(trial->steps, trial->weights);
    assert_int_equal(tr_lattice_create(trial->graph, &trial->lattice, NULL), 0);
}

static void free_trial(struct trial *trial)
{
    tr_lattice_destroy(trial->lattice);
    tr_steps_destroy(trial->steps);
    tr_graph_destroy(trial->graph);
    tr_segments_destroy(trial->segments);
    free(trial->forbidden);
}

static float *segment_row(float *rows, const struct trial *trial, size_t i, size_t d)
{
    return rows + (i * trial->segments->max_length + d - 1) * trial->graph->width;
}

static void fill(struct trial *trial)
{
    uint32_t width = trial->graph->width;
    assert_int_equal(tr_lattice_begin(trial->lattice, trial->n, NULL), 0);
    if (trial->with_edges) {
        assert_true(tr_lattice_make_edges(trial->lattice));
    }
    if (trial->with_segments) {
        assert_true(tr_lattice_make_segments(trial->lattice));
    }
    for (size_t i = 0; i < trial->n; i++) {
        for (uint32_t c = 0; c < width; c++) {
            tr_lattice_nodes(trial->lattice)[i * width + c] = c < trial->labels ? trial->node[i][c]
                                                                                : 1e6f;
        }
        for (uint32_t a = 0; trial->with_edges && a < trial->labels; a++) {
            memcpy(tr_lattice_edges(trial->lattice) + (i * trial->labels + a) * width,
                   trial->edge[i][a], trial->labels * sizeof(float));
        }
        for (size_t d = 1; trial->with_segments && d <= trial->segments->max_length; d++) {
            for (uint32_t t = 0; t < trial->segments->types; t++) {
                segment_row(tr_lattice_segments(trial->lattice), trial, i,
                            d)[trial->segments->type[t].head] = trial->segment[i][d - 1][t];
            }
        }
    }
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static void check_best(struct trial *trial)
{
    enum { M = 7 };
    uint16_t labels[M][MAX_N];
    double scores[M], score;
    size_t count;
    double slack = 1e-9 * (1 + fabs(paths[0].score));
    expect(trial, !tr_lattice_viterbi(trial->lattice, trial->steps, labels[0], &score, NULL),
           "Viterbi fails");
    expect(trial, fabs(score - paths[0].score) <= slack, "best score %.12g, not %.12g", score,
           paths[0].score);
    uint16_t *flat = &labels[0][0];
    expect(trial, !tr_lattice_nbest(trial->lattice, trial->steps, M, flat, scores, &count, NULL),
           "the m best fail");
    expect(trial, count == (path_count < M ? path_count : M), "%zu best paths", count);
    for (size_t r = 0; r < count; r++) {
        expect(trial, fabs(scores[r] - paths[r].score) <= 1e-9 * (1 + fabs(scores[r])),
               "rank %zu scores %.12g, not %.12g", r, scores[r], paths[r].score);
        expect(trial,
               tr_lattice_path_score(trial->lattice, trial->steps, flat + r * trial->n) ==
                   scores[r],
               "rank %zu has another path score", r);
        for (size_t q = 0; q < r; q++) {
            expect(trial, memcmp(flat + r * trial->n, flat + q * trial->n, trial->n * 2) != 0,
                   "ranks %zu and %zu are the same", q, r);
        }
    }
}

static void check_marginals(struct trial *trial, double log_z, double tolerance)
{
    double node[MAX_N][MAX_LABELS] = {{0}}, edge[MAX_N][MAX_LABELS][MAX_LABELS] = {{{0}}};
    double segment[MAX_N][MAX_LENGTH][MAX_LABELS] = {{{0}}};
    uint32_t width = trial->graph->width, labels = trial->labels;
    for (size_t p = 0; p < path_count; p++) {
        double probability = exp(paths[p].score - log_z);
        for (size_t i = 0; i < trial->n; i++) {
            node[i][paths[p].labels[i]] += probability;
            if (i > 0) {
                edge[i][paths[p].labels[i - 1]][paths[p].labels[i]] += probability;
            }
        }
        for (size_t k = 0; k < paths[p].segments; k++) {
            if (paths[p].segment[k].d <= trial->lengths[paths[p].segment[k].t]) {
                segment[paths[p].segment[k].i][paths[p].segment[k].d - 1][paths[p].segment[k].t] +=
                    probability;
            }
        }
    }
    const float *found = tr_lattice_node_marginals(trial->lattice);
    for (size_t i = 0; i < trial->n; i++) {
        for (uint32_t c = 0; c < width; c++) {
            double right = c < labels ? node[i][c] : 0;
            expect(trial, fabs((double)found[i * width + c] - right) <= tolerance,
                   "P(%u at %zu) is %.9g, not %.9g", c, i, (double)found[i * width + c], right);
        }
    }
    float *whole = tr_lattice_segment_marginals(trial->lattice);
    expect(trial, (whole != NULL) == trial->with_segments, "segment marginals");
    for (size_t i = 0; whole && i < trial->n; i++) {
        for (size_t d = 1; d <= trial->segments->max_length; d++) {
            for (uint32_t t = 0; t < trial->segments->types; t++) {
                double p = (double)segment_row(whole, trial, i, d)[trial->segments->type[t].head];
                expect(trial, fabs(p - segment[i][d - 1][t]) <= tolerance,
                       "P(segment %u of %zu at %zu) is %.9g, not %.9g", t, d, i, p,
                       segment[i][d - 1][t]);
            }
        }
    }
    const float *pairs = tr_lattice_edge_marginals(trial->lattice, trial->steps);
    for (size_t i = 0; i < trial->n; i++) {
        for (uint32_t a = 0; a < labels; a++) {
            for (uint32_t b = 0; b < labels; b++) {
                double p = (double)pairs[(i * labels + a) * width + b];
                expect(trial, fabs(p - edge[i][a][b]) <= tolerance,
                       "P(%u %u at %zu) is %.9g, not %.9g", a, b, i, p, edge[i][a][b]);
            }
        }
    }
}

static void check_counts(struct trial *trial, double log_z, double tolerance)
{
    float expected[MAX_GRAMS] = {0};
    assert_true(tr_lattice_collect_steps(trial->lattice, trial->steps, 0.5));
    assert_true(tr_lattice_collect_steps(trial->lattice, trial->steps, 0.25));
    tr_lattice_flush_transition_counts(trial->lattice, trial->steps, expected);
    assert_true(tr_lattice_expect_steps(trial->lattice, trial->steps, -1.75, expected));
    for (size_t g = 0; g < trial->plan.gram_count; g++) {
        const struct tr_gram *gram = &trial->grams[g];
        double right = 0;
        for (size_t p = 0; p < path_count; p++) {
            uint16_t before = (uint16_t)trial->labels;
            size_t fired = 0;
            for (size_t i = 0; i <= trial->n; i++) {
                uint16_t c = i < trial->n ? paths[p].labels[i] : (uint16_t)(trial->labels + 1);
                fired += gram->length == 1 ? gram->label[0] == c
                                           : gram->label[0] == before && gram->label[1] == c;
                before = c;
            }
            right += (double)fired * exp(paths[p].score - log_z);
        }
        expect(trial, fabs((double)expected[g] + right) <= 8 * tolerance,
               "E[feature %zu] is %.9g, not %.9g", g, -(double)expected[g], right);
    }
}

static void check_entropy(struct trial *trial, double log_z)
{
    double right = 0, entropy;
    for (size_t p = 0; p < path_count; p++) {
        right -= exp(paths[p].score - log_z) * (paths[p].score - log_z);
    }
    expect(trial, !tr_lattice_entropy(trial->lattice, trial->steps, &entropy, NULL), "entropy");
    expect(trial, fabs(entropy - right) <= 1e-6 * (1 + right), "entropy %.9g, not %.9g", entropy,
           right);
    struct tr_random random;
    uint16_t samples[20][MAX_N];
    tr_random_seed(&random, trial->seed);
    expect(trial,
           !tr_lattice_sample(trial->lattice, trial->steps, &random, 20, &samples[0][0], NULL),
           "samples");
    for (size_t k = 0; k < 20; k++) {
        size_t p = 0;
        while (p < path_count &&
               memcmp(paths[p].labels, &samples[0][0] + k * trial->n, trial->n * 2) != 0) {
            p++;
        }
        expect(trial, p < path_count, "a sample is no segmentation");
    }
}

static void check_set(size_t set)
{
    struct trial trial;
    paths = malloc(MAX_PATHS * sizeof *paths);
    assert_non_null(paths);
    for (unsigned seed = 1; seed <= 240; seed++) {
        const struct tr_kernels *kernels;
        make_trial(&trial, seed, set);
        path_count = 0;
        cut(&trial, 0, (struct path){.segments = 0});
        qsort(paths, path_count, sizeof *paths, by_score);
        for (size_t k = 0; (kernels = tr_kernels_at(k)) && k < 4; k++) {
            for (int reference = 0; reference < 2; reference++) {
                double log_z;
                trial.lattice->kernels = trial.steps->kernels = kernels;
                tr_lattice_use_reference(trial.lattice, reference);
                fill(&trial);
                trellis_status status = tr_lattice_forward_backward(trial.lattice, trial.steps,
                                                                    &log_z, NULL);
                if (path_count == 0) {
                    expect(&trial, status == TRELLIS_DATA, "log Z where there is no path");
                    continue;
                }
                double right = judge_log_z(), exact = reference ? 1e-6 : 2e-5;
                expect(&trial, !status, "log Z fails");
                expect(&trial, fabs(log_z - right) <= (reference ? 1e-9 : 1e-5) * (1 + fabs(right)),
                       "log Z is %.12g, not %.12g", log_z, right);
                check_marginals(&trial, right, exact);
                assert_int_equal(
                    tr_lattice_forward_backward(trial.lattice, trial.steps, &log_z, NULL), 0);
                check_counts(&trial, right, exact);
                check_best(&trial);
                check_entropy(&trial, right);
            }
        }
        free_trial(&trial);
    }
    free(paths);
}

static void test_iob2(void **state)
{
    (void)state;
    check_set(0);
}

static void test_iobes(void **state)
{
    (void)state;
    check_set(1);
}

static void test_missing_labels(void **state)
{
    (void)state;
    check_set(2);
}

static void test_plain_labels(void **state)
{
    (void)state;
    check_set(3);
}

/* Far more tokens than a segment may have: the fast kernel against the reference. */
static void test_long_sequence(void **state)
{
    (void)state;
    struct trial trial;
    struct tr_random random;
    enum { N = 2000 };
    for (size_t set = 0; set < 2; set++) {
        make_trial(&trial, 2, set);
        static float kept[N * 16];
        uint32_t width = trial.graph->width;
        double log_z[2], largest = 0;
        for (int reference = 0; reference < 2; reference++) {
            tr_random_seed(&random, 7);
            tr_lattice_use_reference(trial.lattice, reference);
            assert_int_equal(tr_lattice_begin(trial.lattice, N, NULL), 0);
            assert_true(tr_lattice_make_segments(trial.lattice));
            for (size_t k = 0; k < N * width; k++) {
                tr_lattice_nodes(trial.lattice)[k] = (float)(8 * tr_random_real(&random) - 4);
            }
            for (size_t k = 0; k < N * width * trial.segments->max_length; k++) {
                tr_lattice_segments(trial.lattice)[k] = (float)(8 * tr_random_real(&random) - 4);
            }
            for (size_t k = 300; k < 340; k++) { // one that is certain, and long
                tr_lattice_nodes(trial.lattice)[k * width + 2 + set] = 50;
            }
            assert_int_equal(
                tr_lattice_forward_backward(trial.lattice, trial.steps, &log_z[reference], NULL),
                0);
            const float *node = tr_lattice_node_marginals(trial.lattice);
            for (size_t k = 0; k < N * width; k++) {
                double difference = fabs((double)(node[k] - kept[k]));
                largest = reference && difference > largest ? difference : largest;
                kept[k] = node[k];
            }
        }
        assert_true(fabs(log_z[0] - log_z[1]) < 1e-5 * fabs(log_z[1]));
        assert_true(largest < 2e-4);
        free_trial(&trial);
    }
}

/* Segments of a labelling, also of one that is not complete. */
static void test_walk(void **state)
{
    (void)state;
    trellis_text labels[8];
    struct tr_segments *segments;
    for (uint32_t c = 0; c < 8; c++) {
        labels[c] = tr_text(iobes[c]);
    }
    assert_int_equal(tr_segments_create(labels, 8, &segments, NULL), 0);
    assert_int_equal(segments->types, 2);
    const uint16_t path[] = {0, 1, 2, 3, 4, 2, 3, 0, 3, 6, 7, 2, TR_NO_LABEL};
    const struct {
        size_t begin, end;
        uint16_t type;
    } right[] = {{0, 1, TR_NO_LABEL},  {1, 2, 0},           {2, 5, 0},
                 {5, 6, TR_NO_LABEL},  {6, 7, TR_NO_LABEL}, {7, 8, TR_NO_LABEL},
                 {8, 9, TR_NO_LABEL},  {9, 11, 1},          {11, 12, TR_NO_LABEL},
                 {12, 13, TR_NO_LABEL}};
    size_t at = 0;
    for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
        struct tr_segment found = tr_segment_at(segments, path, 13, at);
        assert_int_equal(found.begin, right[k].begin);
        assert_int_equal(found.end, right[k].end);
        assert_int_equal(found.type, right[k].type);
        at = found.end;
    }
    uint32_t lengths[2] = {1, TR_MAX_SEGMENT + 1};
    assert_false(tr_segments_set_lengths(segments, lengths));
    tr_segments_destroy(segments);
}

static void test_five_types(void **state)
{
    (void)state;
    check_set(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iob2),           cmocka_unit_test(test_iobes),
        cmocka_unit_test(test_missing_labels), cmocka_unit_test(test_plain_labels),
        cmocka_unit_test(test_five_types),     cmocka_unit_test(test_long_sequence),
        cmocka_unit_test(test_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

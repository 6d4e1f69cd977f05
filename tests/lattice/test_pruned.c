/* test_pruned.c - pruned search against all label sequences, pruned in the same way one by one.
 *
 * The brute-force version has no cells or arcs: it enumerates every label sequence, scores it with
 * the grams of a level by brute_score(), and sums by history, which it finds by comparing labels
 * with the prefixes of all grams. The histories kept at a level decide which sequences the next
 * level has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lattice/trial.h"

enum { SEQUENCES = 4096, BASE = BRUTE_LABELS + 2, CODES = BASE * BASE * BASE };

#define CLOSE 1e-4 // to the threshold: rounding may decide

/* The brute-force result at the last level. */
struct verdict {
    uint32_t level;
    struct tr_graph_plan plan; // of the level
    struct tr_gram grams[BRUTE_FEATURES];
    float weights[BRUTE_FEATURES];
    size_t number[BRUTE_FEATURES]; // of its grams among all
    bool kept[BRUTE_LENGTH][CODES];
    double probability[BRUTE_LENGTH][CODES]; // of histories
    bool alive[SEQUENCES];                   // label sequences, as numbers
    double score[SEQUENCES];
    double log_z;
    bool close; // some probability is too near the threshold
};

static size_t sequence_count(const struct trial *trial)
{
    size_t count = 1;
    for (size_t i = 0; i < trial->chain.length; i++) {
        count *= trial->plan.labels;
    }
    return count;
}

static void write_out(const struct trial *trial, size_t number, uint16_t *labels)
{
    for (size_t i = 0; i < trial->chain.length; i++) {
        labels[i] = (uint16_t)(number % trial->plan.labels);
        number /= trial->plan.labels;
    }
}

/* ---- histories ------------------------------------------------------------------------------- */

static bool begins_gram(const struct trial *trial, const uint16_t *labels, size_t length)
{
    bool found = false;
    for (size_t g = 0; !found && g < trial->plan.gram_count; g++) {
        found = trial->grams[g].length > length &&
                memcmp(trial->grams[g].label, labels, length * sizeof *labels) == 0;
    }
    return found;
}

/* The history at a position as a number: the longest suffix of the labels read, of at most `level`
 * labels, that is a prefix of a longer gram; or the last label. */
static size_t history_code(const struct trial *trial, const uint16_t *labels, size_t i,
                           uint32_t level)
{
    uint16_t text[BRUTE_LENGTH + 1] = {(uint16_t)trial->plan.labels};
    size_t length = 1, code = 0;
    memcpy(text + 1, labels, (i + 1) * sizeof *labels);
    const uint16_t *end = text + i + 2;
    for (size_t longer = 2; longer <= level && longer <= i + 2; longer++) {
        length = begins_gram(trial, end - longer, longer) ? longer : length;
    }
    for (const uint16_t *at = end - length; at < end; at++) {
        code = code * BASE + *at + 1u;
    }
    return code;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void take_grams(const struct trial *trial, struct verdict *v, uint32_t level)
{
    v->level = level;
    v->plan = trial->plan;
    v->plan.order = level;
    v->plan.grams = v->grams;
    v->plan.gram_count = 0;
    for (size_t g = 0; g < trial->plan.gram_count; g++) {
        if (trial->grams[g].length <= level + 1) {
            size_t at = v->plan.gram_count++;
            v->grams[at] = trial->grams[g];
            v->weights[at] = trial->weights[g];
            v->number[at] = g;
        }
    }
}

/* Level 0: labels alone. */
static void look_at_labels(const struct trial *trial, struct verdict *v)
{
    uint32_t labels = trial->plan.labels;
    memset(v->probability, 0, sizeof v->probability);
    take_grams(trial, v, 0);
    v->log_z = 0;
    for (size_t i = 0; i < trial->chain.length; i++) {
        double score[BRUTE_LABELS], max = -INFINITY, sum = 0;
        for (uint32_t c = 0; c < labels; c++) {
            score[c] = (double)trial->chain.node[i][c];
            for (size_t g = 0; g < v->plan.gram_count; g++) {
                score[c] += v->grams[g].label[0] == c ? (double)v->weights[g] : 0;
            }
            max = fmax(max, score[c]);
        }
        for (uint32_t c = 0; c < labels; c++) {
            sum += exp(score[c] - max);
        }
        for (uint32_t c = 0; c < labels; c++) {
            v->probability[i][c + 1] = exp(score[c] - max) / sum;
        }
        v->log_z += max + log(sum);
    }
}

static void keep_probable(const struct trial *trial, struct verdict *v, double threshold)
{
    for (size_t i = 0; i < trial->chain.length; i++) {
        double best = 0, second = 0;
        size_t best_code = 0;
        for (size_t code = 0; code < CODES; code++) {
            double p = v->probability[i][code];
            second = fmax(second, fmin(p, best));
            best_code = p > best ? code : best_code;
            best = fmax(best, p);
        }
        v->close = v->close || (best < threshold + CLOSE && best - second < CLOSE);
        for (size_t code = 0; code < CODES; code++) {
            double p = v->probability[i][code];
            v->kept[i][code] = code == best_code || p >= threshold;
            v->close = v->close || (p > 0 && fabs(p - threshold) < CLOSE);
        }
    }
}

static bool survives(const struct trial *trial, const struct verdict *v, const uint16_t *labels,
                     uint32_t level)
{
    bool kept = true;
    for (size_t i = 0; kept && i < trial->chain.length; i++) {
        kept = v->kept[i][history_code(trial, labels, i, level)];
    }
    return kept;
}

/* Sums up over all sequences that survive; false where there is none. */
static bool judge_level(const struct trial *trial, struct verdict *v, uint32_t level)
{
    struct brute_chain chain = trial->chain;
    uint16_t labels[BRUTE_LENGTH];
    double max = -INFINITY, sum = 0;
    size_t count = sequence_count(trial);
    take_grams(trial, v, level);
    chain.plan = &v->plan;
    chain.weights = v->weights;
    for (size_t s = 0; s < count; s++) {
        write_out(trial, s, labels);
        v->score[s] = brute_score(&chain, labels);
        v->alive[s] = v->score[s] > -INFINITY &&
                      survives(trial, v, labels, level > 1 ? level - 1 : 1);
        max = v->alive[s] ? fmax(max, v->score[s]) : max;
    }
    for (size_t s = 0; s < count; s++) {
        sum += v->alive[s] ? exp(v->score[s] - max) : 0;
    }
    v->log_z = max + log(sum);
    memset(v->probability, 0, sizeof v->probability);
    for (size_t s = 0; s < count; s++) {
        write_out(trial, s, labels);
        for (size_t i = 0; v->alive[s] && i < trial->chain.length; i++) {
            v->probability[i][history_code(trial, labels, i, level)] += exp(v->score[s] - v->log_z);
        }
    }
    return max > -INFINITY;
}

/* All levels, or with gold labels those that have them. */
static void judge(const struct trial *trial, const uint16_t *gold, struct verdict *v)
{
    double threshold = trial->plan.threshold;
    bool found = false;
    v->close = false;
    while (!found) {
        found = true;
        look_at_labels(trial, v);
        for (uint32_t level = 1; found && level <= trial->plan.order; level++) {
            keep_probable(trial, v, threshold);
            if (gold && !survives(trial, v, gold, level > 1 ? level - 1 : 1)) {
                break;
            }
            found = judge_level(trial, v, level);
        }
        threshold /= 10;
    }
}

static double count_gram(const struct trial *trial, const struct tr_gram *gram,
                         const uint16_t *labels)
{
    uint16_t text[BRUTE_LENGTH + 2] = {(uint16_t)trial->plan.labels};
    size_t n = trial->chain.length;
    double count = 0;
    memcpy(text + 1, labels, n * sizeof *labels);
    text[n + 1] = (uint16_t)(trial->plan.labels + 1);
    for (size_t at = gram->label[0] == trial->plan.labels ? 0 : 1; at + gram->length <= n + 2;
         at++) {
        count += memcmp(text + at, gram->label, gram->length * sizeof *labels) == 0;
    }
    return count;
}

/* E[gram] at the level of the verdict; the end counts only at levels that have steps. */
static double expected_count(const struct trial *trial, const struct verdict *v, size_t g)
{
    uint16_t labels[BRUTE_LENGTH];
    const struct tr_gram *gram = &v->grams[g];
    double sum = 0;
    if (v->level == 0) {
        for (size_t i = 0; gram->label[0] < trial->plan.labels && i < trial->chain.length; i++) {
            sum += v->probability[i][gram->label[0] + 1u];
        }
        return sum;
    }
    for (size_t s = 0; s < sequence_count(trial); s++) {
        write_out(trial, s, labels);
        sum += v->alive[s] ? exp(v->score[s] - v->log_z) * count_gram(trial, gram, labels) : 0;
    }
    return sum;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static void check_marginals(struct trial *trial, const struct verdict *v)
{
    const float *node = tr_lattice_node_marginals(trial->lattice);
    for (size_t i = 0; i < trial->chain.length; i++) {
        for (uint32_t c = 0; c < trial->plan.labels; c++) {
            double right = 0;
            for (size_t code = 0; code < CODES; code++) {
                right += code % BASE == c + 1 ? v->probability[i][code] : 0;
            }
            double p = (double)node[i * trial->graph->width + c];
            expect(trial, fabs(p - right) < 1e-5, "P(%u at %zu) is %.9g, not %.9g", c, i, p, right);
        }
    }
}

static void check_search(struct trial *trial, struct verdict *v)
{
    uint16_t found[BRUTE_LENGTH] = {0}, labels[BRUTE_LENGTH];
    float counts[BRUTE_FEATURES] = {0};
    double log_z, score, best = -INFINITY;
    judge(trial, NULL, v);
    if (v->close) {
        return;
    }
    fill_lattice(trial, false);
    assert_int_equal(tr_lattice_viterbi(trial->lattice, trial->steps, found, &score, NULL), 0);
    for (size_t s = 0; s < sequence_count(trial); s++) {
        best = v->alive[s] ? fmax(best, v->score[s]) : best;
    }
    expect(trial, fabs(score - best) < 1e-6 * (1 + fabs(best)), "best score %.9g, not %.9g", score,
           best);
    assert_int_equal(tr_lattice_forward_backward(trial->lattice, trial->steps, &log_z, NULL), 0);
    expect(trial, fabs(log_z - v->log_z) < 1e-9 * (1 + fabs(log_z)), "log Z %.9g, not %.9g", log_z,
           v->log_z);
    check_marginals(trial, v);
    assert_true(tr_lattice_expect_steps(trial->lattice, trial->steps, 1, counts));
    for (size_t g = 0; g < v->plan.gram_count; g++) {
        double right = expected_count(trial, v, g);
        expect(trial, fabs((double)counts[g] - right) < 1e-5, "E[feature %zu] is %.9g, not %.9g", g,
               (double)counts[g], right);
    }
    for (size_t s = 0; s < sequence_count(trial); s += 7) {
        write_out(trial, s, labels);
        score = tr_lattice_path_score(trial->lattice, trial->steps, labels);
        expect(trial, isfinite(score) == v->alive[s], "path %zu scores %g", s, score);
    }
}

static int downwards(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* At most as many as there are, best first, no labelling twice. */
static void check_nbest(struct trial *trial, const struct verdict *v)
{
    static uint16_t labels[SEQUENCES * BRUTE_LENGTH];
    static double scores[SEQUENCES], right[SEQUENCES];
    static const size_t wanted[] = {1, 3, 50, SEQUENCES};
    size_t n = trial->chain.length, alive = 0, count;
    for (size_t s = 0; s < sequence_count(trial); s++) {
        if (v->alive[s]) {
            right[alive++] = v->score[s];
        }
    }
    qsort(right, alive, sizeof *right, downwards);
    fill_lattice(trial, false);
    for (size_t k = 0; k < TR_COUNT(wanted); k++) {
        assert_int_equal(
            tr_lattice_nbest(trial->lattice, trial->steps, wanted[k], labels, scores, &count, NULL),
            0);
        assert_int_equal(count, wanted[k] < alive ? wanted[k] : alive);
        for (size_t r = 0; r < count; r++) {
            const uint16_t *path = labels + r * n;
            expect(trial, fabs(scores[r] - right[r]) < 1e-6 * (1 + fabs(right[r])),
                   "rank %zu scores %.9g, not %.9g", r, scores[r], right[r]);
            expect(trial, scores[r] == tr_lattice_path_score(trial->lattice, trial->steps, path),
                   "rank %zu has another score than its path", r);
            for (size_t q = 0; q < r && q < 20; q++) {
                expect(trial, memcmp(path, labels + q * n, n * sizeof *path) != 0,
                       "ranks %zu and %zu are the same", q, r);
            }
        }
    }
}

/* The probability of a span is that of the surviving sequences that have it. */
static void check_restriction(struct trial *trial, const struct verdict *v)
{
    size_t i = trial->seed % trial->chain.length;
    uint16_t labels[BRUTE_LENGTH], only = (uint16_t)(trial->seed % trial->plan.labels);
    double sum = 0, log_z;
    for (size_t s = 0; s < sequence_count(trial); s++) {
        write_out(trial, s, labels);
        sum += v->alive[s] && labels[i] == only ? exp(v->score[s] - v->log_z) : 0;
    }
    fill_lattice(trial, false);
    struct tr_restriction restriction = {i, &only, 1};
    assert_int_equal(
        tr_lattice_restricted_log_z(trial->lattice, trial->steps, &restriction, 1, &log_z, NULL),
        0);
    expect(trial, fabs(exp(log_z - v->log_z) - sum) < 1e-6, "restricted %g, not %g",
           exp(log_z - v->log_z), sum);
}

static double loss_of(struct trial *trial, const uint16_t *gold)
{
    double loss;
    tr_steps_set(trial->steps, trial->weights);
    fill_lattice(trial, false);
    assert_int_equal(tr_lattice_pruned_likelihood(trial->lattice, trial->steps, gold, &loss, NULL),
                     0);
    return loss;
}

/* df/dw by differences, where the same survives on both sides. */
static void check_gradient(struct trial *trial, const struct verdict *v, const uint16_t *gold,
                           size_t g, double right)
{
    static struct verdict above, below;
    float weight = trial->weights[g], step = 1.0f / 64;
    trial->weights[g] = weight + step;
    judge(trial, gold, &above);
    double loss_above = loss_of(trial, gold);
    trial->weights[g] = weight - step;
    judge(trial, gold, &below);
    double loss_below = loss_of(trial, gold);
    trial->weights[g] = weight;
    if (above.close || below.close || above.level != v->level || below.level != v->level ||
        (v->level > 0 && (memcmp(above.alive, v->alive, sizeof v->alive) != 0 ||
                          memcmp(below.alive, v->alive, sizeof v->alive) != 0))) {
        return;
    }
    double slope = (loss_above - loss_below) / (2 * (double)step);
    expect(trial, fabs(slope - right) < 2e-3, "df/dw[%zu] is %.6g, by differences %.6g", g, right,
           slope);
}

static void check_learning(struct trial *trial, struct verdict *v, unsigned *levels)
{
    uint16_t gold[BRUTE_LENGTH];
    float counts[BRUTE_FEATURES] = {0};
    size_t number = trial->seed * 37 % sequence_count(trial);
    struct brute_chain chain = trial->chain;
    write_out(trial, number, gold);
    if (brute_score(&chain, gold) == -INFINITY) {
        return;
    }
    judge(trial, gold, v);
    if (v->close) {
        return;
    }
    double loss = loss_of(trial, gold), right = v->log_z;
    assert_int_equal(tr_lattice_level(trial->lattice), v->level);
    levels[v->level]++;
    if (v->level > 0) {
        expect(trial, v->alive[number], "gold is pruned at the level it is learned at");
        right -= v->score[number];
    } else {
        for (size_t i = 0; i < trial->chain.length; i++) {
            right -= (double)trial->chain.node[i][gold[i]];
        }
        for (size_t g = 0; g < v->plan.gram_count; g++) {
            bool end = v->grams[g].label[0] > trial->plan.labels;
            right -= end ? 0 : (double)v->weights[g] * count_gram(trial, &v->grams[g], gold);
        }
    }
    expect(trial, fabs(loss - right) < 1e-5 * (1 + fabs(v->log_z)), "loss %.9g, not %.9g", loss,
           right);
    check_marginals(trial, v);
    assert_true(tr_lattice_collect_steps(trial->lattice, trial->steps, 1));
    assert_true(tr_lattice_collect_path(trial->lattice, gold, -1));
    tr_lattice_flush_transition_counts(trial->lattice, trial->steps, counts);
    for (size_t g = 0; g < v->plan.gram_count; g++) {
        bool end = v->level == 0 && v->grams[g].label[0] > trial->plan.labels;
        double gold_count = end ? 0 : count_gram(trial, &v->grams[g], gold);
        right = expected_count(trial, v, g) - gold_count;
        double count = (double)counts[v->number[g]];
        expect(trial, fabs(count - right) < 1e-5, "gradient %.9g, not %.9g", count, right);
        if (g % 5 == 0 && trial->seed % 5 < 2 && fabs(loss) < 100) {
            check_gradient(trial, v, gold, v->number[g], count);
        }
    }
}

static void check_kind(enum kind kind)
{
    static const double thresholds[] = {0.001, 0.02, 0.1, 0.3};
    static struct trial trial;
    static struct verdict verdict;
    unsigned levels[4] = {0};
    for (unsigned seed = 1; seed <= 120; seed++) {
        make_trial(&trial, kind, seed);
        trial.plan.threshold = trial.graph->threshold = thresholds[seed % 4];
        struct brute_answer *answer = &trial.answer;
        brute_solve(&trial.chain, answer);
        if (trial.chain.length > 0 && answer->best > -INFINITY) {
            tr_steps_set(trial.steps, trial.weights);
            check_search(&trial, &verdict);
            if (!verdict.close) {
                check_restriction(&trial, &verdict);
                check_nbest(&trial, &verdict);
            }
            check_learning(&trial, &verdict, levels);
        }
        free_trial(&trial);
    }
    for (uint32_t level = 0; level <= (uint32_t)(kind - PRUNED_1 + 1); level++) {
        assert_true(levels[level] > 0); // every case occurred
    }
}

TEST_KIND(check_kind, order_1, PRUNED_1)
TEST_KIND(check_kind, order_2, PRUNED_2)
TEST_KIND(check_kind, order_3, PRUNED_3)

/* ---- other questions ------------------------------------------------------------------------- */

/* Many labels with equal scores: the threshold alone would keep everything, and order 2 would take
 * 10^9 steps for a sequence. */
static void many_equal_labels(void **state)
{
    (void)state;
    enum { LABELS = 1000, LENGTH = 3 };
    const struct tr_gram gram = {3, {1, 2, 3}};
    struct tr_graph_plan plan = {.labels = LABELS,
                                 .order = 2,
                                 .pruned = true,
                                 .threshold = 1e-6,
                                 .grams = &gram,
                                 .gram_count = 1};
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
    uint16_t labels[LENGTH];
    double log_z, score;
    assert_int_equal(tr_graph_create(&plan, &graph, NULL), TRELLIS_OK);
    assert_int_equal(tr_steps_create(graph, NULL, &steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(graph, &lattice, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_begin(lattice, LENGTH, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_forward_backward(lattice, steps, &log_z, NULL), TRELLIS_OK);
    assert_true(fabs(log_z - 3 * log(32)) < 1e-9);
    assert_int_equal(tr_lattice_viterbi(lattice, steps, labels, &score, NULL), TRELLIS_OK);
    assert_true(score == 0);
    tr_lattice_destroy(lattice);
    tr_steps_destroy(steps);
    tr_graph_destroy(graph);
}

/* More labels than are kept, 32, and all above the threshold: the best stay, of equal ones the
 * first. Transitions score nothing, so that Z is a product over the positions. */
static void the_best_of_many_labels(void **state)
{
    (void)state;
    enum { LABELS = 60, LENGTH = 3, KEPT = 32 };
    const struct tr_gram gram = {2, {1, 2}};
    struct tr_graph_plan plan = {.labels = LABELS,
                                 .order = 1,
                                 .pruned = true,
                                 .threshold = 1e-6,
                                 .grams = &gram,
                                 .gram_count = 1};
    struct tr_graph *graph;
    struct tr_steps *steps;
    struct tr_lattice *lattice;
    double log_z, wanted = 0, sum[LENGTH] = {0};
    bool kept[LENGTH][LABELS] = {0};
    assert_int_equal(tr_graph_create(&plan, &graph, NULL), TRELLIS_OK);
    assert_int_equal(tr_steps_create(graph, NULL, &steps, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_create(graph, &lattice, NULL), TRELLIS_OK);
    assert_int_equal(tr_lattice_begin(lattice, LENGTH, NULL), TRELLIS_OK);
    float *scores = tr_lattice_nodes(lattice); // 8 values, each of some 7 labels in no order
    for (size_t i = 0; i < LENGTH; i++) {
        float *row = scores + i * graph->width;
        for (size_t c = 0; c < LABELS; c++) {
            row[c] = (float)((c * 37 + i * 5) % LABELS % 8) / 4;
        }
        for (size_t k = 0; k < KEPT; k++) {
            size_t best = SIZE_MAX;
            for (size_t c = 0; c < LABELS; c++) {
                best = !kept[i][c] && (best == SIZE_MAX || row[c] > row[best]) ? c : best;
            }
            kept[i][best] = true;
            sum[i] += exp((double)row[best]);
        }
        wanted += log(sum[i]);
    }
    float nodes[LENGTH][LABELS];
    for (size_t i = 0; i < LENGTH; i++) {
        memcpy(nodes[i], scores + i * graph->width, sizeof nodes[i]);
    }
    assert_int_equal(tr_lattice_forward_backward(lattice, steps, &log_z, NULL), TRELLIS_OK);
    assert_true(fabs(log_z - wanted) < 1e-6);
    const float *marginal = tr_lattice_node_marginals(lattice);
    for (size_t i = 0; i < LENGTH; i++) {
        for (size_t c = 0; c < LABELS; c++) {
            double p = kept[i][c] ? exp((double)nodes[i][c]) / sum[i] : 0;
            assert_true(fabs((double)marginal[i * graph->width + c] - p) < 1e-6);
        }
    }
    tr_lattice_destroy(lattice);
    tr_steps_destroy(steps);
    tr_graph_destroy(graph);
}

/* Functions that a pruned lattice does not support. */
static void refusals(void **state)
{
    (void)state;
    static struct trial trial;
    uint16_t labels[BRUTE_LENGTH];
    double score;
    trellis_error error;
    for (unsigned seed = 1; trial.chain.length == 0; seed++) {
        free_trial(&trial);
        make_trial(&trial, PRUNED_2, seed);
    }
    fill_lattice(&trial, false);
    assert_int_equal(tr_lattice_beam(trial.lattice, trial.steps, 4, labels, &score, &error),
                     TRELLIS_OPTION);
    struct tr_graph *graph;
    trial.plan.threshold = -1;
    assert_int_equal(tr_graph_create(&trial.plan, &graph, &error), TRELLIS_OPTION);
    trial.plan.threshold = NAN;
    assert_int_equal(tr_graph_create(&trial.plan, &graph, &error), TRELLIS_OPTION);
    trial.plan.threshold = 0.5;
    trial.plan.order = 0;
    trial.plan.gram_count = 0;
    assert_int_equal(tr_graph_create(&trial.plan, &graph, &error), TRELLIS_OPTION);
    free_trial(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_1),
        cmocka_unit_test(order_2),
        cmocka_unit_test(order_3),
        cmocka_unit_test(many_equal_labels),
        cmocka_unit_test(the_best_of_many_labels),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

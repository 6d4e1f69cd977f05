/* test_posterior.c - weights, scores, pairs of labels, samples and entropy against all labellings,
 * for every kind of model. Scores are sums of what the iterator over weights gives. */
#include <math.h>

#include "base/random.h"
#include "graph/graph.h"
#include "model/test_model.h"
#include "support/brute.h"

enum { LENGTH = 5, LABELS = 3, PATHS = 243, DRAWN = 4000 };

static const char templates_text[] = "columns word\nnode word[0]\nnode word[-1]\nedge word[0]\n"
                                     "step start end\n";
static const char sentence[] = "b a d c b";

/* A corpus in which labels depend on words and on each other. */
static char *make_corpus(void)
{
    struct tr_buffer text = {0};
    struct tr_random random;
    tr_random_seed(&random, 3);
    for (size_t s = 0; s < 40; s++) {
        size_t label = 0;
        for (size_t i = 0, n = 1 + tr_random_below(&random, 6); i < n; i++) {
            size_t word = tr_random_below(&random, 4);
            label = tr_random_below(&random, 3) ? word % LABELS : (label + 1) % LABELS;
            tr_buffer_format(&text, "%c %c\n", (char)('a' + word), (char)('X' + label));
        }
        tr_buffer_char(&text, '\n');
    }
    tr_buffer_char(&text, 0);
    assert_false(text.failed);
    return text.data;
}

/* ---- scores from weights --------------------------------------------------------------------- */

struct summed {
    struct tr_graph_plan plan;
    struct tr_gram grams[BRUTE_FEATURES];
    float weights[BRUTE_FEATURES];
    struct brute_chain chain;
};

static void add_attribute(struct summed *summed, const trellis_weight *weight)
{
    for (size_t i = 0; i < LENGTH; i++) {
        char here[20], before[20];
        snprintf(here, sizeof here, "word[0]=%c", sentence[2 * i]);
        snprintf(before, sizeof before, "word[-1]=%c", i ? sentence[2 * i - 2] : '?');
        bool fires = tr_text_is(weight->attribute, here) || tr_text_is(weight->attribute, before);
        const int32_t *label = weight->numbers;
        if (fires && weight->kind == TRELLIS_NODE_WEIGHT) {
            summed->chain.node[i][label[0]] += (float)weight->weight;
        } else if (fires && i > 0) {
            summed->chain.edge[i][label[0]][label[1]] += (float)weight->weight;
        }
    }
}

static void add_transition(struct summed *summed, const trellis_weight *weight)
{
    size_t g = summed->plan.gram_count++, last = weight->label_count - 1;
    assert_true(g < BRUTE_FEATURES);
    summed->grams[g].length = (uint8_t)weight->label_count;
    summed->weights[g] = (float)weight->weight;
    for (size_t i = 0; i <= last; i++) {
        bool end = i == last && weight->numbers[i] == LABELS;
        summed->grams[g].label[i] = (uint16_t)(weight->numbers[i] + end);
    }
}

/* Also looks up every weight by its numbers and its label and attribute by their texts. */
static void check_lookup(const trellis_model *model, const trellis_weight *weight)
{
    bool edge = weight->kind == TRELLIS_EDGE_WEIGHT;
    assert_true(trellis_model_weight(model, weight->attribute_number, weight->numbers,
                                     weight->label_count) == weight->weight);
    if (weight->kind != TRELLIS_TRANSITION_WEIGHT) {
        size_t found = trellis_model_find_attribute(model, edge, weight->attribute);
        assert_int_equal(found, weight->attribute_number);
        assert_true(tr_text_equal(trellis_model_attribute(model, edge, found), weight->attribute));
        assert_int_equal(trellis_model_find_label(model, weight->labels[0]), weight->numbers[0]);
    }
}

static void sum_weights(const trellis_model *model, struct summed *summed)
{
    trellis_weight_iterator *iterator;
    trellis_error error = {0};
    const trellis_weight *weight;
    const char *normalised = trellis_model_note(model, "normalised");
    memset(summed, 0, sizeof *summed);
    summed->plan = (struct tr_graph_plan){.labels = LABELS, .grams = summed->grams};
    summed->chain = (struct brute_chain){
        .plan = &summed->plan, .weights = summed->weights, .length = LENGTH, .local = normalised};
    assert_int_equal(trellis_model_label_count(model), LABELS);
    assert_ok(trellis_weight_iterator_create(model, &iterator, &error), error);
    while ((weight = trellis_weight_iterator_next(iterator))) {
        check_lookup(model, weight);
        if (weight->kind == TRELLIS_TRANSITION_WEIGHT) {
            add_transition(summed, weight);
        } else {
            add_attribute(summed, weight);
        }
    }
    assert_null(trellis_weight_iterator_next(iterator));
    trellis_weight_iterator_destroy(iterator);
}

/* ---- all labellings -------------------------------------------------------------------------- */

static void labels_of(size_t path, uint16_t *labels, int32_t *numbers)
{
    for (size_t i = 0; i < LENGTH; i++, path /= LABELS) {
        labels[i] = (uint16_t)(path % LABELS);
        numbers[i] = labels[i];
    }
}

static void check_scores(trellis_tagger *tagger, const struct summed *summed, bool pruned)
{
    uint16_t labels[LENGTH];
    int32_t numbers[LENGTH];
    double best = -INFINITY;
    for (size_t path = 0; path < PATHS; path++) {
        labels_of(path, labels, numbers);
        double expected = brute_score(&summed->chain, labels);
        double score = trellis_tagger_score_numbers(tagger, numbers);
        assert_true(fabs(score - expected) < 1e-4 || (pruned && score == -INFINITY));
        best = fmax(best, score);
    }
    assert_true(fabs(trellis_tagger_score(tagger) - best) < 1e-9);
    const int32_t *found = trellis_tagger_nth_numbers(tagger, 0);
    assert_true(trellis_tagger_score_numbers(tagger, found) == best);
    assert_null(trellis_tagger_nth_numbers(tagger, 1));
    numbers[LENGTH - 1] = LABELS;
    assert_true(isnan(trellis_tagger_score_numbers(tagger, numbers)));
}

static void check_pairs(trellis_tagger *tagger, const double *probability)
{
    const float *pairs;
    double expected[LENGTH][LABELS][LABELS] = {0};
    trellis_error error = {0};
    for (size_t path = 0; path < PATHS; path++) {
        uint16_t labels[LENGTH];
        int32_t numbers[LENGTH];
        labels_of(path, labels, numbers);
        for (size_t i = 1; i < LENGTH; i++) {
            expected[i][labels[i - 1]][labels[i]] += probability[path];
        }
    }
    assert_ok(trellis_tagger_pair_marginals(tagger, &pairs, &error), error);
    for (size_t k = 0; k < LENGTH * LABELS * LABELS; k++) {
        assert_true(fabs((double)pairs[k] - ((double *)expected)[k]) < 1e-5);
    }
}

static void check_samples(trellis_tagger *tagger, const double *probability)
{
    size_t times[PATHS] = {0};
    const int32_t *drawn;
    trellis_error error = {0};
    assert_ok(trellis_tagger_sample(tagger, 7, DRAWN, &drawn, &error), error);
    for (size_t k = 0; k < DRAWN; k++) {
        size_t path = 0;
        for (size_t i = LENGTH; i-- > 0;) {
            assert_in_range(drawn[k * LENGTH + i], 0, LABELS - 1);
            path = path * LABELS + (size_t)drawn[k * LENGTH + i];
        }
        times[path]++;
    }
    for (size_t path = 0; path < PATHS; path++) {
        double p = probability[path], sigma = sqrt(DRAWN * p * (1 - p));
        assert_true(fabs((double)times[path] - DRAWN * p) <= 6 * sigma + 6 * (p > 0));
    }
}

static void check_posterior(trellis_tagger *tagger)
{
    double probability[PATHS], sum = 0, entropy, exact = 0;
    trellis_error error = {0};
    for (size_t path = 0; path < PATHS; path++) {
        uint16_t labels[LENGTH];
        int32_t numbers[LENGTH];
        labels_of(path, labels, numbers);
        assert_ok(
            trellis_tagger_log_probability_numbers(tagger, numbers, &probability[path], &error),
            error);
        exact -= probability[path] > -700 ? exp(probability[path]) * probability[path] : 0;
        probability[path] = exp(probability[path]);
        sum += probability[path];
    }
    assert_true(fabs(sum - 1) < 1e-4);
    assert_ok(trellis_tagger_entropy(tagger, &entropy, &error), error);
    assert_true(fabs(entropy - exact) < 1e-4 && entropy >= 0);
    check_pairs(tagger, probability);
    check_samples(tagger, probability);
    int32_t bad[LENGTH] = {0, 0, -1};
    assert_int_equal(trellis_tagger_log_probability_numbers(tagger, bad, &sum, &error),
                     TRELLIS_DATA);
    assert_string_equal(error.message, "token 3: there is no label number -1");
}

static void check_model(const trellis_model *model, bool pruned)
{
    static struct summed summed;
    trellis_tagger *tagger = make_tagger(model, "");
    sum_weights(model, &summed);
    free(tag_with(tagger, sentence, NULL));
    check_scores(tagger, &summed, pruned);
    if (trellis_model_has_probabilities(model)) {
        check_posterior(tagger);
    } else {
        double entropy;
        const int32_t *drawn;
        const float *pairs;
        assert_int_equal(trellis_tagger_entropy(tagger, &entropy, NULL), TRELLIS_MODEL);
        assert_true(isnan(entropy));
        assert_int_equal(trellis_tagger_sample(tagger, 1, 1, &drawn, NULL), TRELLIS_MODEL);
        assert_int_equal(trellis_tagger_pair_marginals(tagger, &pairs, NULL), TRELLIS_MODEL);
    }
    trellis_tagger_destroy(tagger);
}

static void check_training(const char *settings, bool own_templates)
{
    char *corpus = make_corpus(), options[300];
    const char *path = put_text("templates.txt", templates_text);
    snprintf(options, sizeof options, "%s%s%s", settings, own_templates ? " features=" : "",
             own_templates ? path : "");
    trellis_model *model = train_on(corpus, options), *small;
    trellis_error error = {0};
    check_model(model, strstr(settings, "prune"));
    if (own_templates) {
        assert_ok(trellis_model_repack(model, 16, &small, &error), error);
        assert_int_equal(trellis_model_bits(small), 16);
        check_model(small, strstr(settings, "prune"));
        trellis_model_close(small);
    }
    trellis_model_close(model);
    free(corpus);
}

static void test_kinds(void **state)
{
    (void)state;
    check_training("type=crf order=0", true);
    check_training("type=crf order=1", true);
    check_training("type=crf order=2", true);
    check_training("type=crf order=3", true);
    check_training("type=crf order=3 observed-states=yes", true);
    check_training("type=crf counted=3", true);
    check_training("type=crf algorithm=sgd order=2 prune=0.01", true);
    check_training("type=memm order=1", true);
    check_training("type=memm order=2", true);
    check_training("type=maxent", true);
    check_training("type=perceptron order=2 epochs=5", true);
    check_training("type=ssvm", true);
    check_training("type=hmm", false);
    check_training("type=hmm order=2", false);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* A line of the text form for every weight, in the order of the iterator. */
static void test_export(void **state)
{
    (void)state;
    char *corpus = make_corpus();
    const char *path = put_text("templates.txt", templates_text);
    char options[300];
    snprintf(options, sizeof options, "type=crf order=2 features=%s", path);
    trellis_model *model = train_on(corpus, options);
    char *text = say(model, EXPORT), *rest = text, *line;
    trellis_weight_iterator *iterator;
    trellis_error error = {0};
    size_t weights = 0;
    assert_ok(trellis_weight_iterator_create(model, &iterator, &error), error);
    while ((line = strsep(&rest, "\n"))) {
        const char *field = strsep(&line, "\t");
        bool step = strcmp(field, "step") == 0, node = strcmp(field, "node") == 0;
        if (!step && !node && strcmp(field, "edge") != 0) {
            continue;
        }
        const trellis_weight *weight = trellis_weight_iterator_next(iterator);
        assert_non_null(weight);
        weights++;
        assert_int_equal(weight->kind, step   ? TRELLIS_TRANSITION_WEIGHT
                                       : node ? TRELLIS_NODE_WEIGHT
                                              : TRELLIS_EDGE_WEIGHT);
        assert_true(strtof(strsep(&line, "\t"), NULL) == (float)weight->weight);
        for (size_t i = 0; i < weight->label_count; i++) {
            const char *label = strsep(&line, "\t");
            label = strcmp(label, "\\start") == 0 ? "<start>"
                    : strcmp(label, "\\end") == 0 ? "<end>"
                                                  : label;
            assert_true(tr_text_is(weight->labels[i], label));
        }
        if (!step) {
            strsep(&line, "\t");
            assert_true(tr_text_is(weight->attribute, line));
        }
    }
    assert_true(weights > 50);
    assert_null(trellis_weight_iterator_next(iterator));
    trellis_weight_iterator_destroy(iterator);
    free(text);
    free(corpus);
    trellis_model_close(model);
}

static void test_lookup(void **state)
{
    (void)state;
    trellis_model *model = train_on("the DT\ncat NN\n\nthe DT\ndog NN\n", "type=crf");
    const char *key, *value;
    bool type = false;
    for (size_t i = 0; trellis_model_note_at(model, i, &key, &value); i++) {
        assert_true(i < trellis_model_note_count(model));
        type = type || (strcmp(key, "type") == 0 && strcmp(value, "crf") == 0);
    }
    assert_true(type);
    assert_false(trellis_model_note_at(model, SIZE_MAX, &key, &value));
    assert_null(key);
    assert_int_equal(trellis_model_find_label(model, tr_text("NN")), 1);
    assert_int_equal(trellis_model_find_label(model, tr_text("N")), SIZE_MAX);
    assert_int_equal(trellis_model_find_attribute(model, false, tr_text("?")), SIZE_MAX);
    assert_int_equal(trellis_model_attribute(model, true, 0).size, 0);
    int32_t labels[12] = {0, 1}, out[] = {2}, negative[] = {-1}, three[] = {0, 2, 1};
    assert_true(isnan(trellis_model_weight(model, SIZE_MAX, out, 1)));
    assert_true(isnan(trellis_model_weight(model, SIZE_MAX, negative, 1)));
    assert_true(isnan(trellis_model_weight(model, SIZE_MAX, three, 3)));
    assert_true(isnan(trellis_model_weight(model, SIZE_MAX, labels, 0)));
    assert_true(isnan(trellis_model_weight(model, SIZE_MAX, labels, 12)));
    assert_true(isnan(trellis_model_weight(model, 0, out, 1)));
    assert_true(isnan(trellis_model_weight(model, SIZE_MAX - 1, labels, 1)));
    assert_true(isnan(trellis_model_weight(model, 0, labels, 2))); // has no edge attributes
    assert_true(trellis_model_weight(model, SIZE_MAX, labels, 2) != 0);
    trellis_model_close(model);

    static const char forbidding[] = "trellis-text\t1\nnote\ttype\tcrf\ntemplate\tnode word[0]\n"
                                     "template\tstep\nlabel\tA\nlabel\tB\nforbid\tA\tB\n"
                                     "step\t0.5\tB\tA\n";
    trellis_error error = {0};
    assert_ok(trellis_model_import_bytes(forbidding, strlen(forbidding), NULL, &model, &error),
              error);
    int32_t b_a[] = {1, 0}, end[] = {1, 2};
    assert_true(trellis_model_weight(model, SIZE_MAX, labels, 2) == -INFINITY);
    assert_true(trellis_model_weight(model, SIZE_MAX, b_a, 2) == 0.5);
    assert_true(trellis_model_weight(model, SIZE_MAX, end, 2) == 0);
    trellis_model_close(model);
}

/* Columns in another order than in training. */
static void test_columns(void **state)
{
    (void)state;
    const char *path = put_text("templates.txt", "columns word pos\nnode word[0]\nnode pos[0]\n"
                                                 "step\n");
    char options[300];
    snprintf(options, sizeof options, "type=crf columns=word,pos,label features=%s", path);
    trellis_model *model = train_on("a x X\nb y Y\n\nb y Y\na x X\n", options);
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_error error = {0};
    static const char *const turned[] = {NULL, "POS", "form"}, *const lacking[] = {"word", "lemma"};
    double straight, score;
    free(tag_with(tagger, "a|x b|y", &straight));
    assert_ok(trellis_tagger_bind_columns(tagger, turned, 3, &error), error);
    free(tag_with(tagger, "?|x|a ?|y|b", &score));
    assert_true(score == straight);
    assert_int_equal(trellis_tagger_bind_columns(tagger, lacking, 2, &error), TRELLIS_TEMPLATE);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* An empty sequence, and none at all. */
static void test_empty(void **state)
{
    (void)state;
    trellis_model *model = train_on("a X\nb Y\n", "type=crf");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_error error = {0};
    const int32_t *drawn;
    const float *pairs;
    double entropy;
    int32_t none = 0;
    assert_true(isnan(trellis_tagger_score_numbers(tagger, &none)));
    assert_null(trellis_tagger_nth_numbers(tagger, 0));
    assert_int_equal(trellis_tagger_entropy(tagger, &entropy, &error), TRELLIS_DATA);
    trellis_sequence empty = {.struct_size = sizeof empty, .columns = 1, .weight = 1};
    const trellis_text *labels;
    assert_ok(trellis_tagger_tag(tagger, &empty, &labels, &error), error);
    assert_ok(trellis_tagger_entropy(tagger, &entropy, &error), error);
    assert_true(entropy == 0);
    assert_ok(trellis_tagger_sample(tagger, 1, 3, &drawn, &error), error);
    assert_ok(trellis_tagger_pair_marginals(tagger, &pairs, &error), error);
    assert_non_null(pairs);
    free(tag_with(tagger, "a", NULL));
    assert_ok(trellis_tagger_sample(tagger, 1, 0, &drawn, &error), error);
    assert_int_equal(trellis_tagger_sample(tagger, 1, SIZE_MAX, &drawn, &error), TRELLIS_LIMIT);
    assert_null(drawn);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),  cmocka_unit_test(test_export),
        cmocka_unit_test(test_lookup), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

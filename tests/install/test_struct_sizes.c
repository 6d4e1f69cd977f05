/* test_struct_sizes.c - callers that were compiled with an older, smaller or a newer, larger struct
 * than the library: each gets what both sides know, and nothing beyond its struct is read or
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trellis.h"

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
enum { ROOM = 1024, NEWER = 40, CANARY = 0xA5 };

/* Returns whether the call succeeded. */
typedef bool call_function(void *object, void *at);

/* Calls with the struct at the end of known bytes, in the sizes of three callers and without a
 * size. `size` is that of the library, `older` that before its last member; `given` has the
 * input. */
static void check_sizes(call_function *call, void *object, const void *given, size_t size,
                        size_t older)
{
    const size_t sizes[] = {older, size, size + NEWER};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        union {
            max_align_t align;
            unsigned char bytes[ROOM];
        } room;
        size_t used = sizes[k], kept;
        assert_true(used < ROOM);
        memset(room.bytes, CANARY, sizeof room);
        memset(room.bytes, 0, used);
        memcpy(room.bytes, given, used < size ? used : size);
        memcpy(room.bytes, &used, sizeof used);
        assert_true(call(object, room.bytes));
        memcpy(&kept, room.bytes, sizeof kept);
        assert_int_equal(kept, used);
        for (size_t i = size; i < used; i++) {
            assert_int_equal(room.bytes[i], 0);
        }
        for (size_t i = used; i < ROOM; i++) {
            assert_int_equal(room.bytes[i], CANARY);
        }
        for (size_t unset = 0; unset < sizeof unset; unset += sizeof unset - 1) {
            unsigned char before[ROOM];
            memcpy(room.bytes, &unset, sizeof unset);
            memcpy(before, room.bytes, ROOM);
            assert_false(call(object, room.bytes));
            assert_memory_equal(room.bytes, before, ROOM);
        }
    }
}
#define CHECK(call, object, given, type, last)                                                     \
    check_sizes(call, object, given, sizeof(type), offsetof(type, last))

/* For functions that cannot fail; what they write is then compared. */
static bool is_set(const void *at)
{
    size_t size;
    memcpy(&size, at, sizeof size);
    return size >= sizeof size;
}

static trellis_text labels[] = {TEXT("A"), TEXT("B"), TEXT("A")};
static trellis_text predicted[] = {TEXT("A"), TEXT("B"), TEXT("B")};
static trellis_text cells[] = {TEXT("x"), TEXT("y"), TEXT("x")};
static const trellis_sequence sequence = {
    .length = 3, .columns = 1, .cells = cells, .labels = labels, .weight = 1};

/* ---- evaluations ----------------------------------------------------------------------------- */

static bool add_labelled(void *evaluation, void *at)
{
    return trellis_evaluation_add_labelled(evaluation, at, NULL) == TRELLIS_OK;
}

static bool get_scores(void *evaluation, void *at)
{
    const trellis_scores *scores = at;
    trellis_evaluation_scores(evaluation, at);
    return is_set(at) && scores->tokens != 0;
}

static bool get_row(void *evaluation, void *at)
{
    return trellis_evaluation_row(evaluation, TRELLIS_BY_LABEL, 0, at);
}

static bool get_average(void *evaluation, void *at)
{
    const trellis_row *row = at;
    trellis_evaluation_average(evaluation, TRELLIS_BY_LABEL, TRELLIS_MACRO, at);
    return is_set(at) && row->gold != 0;
}

static bool get_clusters(void *evaluation, void *at)
{
    return trellis_evaluation_clusters(evaluation, at, NULL) == TRELLIS_OK;
}

static bool get_contrast(void *comparison, void *at)
{
    return trellis_comparison_measure(comparison, TRELLIS_ACCURACY, at);
}

static bool get_comparison_info(void *comparison, void *at)
{
    const trellis_comparison_info *info = at;
    trellis_comparison_describe(comparison, at);
    return is_set(at) && info->exchanges != 0;
}

static void evaluations_fit_their_callers(void **state)
{
    (void)state;
    trellis_evaluation *evaluation;
    trellis_comparison *comparison;
    const double likelihood = -1;
    trellis_labelled labelled = {.length = 3,
                                 .gold = labels,
                                 .predicted = predicted,
                                 .log_likelihood = &likelihood,
                                 .log_probability = &likelihood};
    assert_int_equal(trellis_evaluation_create(NULL, &evaluation, NULL), TRELLIS_OK);
    CHECK(add_labelled, evaluation, &labelled, trellis_labelled, log_probability);
    trellis_scores scores = {0};
    CHECK(get_scores, evaluation, &scores, trellis_scores, calibration_error);
    trellis_row row = {0};
    CHECK(get_row, evaluation, &row, trellis_row, confidence);
    CHECK(get_average, evaluation, &row, trellis_row, confidence);
    trellis_cluster_scores clusters = {0};
    CHECK(get_clusters, evaluation, &clusters, trellis_cluster_scores, v_measure);
    assert_int_equal(trellis_evaluation_compare(evaluation, evaluation, &comparison, NULL),
                     TRELLIS_OK);
    trellis_contrast contrast = {0};
    CHECK(get_contrast, comparison, &contrast, trellis_contrast, p);
    trellis_comparison_info info = {0};
    CHECK(get_comparison_info, comparison, &info, trellis_comparison_info, mcnemar);
    trellis_comparison_destroy(comparison);
    trellis_evaluation_destroy(evaluation);
}

/* ---- searches, suggestions, word clusters ---------------------------------------------------- */

static bool next_trial(void *search, void *at)
{
    return trellis_search_next(search, at) == TRELLIS_OK;
}

static bool ranked_trial(void *search, void *at)
{
    return trellis_search_ranked(search, 0, at) == TRELLIS_OK;
}

static bool suggest(void *name, void *at)
{
    const trellis_suggestion *suggestion = at;
    trellis_suggest(at, name);
    return is_set(at) && suggestion->nearest;
}

static bool get_clusters_info(void *clusters, void *at)
{
    const trellis_clusters_info *info = at;
    trellis_clusters_describe(clusters, at);
    return is_set(at) && info->tokens != 0;
}

static bool get_clustered_word(void *clusters, void *at)
{
    return trellis_clusters_word(clusters, 0, at);
}

static void searches_and_clusters_fit_their_callers(void **state)
{
    (void)state;
    trellis_search *search;
    const char *const tries[] = {"l2=0.1,1"};
    assert_int_equal(trellis_search_create(NULL, tries, 1, &search, NULL), TRELLIS_OK);
    trellis_trial trial = {0};
    CHECK(next_trial, search, &trial, trellis_trial, seconds);
    CHECK(ranked_trial, search, &trial, trellis_trial, seconds);
    trellis_search_destroy(search);

    char name[] = "nearest";
    trellis_suggestion suggestion = {.asked = "neerest"};
    CHECK(suggest, name, &suggestion, trellis_suggestion, distance);

    char path[500];
    snprintf(path, sizeof path, "%s/words", getenv("TRELLIS_TMP"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a A\nb B\n\na A\nb B\n", file);
    fclose(file);
    const char *const paths[] = {path};
    trellis_clusters *clusters;
    trellis_error error = {0};
    if (trellis_cluster(NULL, 2, paths, 1, NULL, NULL, &clusters, &error)) {
        fail_msg("%s", error.message);
    }
    trellis_clusters_info info = {0};
    CHECK(get_clusters_info, clusters, &info, trellis_clusters_info, information);
    trellis_clustered_word word = {0};
    CHECK(get_clustered_word, clusters, &word, trellis_clustered_word, count);
    trellis_clusters_destroy(clusters);
}

/* ---- sequences, sources, training ------------------------------------------------------------ */

static bool add_sequence(void *corpus, void *at)
{
    return trellis_corpus_add(corpus, at, NULL) == TRELLIS_OK;
}

/* The group is not what lies behind the struct of an older caller. */
static bool read_source(void *corpus, void *at)
{
    size_t before = trellis_corpus_sequences(corpus);
    return trellis_corpus_read(corpus, at, NULL, NULL) == TRELLIS_OK &&
           trellis_corpus_sequences(corpus) > before;
}

static bool train(void *user, void *at)
{
    trellis_model **model = user, *trained;
    if (trellis_train(NULL, at, &trained, NULL)) {
        return false;
    }
    trellis_model_close(*model);
    *model = trained;
    return true;
}

static bool tag(void *tagger, void *at)
{
    const trellis_text *predictions;
    return trellis_tagger_tag(tagger, at, &predictions, NULL) == TRELLIS_OK;
}

static bool nbest(void *tagger, void *at)
{
    size_t count;
    return trellis_tagger_nbest(tagger, at, 2, &count, NULL) == TRELLIS_OK;
}

static bool known(void *tagger, void *at)
{
    const bool *found;
    return trellis_tagger_known(tagger, NULL, at, &found, NULL) == TRELLIS_OK;
}

static bool explain(void *explainer, void *at)
{
    const trellis_explanation *explanations;
    return trellis_explainer_run(explainer, at, &explanations, NULL) == TRELLIS_OK;
}

static trellis_status ignore(void *user, const char *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TRELLIS_OK;
}

static bool report_explanation(void *explainer, void *at)
{
    return trellis_explainer_report(explainer, at, 3, true, ignore, NULL, NULL) == TRELLIS_OK;
}

static bool draw(void *tagger, void *at)
{
    return trellis_draw(tagger, at, 2, ignore, NULL, NULL) == TRELLIS_OK;
}

static bool write_sequence(void *writer, void *at)
{
    return trellis_writer_put(writer, at, NULL, NULL) == TRELLIS_OK;
}

static bool print_features(void *features, void *at)
{
    return trellis_features_print(features, NULL, at, ignore, NULL, NULL) == TRELLIS_OK;
}

static bool add_to_report(void *report, void *at)
{
    trellis_labelled labelled = {
        .struct_size = sizeof labelled, .length = 3, .gold = labels, .predicted = predicted};
    return trellis_report_add(report, at, &labelled, NULL) == TRELLIS_OK;
}

static bool add_labels_to_report(void *report, void *at)
{
    trellis_sequence ours = sequence;
    ours.struct_size = sizeof ours;
    return trellis_report_add(report, &ours, at, NULL) == TRELLIS_OK;
}

static void check_model(const trellis_model *model)
{
    trellis_tagger *tagger;
    trellis_explainer *explainer;
    trellis_report *report;
    assert_int_equal(trellis_tagger_create(model, NULL, &tagger, NULL), TRELLIS_OK);
    CHECK(tag, tagger, &sequence, trellis_sequence, group);
    CHECK(nbest, tagger, &sequence, trellis_sequence, group);
    CHECK(known, tagger, &sequence, trellis_sequence, group);
    CHECK(draw, tagger, &sequence, trellis_sequence, group);
    trellis_tagger_destroy(tagger);
    assert_int_equal(trellis_explainer_create(model, NULL, &explainer, NULL), TRELLIS_OK);
    CHECK(explain, explainer, &sequence, trellis_sequence, group);
    trellis_sequence ours = sequence;
    ours.struct_size = sizeof ours;
    assert_true(explain(explainer, &ours));
    CHECK(report_explanation, explainer, &sequence, trellis_sequence, group);
    trellis_explainer_destroy(explainer);
    assert_int_equal(trellis_report_create(model, NULL, "title", &report, NULL), TRELLIS_OK);
    CHECK(add_to_report, report, &sequence, trellis_sequence, group);
    const trellis_labelled labelled = {.length = 3, .gold = labels, .predicted = predicted};
    CHECK(add_labels_to_report, report, &labelled, trellis_labelled, log_probability);
    trellis_report_destroy(report);
}

static void sequences_and_training_fit_their_callers(void **state)
{
    (void)state;
    trellis_corpus *corpus, *copy;
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_create(&copy, NULL), TRELLIS_OK);
    CHECK(add_sequence, corpus, &sequence, trellis_sequence, group);
    trellis_source source = {
        .struct_size = sizeof source, .corpus = corpus, .groups = TRELLIS_ONLY_GROUP};
    CHECK(read_source, copy, &source, trellis_source, group);
    assert_int_equal(trellis_corpus_sequences(copy), 9);

    trellis_model *model = NULL;
    const trellis_training training = {
        .train = &source, .train_count = 1, .templates = "columns word\nnode word\nstep\n"};
    CHECK(train, &model, &training, trellis_training, cancellation);
    check_model(model);
    trellis_model_close(model);

    trellis_writer *writer;
    assert_int_equal(trellis_writer_create(NULL, ignore, NULL, &writer, NULL), TRELLIS_OK);
    CHECK(write_sequence, writer, &sequence, trellis_sequence, group);
    trellis_writer_destroy(writer);
    trellis_features *features;
    const trellis_text templates = TEXT("U:%x[0,0]\n");
    assert_int_equal(trellis_features_parse(templates, NULL, NULL, 0, &features, NULL), TRELLIS_OK);
    CHECK(print_features, features, &sequence, trellis_sequence, group);
    trellis_features_destroy(features);
    trellis_corpus_destroy(copy);
    trellis_corpus_destroy(corpus);
}

/* ---- chains ---------------------------------------------------------------------------------- */

enum { LABELS = 2 };
static float nodes[3][LABELS] = {{1, 0}, {0, 2}, {1, 1}};

static bool set_scores(void *chain, void *at)
{
    return trellis_chain_set(chain, at, NULL) == TRELLIS_OK;
}

static bool ask(void *chain, void *at)
{
    return trellis_chain_run(chain, TRELLIS_CHAIN_LOG_Z, at, 1, NULL, NULL) == TRELLIS_OK;
}

static bool ask_gradient(void *chain, void *at)
{
    static const int32_t gold[] = {0, 1, 0};
    trellis_chain_sequence asked = {.struct_size = sizeof asked,
                                    .length = 3,
                                    .nodes = {.at = nodes[0]},
                                    .labels = gold,
                                    .weight = 1};
    return trellis_chain_run(chain, TRELLIS_CHAIN_GRADIENT, &asked, 1, at, NULL) == TRELLIS_OK;
}

static void chains_fit_their_callers(void **state)
{
    (void)state;
    trellis_chain *chain;
    assert_int_equal(trellis_chain_create(LABELS, NULL, &chain, NULL), TRELLIS_OK);
    float transitions[LABELS][LABELS] = {{0}}, start[LABELS] = {0}, end[LABELS] = {0};
    const trellis_chain_scores scores = {.transitions = {.at = transitions[0]}};
    CHECK(set_scores, chain, &scores, trellis_chain_scores, costs);
    const trellis_chain_sequence asked = {.length = 3, .nodes = {.at = nodes[0]}};
    CHECK(ask, chain, &asked, trellis_chain_sequence, min_risk);
    const trellis_chain_gradient gradient = {
        .transitions = {.at = transitions[0]}, .start = {.at = start}, .end = {.at = end}};
    CHECK(ask_gradient, chain, &gradient, trellis_chain_gradient, end);
    trellis_chain_destroy(chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations_fit_their_callers),
        cmocka_unit_test(searches_and_clusters_fit_their_callers),
        cmocka_unit_test(sequences_and_training_fit_their_callers),
        cmocka_unit_test(chains_fit_their_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

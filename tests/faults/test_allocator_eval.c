/* test_allocator_eval.c - evaluation, sampling, reports and hyperparameter search,
 * with a failing allocator. */
#include "faults/allocator.h"

static const trellis_text gold[] = {{"B-X", 3}, {"I-X", 3}, {"O", 1}, {"B-Y", 3}};
static const trellis_text predicted[] = {{"B-X", 3}, {"O", 1}, {"O", 1}, {"B-Z", 3}};

/* An evaluation of some sequences, without errors if `all_correct`. */
static trellis_status fill_evaluation(const trellis_options *options, bool all_correct,
                                      trellis_evaluation **ret_evaluation, trellis_error *error)
{
    static const bool known[] = {true, false, true, true};
    trellis_status status = trellis_evaluation_create(options, ret_evaluation, error);
    for (size_t n = 0; !status && n <= TR_COUNT(gold); n++) {
        status = trellis_evaluation_add(*ret_evaluation, gold, all_correct ? gold : predicted, n,
                                        error);
    }
    trellis_labelled sequence = {.struct_size = sizeof sequence,
                                 .length = TR_COUNT(gold),
                                 .gold = gold,
                                 .predicted = all_correct ? gold : predicted,
                                 .known = known};
    return status ? status : trellis_evaluation_add_labelled(*ret_evaluation, &sequence, error);
}

static trellis_status report_evaluation(const trellis_evaluation *evaluation,
                                        const trellis_comparison *comparison,
                                        struct outcome *outcome)
{
    trellis_status status = TRELLIS_OK;
    for (int form = TRELLIS_CONLLEVAL; !status && form <= TRELLIS_DETAILS; form++) {
        status = trellis_evaluation_report(evaluation, (trellis_report_form)form, see,
                                           &outcome->seen, &outcome->error);
        if (!status) {
            status = trellis_comparison_report(comparison, (trellis_report_form)form, see,
                                               &outcome->seen, &outcome->error);
        }
    }
    return status;
}

static trellis_status evaluate(const char *about, struct outcome *outcome)
{
    trellis_options *options = NULL;
    trellis_evaluation *evaluation = NULL, *other = NULL;
    trellis_cluster_scores clusters = {.struct_size = sizeof clusters};
    trellis_comparison *comparison = NULL;
    trellis_interval intervals[TRELLIS_F1 + 1];
    trellis_error *error = &outcome->error;
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = fill_evaluation(options, false, &evaluation, error);
    }
    if (!status) {
        status = fill_evaluation(options, true, &other, error);
    }
    if (!status) {
        status = trellis_evaluation_clusters(evaluation, &clusters, error);
    }
    if (!status) {
        status = trellis_evaluation_intervals(evaluation, intervals, TR_COUNT(intervals), error);
    }
    if (!status) {
        status = trellis_evaluation_compare(evaluation, other, &comparison, error);
    }
    if (!status) {
        status = report_evaluation(evaluation, comparison, outcome);
    }
    trellis_comparison_destroy(comparison);
    trellis_evaluation_destroy(other);
    trellis_evaluation_destroy(evaluation);
    trellis_options_destroy(options);
    return status;
}

static trellis_status sample(const char *about, struct outcome *outcome)
{
    trellis_options *options = NULL;
    trellis_writer *writer = NULL;
    trellis_error *error = &outcome->error;
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_writer_create(options, see, &outcome->seen, &writer, error);
    }
    if (!status) {
        status = trellis_sample(NULL, options, writer, error);
    }
    if (!status) {
        status = trellis_writer_finish(writer, error);
    }
    trellis_writer_destroy(writer);
    trellis_options_destroy(options);
    return status;
}

static trellis_status report(const char *about, struct outcome *outcome)
{
    static const trellis_text cells[] = {{"the", 3}, {"DT", 2}, {"cat", 3}, {"NN", 2}};
    const trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                       .length = 2,
                                       .columns = 2,
                                       .cells = cells,
                                       .weight = 1};
    const trellis_labelled labelled = {
        .struct_size = sizeof labelled, .length = 2, .gold = gold, .predicted = predicted};
    trellis_model *model = NULL;
    trellis_report *page = NULL;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_model_open(paths[CRF_MODEL], &model, error);
    if (!status) {
        status = trellis_report_create(model, NULL, about, &page, error);
    }
    if (!status && strstr(about, "two")) {
        status = trellis_report_add_other(page, "other", &labelled, error);
    }
    if (!status) {
        status = trellis_report_add(page, &sequence, &labelled, error);
    }
    if (!status) {
        status = trellis_report_write(page, see, &outcome->seen, error);
    }
    trellis_report_destroy(page);
    trellis_model_close(model);
    return status;
}

static trellis_status search(const char *about, struct outcome *outcome)
{
    const char *const tries[] = {"l2=0.1,1", "epochs=1..3"};
    trellis_options *options = NULL, *copy = NULL;
    trellis_search *search = NULL;
    trellis_trial trial = {.struct_size = sizeof trial};
    trellis_error *error = &outcome->error;
    bool again = strstr(about, "again"); // resumes with the scores of the run before
    if (!again) {
        unlink(paths[OUTPUT]);
    }
    trellis_status status = options_of(again ? "seed=3" : about, &options, outcome);
    if (!status) {
        status = trellis_options_copy(options, &copy, error);
    }
    if (!status) {
        status = trellis_search_create(copy, tries, 2, &search, error);
    }
    if (!status) {
        status = trellis_search_keep(search, paths[OUTPUT], "a test", error);
    }
    while (!status && !(status = trellis_search_next(search, &trial))) {
        status = trellis_search_tell(search, 0.5, 1, error);
    }
    if (status == TRELLIS_END) {
        status = trellis_search_plot(search, see, &outcome->seen, error);
    }
    for (size_t i = 0; !status && i < trellis_search_count(search); i++) {
        status = trellis_search_ranked(search, i, &trial);
    }
    trellis_search_destroy(search);
    trellis_options_destroy(copy);
    trellis_options_destroy(options);
    return status;
}

static void test_evaluation(void **state)
{
    (void)state;
    try_all(evaluate, "bootstrap=10 shuffles=10");
    try_all(evaluate, "clusters=yes");
    try_all(evaluate, "scheme=iob2 strict=yes");
    try_all(search, "halving=2");
    try_all(search, "seed=3");
    try_all(search, "again");
    try_all(report, "a title");
    try_all(report, "two models");
    try_all(sample, "labels=3 vocabulary=10 tokens=30 output-format=columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluation),
    };
    return RUN_WITH_FILES(tests);
}

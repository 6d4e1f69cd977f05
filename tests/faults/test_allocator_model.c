/* test_allocator_model.c - models, inspections, tagging and explanations,
 * with a failing allocator. */
#include "faults/allocator.h"
#include "model/model.h"

/* ---- models ---------------------------------------------------------------------------------- */

static trellis_status open_and_save(const char *about, struct outcome *outcome)
{
    trellis_model *model = NULL, *again = NULL, *small = NULL;
    trellis_error *error = &outcome->error;
    bool text = strcmp(about, "text") == 0;
    trellis_status status = text ? trellis_model_import(paths[TEXT_MODEL], &model, error)
                                 : trellis_model_open(paths[MODEL], &model, error);
    for (int json = 0; !status && json < 2; json++) {
        status = trellis_model_info(model, json, see, &outcome->seen, error);
        if (!status) {
            status = trellis_model_export(model, json, see, &outcome->seen, error);
        }
    }
    if (!status) {
        status = trellis_model_save(model, paths[OUTPUT], error);
    }
    if (!status) {
        status = trellis_model_open(paths[OUTPUT], &again, error);
    }
    if (!status) {
        status = trellis_model_verify(again, error);
    }
    if (!status) {
        status = trellis_model_repack(again, 16, &small, error);
    }
    trellis_model_close(small);
    trellis_model_close(again);
    trellis_model_close(model);
    return status;
}

/* The same without files. */
static trellis_status open_bytes(const char *about, struct outcome *outcome)
{
    trellis_model *model = NULL, *again = NULL, *imported = NULL;
    trellis_features *features = NULL;
    trellis_weight_iterator *iterator = NULL;
    trellis_error *error = &outcome->error;
    trellis_bytes_use use = strcmp(about, "copy") ? TRELLIS_BORROW : TRELLIS_COPY;
    trellis_resource given[] = {
        {"LIST", "cat\nthe\n", 8}, {"CLUSTER", "01\tdog\t2\n", 9}, {"VECTORS", "dog 1 2\n", 8}};
    trellis_status status = trellis_model_open(paths[CRF_MODEL], &model, error);
    if (!status) {
        status = trellis_model_open_bytes(model->image.data, model->image.size, use, &again, error);
    }
    if (!status) {
        status = trellis_model_write(again, see, &outcome->seen, error);
    }
    if (!status) {
        status = trellis_model_import_bytes(hmm_text, strlen(hmm_text), NULL, &imported, error);
    }
    if (!status) {
        status = trellis_features_parse(tr_text(templates_text), NULL, given, TR_COUNT(given),
                                        &features, error);
    }
    if (!status) {
        status = trellis_weight_iterator_create(again, &iterator, error);
    }
    for (const trellis_weight *weight;
         !status && (weight = trellis_weight_iterator_next(iterator));) {
        see_text(outcome, weight->attribute);
    }
    trellis_weight_iterator_destroy(iterator);
    trellis_features_destroy(features);
    trellis_model_close(imported);
    trellis_model_close(again);
    trellis_model_close(model);
    return status;
}

static trellis_status write_crfsuite(const char *about, struct outcome *outcome)
{
    trellis_model *model = NULL;
    trellis_status status = trellis_model_open(about, &model, &outcome->error);
    if (!status) {
        status = trellis_model_write_crfsuite(model, see, &outcome->seen, &outcome->error);
    }
    trellis_model_close(model);
    return status;
}

static trellis_status check_hmm(const char *about, struct outcome *outcome)
{
    (void)about;
    trellis_model *model = NULL;
    trellis_status status = trellis_model_import(paths[HMM], &model, &outcome->error);
    if (!status) {
        status = trellis_model_check_hmm(model, &outcome->error);
    }
    trellis_model_close(model);
    return status;
}

static trellis_status inspect(const char *about, struct outcome *outcome)
{
    trellis_model *model = NULL;
    trellis_inspection *inspection = NULL;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_model_open(paths[strcmp(about, "crf") ? MODEL : CRF_MODEL],
                                               &model, error);
    if (!status) {
        status = trellis_inspection_create(model, 5, &inspection, error);
    }
    for (int json = 0; !status && json < 2; json++) {
        status = trellis_inspection_report(inspection, NULL, json, see, &outcome->seen, error);
    }
    trellis_inspection_destroy(inspection);
    trellis_model_close(model);
    return status;
}

/* ---- tagging --------------------------------------------------------------------------------- */

static trellis_status ask_tagger(trellis_tagger *tagger, const trellis_sequence *sequence,
                                 bool probabilistic, struct outcome *outcome)
{
    const trellis_text *labels;
    const float *marginals;
    size_t count;
    trellis_text only[] = {trellis_scheme_from_name("iob2") == TRELLIS_IOB2 ? TR_TEXT("O")
                                                                            : TR_TEXT("")};
    trellis_status status = trellis_tagger_tag(tagger, sequence, &labels, &outcome->error);
    for (size_t i = 0; !status && i < sequence->length; i++) {
        see_text(outcome, labels[i]);
    }
    if (!status) {
        status = trellis_tagger_allow(tagger, 0, only, 1, &outcome->error);
    }
    if (!status) {
        status = trellis_tagger_nbest(tagger, sequence, 3, &count, &outcome->error);
    }
    for (size_t rank = 0; !status && rank < count; rank++) {
        labels = trellis_tagger_nth_labels(tagger, rank);
        if (!labels) { // as the header says
            return tr_fail_memory(&outcome->error);
        }
        for (size_t i = 0; i < sequence->length; i++) {
            see_text(outcome, labels[i]);
        }
        if (probabilistic && !(trellis_tagger_nth_probability(tagger, rank) >= 0)) {
            return tr_fail_memory(&outcome->error); // NaN: out of memory
        }
        status = probabilistic
                     ? trellis_tagger_nth_marginals(tagger, rank, &marginals, &outcome->error)
                     : TRELLIS_OK;
    }
    return status;
}

/* Questions for probabilistic models only. */
static trellis_status ask_probabilities(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        struct outcome *outcome)
{
    const float *marginals;
    double probability;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_tagger_marginals(tagger, &marginals, error);
    if (!status) {
        status = trellis_tagger_log_z(tagger, &probability, error);
    }
    if (!status) {
        status = trellis_tagger_nth_span_probability(tagger, 0, 0, 1, &probability, error);
    }
    return status ? status
                  : trellis_tagger_log_probability(tagger, sequence->labels, &probability, error);
}

/* Questions whose answers are numbers of labels. */
static trellis_status ask_numbers(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  struct outcome *outcome)
{
    const float *pairs;
    const int32_t *drawn, *numbers = trellis_tagger_nth_numbers(tagger, 0);
    double figure;
    trellis_error *error = &outcome->error;
    trellis_status status = numbers ? TRELLIS_OK : tr_fail_memory(error);
    if (!status) {
        status = trellis_tagger_log_probability_numbers(tagger, numbers, &figure, error);
    }
    if (!status) {
        status = trellis_tagger_pair_marginals(tagger, &pairs, error);
    }
    if (!status) {
        status = trellis_tagger_sample(tagger, 1, 2, &drawn, error);
    }
    if (!status) {
        see(&outcome->seen, (const char *)drawn, 2 * sequence->length * sizeof *drawn);
        status = trellis_tagger_entropy(tagger, &figure, error);
    }
    return status;
}

static trellis_status ask_words(trellis_tagger *tagger, const trellis_sequence *sequence,
                                struct outcome *outcome)
{
    trellis_words *words = NULL;
    const bool *known;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_words_read(paths[COLUMNS], NULL, &words, error);
    for (int own = 0; !status && own < 2; own++) {
        status = trellis_tagger_known(tagger, own ? NULL : words, sequence, &known, error);
        see(&outcome->seen, !status && known && known[0] ? "1" : "0", 1);
    }
    trellis_words_destroy(words);
    return status;
}

static trellis_status tag(const char *about, struct outcome *outcome)
{
    trellis_options *options = NULL;
    trellis_model *model = NULL;
    trellis_tagger *tagger = NULL;
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_error *error = &outcome->error;
    bool crf = strstr(about, "crf");
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_model_open(paths[crf ? CRF_MODEL : MODEL], &model, error);
    }
    if (!status) {
        status = trellis_tagger_create(model, options, &tagger, error);
    }
    if (!status) {
        status = trellis_reader_open(paths[COLUMNS], options, &reader, error);
    }
    if (!status) {
        status = trellis_tagger_bind(tagger, reader, error);
    }
    if (!status && crf) { // the file has no names: by position, as bound just now
        static const char *const names[] = {NULL, NULL, NULL};
        status = trellis_tagger_bind_columns(tagger, names, 3, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = ask_tagger(tagger, sequence, crf, outcome);
        if (!status && crf) {
            status = ask_probabilities(tagger, sequence, outcome);
        }
        if (!status && crf) {
            status = ask_numbers(tagger, sequence, outcome);
        }
        if (!status) {
            status = ask_words(tagger, sequence, outcome);
        }
        if (!status) {
            status = trellis_draw(tagger, sequence, 2, see, &outcome->seen, error);
        }
    }
    trellis_reader_close(reader);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status explain(const char *about, struct outcome *outcome)
{
    trellis_model *model = NULL;
    trellis_explainer *explainer = NULL;
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    const trellis_explanation *explanations;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_model_open(paths[strcmp(about, "crf") ? MODEL : CRF_MODEL],
                                               &model, error);
    if (!status) {
        status = trellis_explainer_create(model, NULL, &explainer, error);
    }
    if (!status) {
        status = trellis_reader_open(paths[COLUMNS], NULL, &reader, error);
    }
    if (!status) {
        status = trellis_explainer_bind(explainer, reader, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = trellis_explainer_run(explainer, sequence, &explanations, error);
        for (int json = 0; !status && json < 2; json++) {
            status = trellis_explainer_report(explainer, sequence, 3, json, see, &outcome->seen,
                                              error);
        }
    }
    trellis_reader_close(reader);
    trellis_explainer_destroy(explainer);
    trellis_model_close(model);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static void test_models(void **state)
{
    (void)state;
    try_all(open_and_save, "image");
    try_all(open_and_save, "text");
    try_all(open_bytes, "copy");
    try_all(open_bytes, "borrow");
    try_all(write_crfsuite, "tests/model/foreign/crfsuite/l1.lcrf");
    try_all(check_hmm, "");
    try_all(inspect, "");
    try_all(inspect, "crf");
}

static void test_tagging(void **state)
{
    (void)state;
    try_all(tag, "decode=viterbi");
    try_all(tag, "decode=viterbi crf");
    try_all(tag, "decode=posterior crf");
    try_all(tag, "decode=beam beam=1 constrain=iob crf");
    try_all(explain, "");
    try_all(explain, "crf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_tagging),
    };
    return RUN_WITH_FILES(tests);
}

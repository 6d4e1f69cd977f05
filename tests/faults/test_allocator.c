/* test_allocator.c - every public function that can fail, with memory running out at each of its allocations.
 *
 * A scenario is a use of the library, from the first call to the last. It is run as it is, and then once for
 * each n with the n-th allocation failing, and once more with all from the n-th on failing. Each time it must
 * end with the result that it has with enough memory, or with TRELLIS_MEMORY and a sentence; what it leaks or
 * corrupts is for the address sanitizer to find. tests/faults/test_covered.sh checks that no function of the
 * header is missing here.
 */
#include "support/failing.h"

#include "model/test_model.h"
#include "train/ways.h"

/* What a scenario has seen: the bytes and numbers that it got, as one number. */
struct outcome {
    uint64_t seen;
    trellis_error error;
};

static trellis_status see(void *user, const char *data, size_t size)
{
    uint64_t *seen = user;
    for (size_t i = 0; i < size; i++) {
        *seen = (*seen ^ (unsigned char)data[i]) * 0x100000001B3u;
    }
    return TRELLIS_OK;
}

static void see_text(struct outcome *outcome, trellis_text text)
{
    see(&outcome->seen, text.data, text.size);
    see(&outcome->seen, "|", 1);
}

typedef trellis_status scenario(const char *about, struct outcome *outcome);

/* ---- files ----------------------------------------------------------------------------------------- */

static const char columns_text[] = "the DT O\ncat NN B-X\nsat VB O\n\na DT O\ndog NN B-X\n";
static const char crfsuite_text[] =
    "O\tw=the\tx:2\nB-X\tw=cat\n\n@weight:2\nO\tw=a\nB-X\tw=dog:0.5\n\n";
static const char wordtag_text[] = "the/DT cat/NN sat/VB\na/DT dog/NN\n";
static const char jsonl_text[] =
    "{\"tokens\": [\"the\", \"caf\\u00e9\"], \"labels\": [\"O\", \"B-X\"]}\n"
    "{\"tokens\": [\"a\", \"dog\"], \"labels\": [\"O\", \"B-X\"]}\n";
static const char conllu_text[] = "# text = du lait\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
                                  "1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n"
                                  "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n"
                                  "3\tlait\tlait\tNOUN\t_\t_\t0\troot\t_\t_\n\n";
static const char prose[] = "The cat isn't here. \"Go,\" she said.\n";
static const char templates_text[] =
    "columns word pos\nnode word\nnode suffix(word,2)\nnode lower(word[-1]) & pos\n"
    "node shape(word)\nnode match(word, /^[a-c]+/)\nnode inlist(word, \"LIST\")\n"
    "node cluster(word, \"CLUSTER\", 2)\nnode word if rare(word, 2)\nedge word\nstep start end\n";

static const char hmm_text[] =
    "trellis-text 1\nnote\ttype\thmm\ntemplate\tcolumns word\n"
    "template\tnode word\ntemplate\tstep start\nlabel\tA\nlabel\tB\norder\t1\n"
    "step\tlog(1)\t\\start\tA\nstep\tlog(0)\t\\start\tB\n"
    "step\tlog(0.5)\tA\tA\nstep\tlog(0.5)\tA\tB\n"
    "step\tlog(0)\tB\tA\nstep\tlog(1)\tB\tB\n"
    "word\tlog(0.5)\tA\tx\nword\tlog(0.5)\tA\ty\n"
    "word\tlog(0.2)\tB\tx\nword\tlog(0.8)\tB\ty\n";

static char paths[17][600];
enum {
    COLUMNS,
    CRFSUITE,
    WORDTAG,
    JSONL,
    CONLLU,
    PROSE,
    GZIP,
    ZSTD,
    TEMPLATES,
    MODEL,
    TEXT_MODEL,
    CRF_MODEL,
    OUTPUT,
    DICTIONARY,
    COSTS,
    CHECKPOINT,
    HMM
};

static void put(int which, const char *name, const void *data, size_t size)
{
    snprintf(paths[which], sizeof paths[which], "%s", path_of(name));
    if (data) {
        put_file(name, data, size);
    }
}

/* The templates, with the paths of their lists filled in. */
static void put_templates(void)
{
    struct tr_buffer text = {0};
    char list[600], cluster[600];
    snprintf(list, sizeof list, "%s", put_text("list.txt", "cat\nred\tdog\nthe\n"));
    snprintf(cluster, sizeof cluster, "%s", put_text("cluster.txt", "0010\tcat\t3\n01\tdog\t2\n"));
    for (const char *at = templates_text; *at; at++) {
        if (strncmp(at, "LIST", 4) == 0) {
            tr_buffer_string(&text, list);
            at += 3;
        } else if (strncmp(at, "CLUSTER", 7) == 0) {
            tr_buffer_string(&text, cluster);
            at += 6;
        } else {
            tr_buffer_char(&text, *at);
        }
    }
    put(TEMPLATES, "templates.txt", text.data, text.size);
    tr_buffer_free(&text);
}

static void compress(int which, const char *tool, const char *name)
{
    char command[2000];
    put(which, name, NULL, 0);
    snprintf(command, sizeof command, "%s -c '%s' > '%s'", tool, paths[COLUMNS], paths[which]);
    assert_int_equal(system(command), 0);
}

static int put_files(void **state)
{
    if (group_setup(state)) {
        return -1;
    }
    put(COLUMNS, "train.txt", columns_text, sizeof columns_text - 1);
    put(CRFSUITE, "train.crfsuite", crfsuite_text, sizeof crfsuite_text - 1);
    put(WORDTAG, "train.wordtag", wordtag_text, sizeof wordtag_text - 1);
    put(JSONL, "train.jsonl", jsonl_text, sizeof jsonl_text - 1);
    put(CONLLU, "train.conllu", conllu_text, sizeof conllu_text - 1);
    put(PROSE, "prose.txt", prose, sizeof prose - 1);
    put(OUTPUT, "output", NULL, 0);
    put(CHECKPOINT, "checkpoint", NULL, 0);
    put(DICTIONARY, "dictionary.txt", "the\tO\ncat\tB-X O\n", 16);
    put(COSTS, "costs.txt", "O B-X 2\n", 8);
    put(HMM, "hmm.txt", hmm_text, sizeof hmm_text - 1);
    compress(GZIP, "gzip", "train.gz");
    compress(ZSTD, "zstd -q", "train.zst");
    put_templates();
    trellis_error error = {0};
    char settings[700];
    snprintf(settings, sizeof settings, "features=%s epochs=2 dictionary=learn dictionary-count=1",
             paths[TEMPLATES]);
    trellis_model *model = train_on(columns_text, settings);
    put(MODEL, "a.model", NULL, 0);
    assert_ok(trellis_model_save(model, paths[MODEL], &error), error);
    trellis_model_close(model);
    model = train_on(columns_text, "type=crf epochs=3 order=2 train-scheme=iobes");
    put(CRF_MODEL, "crf.model", NULL, 0);
    assert_ok(trellis_model_save(model, paths[CRF_MODEL], &error), error);
    char *text = say(model, EXPORT);
    put(TEXT_MODEL, "a.text", text, strlen(text));
    free(text);
    trellis_model_close(model);
    return 0;
}

/* ---- options, readers, writers --------------------------------------------------------------------- */

/* "name=value name=value" */
static trellis_status options_of(const char *text, trellis_options **ret_options,
                                 struct outcome *outcome)
{
    char copy[2000], *rest = copy, *pair;
    snprintf(copy, sizeof copy, "%s", text);
    trellis_status status = trellis_options_create(ret_options, &outcome->error);
    while (!status && (pair = strsep(&rest, " "))) {
        char *value = strchr(pair, '=');
        if (value) {
            *value++ = '\0';
            status = trellis_options_set(*ret_options, pair, value, &outcome->error);
        }
    }
    return status;
}

static void see_sequence(const trellis_sequence *sequence, struct outcome *outcome)
{
    for (size_t i = 0; i < sequence->length * sequence->columns; i++) {
        see_text(outcome, sequence->cells[i]);
    }
    for (size_t i = 0; sequence->labels && i < sequence->length; i++) {
        see_text(outcome, sequence->labels[i]);
    }
    for (size_t i = 0; sequence->attributes && i < sequence->attribute_begin[sequence->length];
         i++) {
        see_text(outcome, sequence->attributes[i].name);
    }
}

static int file_of(const char *name)
{
    static const char *const names[] = {"columns", "crfsuite", "wordtag", "jsonl",
                                        "conllu",  "text",     "gzip",    "zstd"};
    for (size_t i = 0; i < TR_COUNT(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return (int)i;
        }
    }
    return COLUMNS;
}

/* "IN OUT": reads a corpus in one format and writes it in another. */
static trellis_status convert(const char *about, struct outcome *outcome)
{
    char in[20] = "", out[20] = "", settings[100];
    sscanf(about, "%19s %19s", in, out);
    int file = file_of(in);
    snprintf(settings, sizeof settings, "format=%s output-format=%s",
             file == GZIP || file == ZSTD ? "columns" : in, out);
    trellis_options *options = NULL;
    trellis_reader *reader = NULL;
    trellis_writer *writer = NULL;
    const trellis_sequence *sequence;
    trellis_error *error = &outcome->error;
    trellis_status status = options_of(settings, &options, outcome);
    if (!status) {
        status = trellis_reader_open(paths[file], options, &reader, error);
    }
    if (!status) {
        status = trellis_writer_create(options, see, &outcome->seen, &writer, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        see_sequence(sequence, outcome);
        status = trellis_writer_put(writer, sequence, sequence->labels, error);
    }
    if (status == TRELLIS_END) {
        status = trellis_writer_finish(writer, error);
    }
    trellis_writer_destroy(writer);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return status;
}

static trellis_status schemes(const char *about, struct outcome *outcome)
{
    (void)about;
    static const trellis_text labels[] = {{"B-X", 3}, {"I-X", 3}, {"O", 1}, {"B-Y", 3}, {"B-Y", 3}};
    trellis_scheme_storage *storage = NULL;
    const trellis_text *found;
    trellis_status status = TRELLIS_OK;
    for (int to = TRELLIS_IOB1; !status && to < TRELLIS_NO_SCHEME; to++) {
        status = trellis_scheme_convert(TRELLIS_IOB2, (trellis_scheme)to, labels, TR_COUNT(labels),
                                        &storage, &found, &outcome->error);
        for (size_t i = 0; !status && i < TR_COUNT(labels); i++) {
            see_text(outcome, found[i]);
        }
    }
    trellis_scheme_storage_destroy(storage);
    return status;
}

/* ---- features -------------------------------------------------------------------------------------- */

static trellis_status features(const char *about, struct outcome *outcome)
{
    trellis_features *set = NULL;
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_error *error = &outcome->error;
    const char *path = strcmp(about, "file") == 0 ? paths[TEMPLATES] : about;
    trellis_status status = trellis_features_open(path, &set, error);
    if (!status) {
        status = trellis_reader_open(paths[COLUMNS], NULL, &reader, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = trellis_features_print(set, reader, sequence, see, &outcome->seen, error);
    }
    trellis_reader_close(reader);
    trellis_features_destroy(set);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* ---- training -------------------------------------------------------------------------------------- */

/* The options of a training on the columns file, or on the crfsuite file where they say so. A template file
 * is TEMPLATES, a dictionary DICTIONARY, costs COSTS, another model MODEL, a checkpoint CHECKPOINT. */
static trellis_status train(const char *about, struct outcome *outcome)
{
    static const struct {
        const char *name;
        int path;
    } named[] = {{"@templates", TEMPLATES}, {"@dictionary", DICTIONARY}, {"@costs", COSTS},
                 {"@model", CRF_MODEL},     {"@checkpoint", CHECKPOINT}, {"@dev", COLUMNS}};
    char settings[2000] = "threads=1 ";
    size_t at = strlen(settings);
    for (const char *from = about; *from;) {
        bool found = false;
        for (size_t i = 0; !found && i < TR_COUNT(named); i++) {
            size_t n = strlen(named[i].name);
            if ((found = strncmp(from, named[i].name, n) == 0)) {
                at += (size_t)snprintf(settings + at, sizeof settings - at, "%s",
                                       paths[named[i].path]);
                from += n;
            }
        }
        if (!found) {
            settings[at++] = *from++;
            settings[at] = '\0';
        }
    }
    trellis_options *options = NULL;
    trellis_model *model = NULL;
    const char *path = paths[strstr(about, "crfsuite") ? CRFSUITE : COLUMNS];
    unlink(paths[CHECKPOINT]);
    trellis_status status = options_of(settings, &options, outcome);
    for (int run = 0; !status && run < (strstr(about, "@checkpoint") ? 2 : 1); run++) {
        trellis_model_close(model);
        status = trellis_train(options, &path, 1, NULL, NULL, &model, &outcome->error);
    }
    if (!status) {
        status = trellis_model_export(model, false, see, &outcome->seen, &outcome->error);
    }
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status;
}

/* ---- models ---------------------------------------------------------------------------------------- */

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

/* ---- tagging --------------------------------------------------------------------------------------- */

static trellis_status ask_tagger(trellis_tagger *tagger, const trellis_sequence *sequence,
                                 bool probable, struct outcome *outcome)
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
        if (!labels) { // as the header has it
            return tr_fail_memory(&outcome->error);
        }
        for (size_t i = 0; i < sequence->length; i++) {
            see_text(outcome, labels[i]);
        }
        if (probable && !(trellis_tagger_nth_probability(tagger, rank) >= 0)) {
            return tr_fail_memory(&outcome->error); // NaN: there was none to be had
        }
        status = probable ? trellis_tagger_nth_marginals(tagger, rank, &marginals, &outcome->error)
                          : TRELLIS_OK;
    }
    return status;
}

/* What only a probabilistic model can be asked. */
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
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = ask_tagger(tagger, sequence, crf, outcome);
        if (!status && crf) {
            status = ask_probabilities(tagger, sequence, outcome);
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
    const trellis_explanation *reasons;
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
        status = trellis_explainer_run(explainer, sequence, &reasons, error);
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

/* ---- evaluation, drawing --------------------------------------------------------------------------- */

static const trellis_text gold[] = {{"B-X", 3}, {"I-X", 3}, {"O", 1}, {"B-Y", 3}};
static const trellis_text found[] = {{"B-X", 3}, {"O", 1}, {"O", 1}, {"B-Z", 3}};

/* An evaluation of some sequences; `good` ones are all right. */
static trellis_status fill_evaluation(const trellis_options *options, bool good,
                                      trellis_evaluation **ret_evaluation, trellis_error *error)
{
    static const bool known[] = {true, false, true, true};
    trellis_status status = trellis_evaluation_create(options, ret_evaluation, error);
    for (size_t n = 0; !status && n <= TR_COUNT(gold); n++) {
        status = trellis_evaluation_add(*ret_evaluation, gold, good ? gold : found, n, error);
    }
    trellis_labelled sequence = {
        .length = TR_COUNT(gold), .gold = gold, .predicted = good ? gold : found, .known = known};
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
    trellis_cluster_scores clusters;
    trellis_comparison comparison;
    trellis_interval intervals[TRELLIS_MEASURE_COUNT];
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
        status = trellis_evaluation_intervals(evaluation, intervals, error);
    }
    if (!status) {
        status = trellis_evaluation_compare(evaluation, other, &comparison, error);
    }
    if (!status) {
        status = report_evaluation(evaluation, &comparison, outcome);
    }
    trellis_evaluation_destroy(other);
    trellis_evaluation_destroy(evaluation);
    trellis_options_destroy(options);
    return status;
}

static trellis_status draw(const char *about, struct outcome *outcome)
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

/* ---- reports --------------------------------------------------------------------------------------- */

static trellis_status report(const char *about, struct outcome *outcome)
{
    static const trellis_text cells[] = {{"the", 3}, {"DT", 2}, {"cat", 3}, {"NN", 2}};
    const trellis_sequence sequence = {.length = 2, .columns = 2, .cells = cells, .weight = 1};
    const trellis_labelled labelled = {.length = 2, .gold = gold, .predicted = found};
    trellis_model *model = NULL;
    trellis_report *page = NULL;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_model_open(paths[CRF_MODEL], &model, error);
    if (!status) {
        status = trellis_report_create(model, NULL, about, &page, error);
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

/* ---- searching ------------------------------------------------------------------------------------- */

static trellis_status search(const char *about, struct outcome *outcome)
{
    const char *const tries[] = {"l2=0.1,1", "epochs=1..3"};
    trellis_options *options = NULL, *copy = NULL;
    trellis_search *search = NULL;
    trellis_trial trial;
    trellis_error *error = &outcome->error;
    bool again = strstr(about, "again"); // from the scores that are there
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

/* ---- all n ----------------------------------------------------------------------------------------- */

static long runs, refusals;

/* Runs a scenario with the n-th allocation failing; false where it has fewer. */
static bool run_failing(scenario *run, const char *about, uint64_t right, long n, bool on)
{
    struct outcome outcome = {0};
    failing_from(n, on);
    trellis_status status = run(about, &outcome);
    long gone = atomic_load(&failed);
    failing_from(0, false);
    runs++;
    refusals += status != TRELLIS_OK;
    if (status && status != TRELLIS_MEMORY) {
        fail_msg("%s: allocation %ld%s: %s: %s", about, n, on ? " and on" : "",
                 trellis_status_name(status), outcome.error.message);
    }
    if (status && (outcome.error.status != status || !*outcome.error.message)) {
        fail_msg("%s: allocation %ld: no sentence about it", about, n);
    }
    if (!status && outcome.seen != right) {
        fail_msg("%s: allocation %ld: another result, and no error", about, n);
    }
    return gone > 0;
}

static void try_all(scenario *run, const char *about)
{
    struct outcome whole = {0};
    failing_from(0, false);
    trellis_status status = run(about, &whole); // once for what is made only once
    whole = (struct outcome){0};
    status = run(about, &whole);
    if (status) {
        fail_msg("%s: %s: %s", about, trellis_status_name(status), whole.error.message);
    }
    for (int on = 0; on < 2; on++) {
        for (long n = 1; run_failing(run, about, whole.seen, n, on); n++) {}
    }
}

static void test_reading_and_writing(void **state)
{
    (void)state;
    static const char *const pairs[] = {"columns columns", "crfsuite crfsuite", "wordtag wordtag",
                                        "jsonl jsonl",     "conllu conllu",     "text wordtag",
                                        "gzip inline",     "zstd jsonl",        "jsonl columns"};
    for (size_t i = 0; i < TR_COUNT(pairs); i++) {
        try_all(convert, pairs[i]);
    }
    try_all(schemes, "");
}

static void test_features(void **state)
{
    (void)state;
    for (size_t i = 0; trellis_preset_name(i); i++) {
        try_all(features, trellis_preset_name(i));
    }
    try_all(features, "file");
}

static void test_training(void **state)
{
    (void)state;
    char way[100], settings[200];
    for (size_t i = 0; way_at(i, way); i++) {
        snprintf(settings, sizeof settings, "features=id epochs=2 %s", way);
        try_all(train, settings);
    }
}

static void test_training_options(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "features=@templates epochs=1",
        "features=id epochs=2 type=crf l1=0.1 warm-up=0",
        "features=id epochs=2 type=crf select-l1=0.1 order=2",
        "features=id epochs=1 dev=@dev dictionary=learn dictionary-count=1 train-scheme=iobes",
        "features=id epochs=1 dictionary=@dictionary constrain=iob",
        "features=id epochs=1 algorithm=pa cost=@costs",
        "features=id epochs=1 type=mira from=@model order=2 observed-states=yes",
        "features=id epochs=2 type=ssvm checkpoint=@checkpoint resume=yes",
        "features=id epochs=2 type=crf checkpoint=@checkpoint resume=yes select-l1=0.1",
        "format=crfsuite epochs=1",
        "format=crfsuite epochs=1 type=crf algorithm=sgd batch=2",
        "features=id epochs=1 type=crf algorithm=sgd rate=0.1 order=2 prune=0.05",
        "features=id epochs=1 partial=yes counted=2 threads=2",
    };
    for (size_t i = 0; i < TR_COUNT(variants); i++) {
        try_all(train, variants[i]);
    }
}

static void test_models(void **state)
{
    (void)state;
    try_all(open_and_save, "image");
    try_all(open_and_save, "text");
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

static void test_the_rest(void **state)
{
    (void)state;
    try_all(evaluate, "bootstrap=10 shuffles=10");
    try_all(evaluate, "clusters=yes");
    try_all(evaluate, "scheme=iob2 strict=yes");
    try_all(search, "halving=2");
    try_all(search, "seed=3");
    try_all(search, "again");
    try_all(report, "a title");
    try_all(draw, "labels=3 vocabulary=10 tokens=30 output-format=columns");
}

static int say_how_often(void **state)
{
    print_message("%ld runs with a failing allocator, %ld of them refused\n", runs, refusals);
    return group_teardown(state);
}

int main(void)
{
    if (access("/dev/shm", W_OK) == 0) { // many small files, some of them synced
        setenv("TRELLIS_TMP", "/dev/shm", 1);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_and_writing),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_training_options),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_tagging),
        cmocka_unit_test(test_the_rest),
    };
    return cmocka_run_group_tests(tests, put_files, say_how_often);
}

/* test_allocator_corpus.c - reading and writing corpora, label schemes, features and word clusters,
 * with a failing allocator. */
#include "faults/allocator.h"

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

/* "IN OUT [OPTION]": reads a corpus in one format and writes it in another. Whoever goes on reading
 * after memory has run out gets sequences or errors. */
static trellis_status convert(const char *about, struct outcome *outcome)
{
    char in[20] = "", out[20] = "", option[40] = "", settings[200];
    sscanf(about, "%19s %19s %39s", in, out, option);
    int file = file_of(in);
    snprintf(settings, sizeof settings, "format=%s output-format=%s%s%s",
             file == GZIP || file == ZSTD ? "columns" : in, out, *option ? " " : "", option);
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
        const trellis_span span = {.begin = 0, .end = 1};
        const trellis_annotation annotation = {.struct_size = sizeof annotation,
                                               .labels = sequence->labels,
                                               .spans = &span,
                                               .span_count = 1};
        status = strcmp(out, "jsonl") == 0
                     ? trellis_writer_put_tagged(writer, sequence, &annotation, error)
                     : trellis_writer_put(writer, sequence, sequence->labels, error);
    }
    if (status == TRELLIS_END) {
        status = trellis_writer_finish(writer, error);
    }
    for (int more = 0; status == TRELLIS_MEMORY && reader && more < 3; more++) {
        uint64_t seen = outcome->seen;
        if (trellis_reader_next(reader, &sequence, NULL) == TRELLIS_OK) {
            see_sequence(sequence, outcome);
        }
        outcome->seen = seen;
    }
    trellis_writer_destroy(writer);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return status;
}

/* Reads the first sequence of a file as it is, and the others in batches. */
static trellis_status read_batches(const char *about, struct outcome *outcome)
{
    trellis_reader *reader = NULL, *batch = NULL;
    const trellis_sequence *sequence;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_reader_open(paths[file_of(about)], NULL, &reader, error);
    if (!status) {
        status = trellis_reader_next(reader, &sequence, error);
    }
    if (!status) {
        see_sequence(sequence, outcome);
        status = trellis_reader_open_batch(reader, &batch, error);
    }
    while (!status && !(status = trellis_reader_take_batch(reader, 20, batch, error))) {
        while (!(status = trellis_reader_next(batch, &sequence, error))) {
            see_sequence(sequence, outcome);
        }
        status = status == TRELLIS_END ? TRELLIS_OK : status;
    }
    trellis_reader_close(batch);
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

static trellis_status schemes(const char *about, struct outcome *outcome)
{
    (void)about;
    static const trellis_text labels[] = {{"B-X", 3}, {"I-X", 3}, {"O", 1}, {"B-Y", 3}, {"B-Y", 3}};
    trellis_scheme_storage *storage = NULL;
    const trellis_text *converted;
    trellis_status status = TRELLIS_OK;
    for (int to = TRELLIS_IOB1; !status && to < TRELLIS_NO_SCHEME; to++) {
        status = trellis_scheme_convert(TRELLIS_IOB2, (trellis_scheme)to, labels, TR_COUNT(labels),
                                        &storage, &converted, &outcome->error);
        for (size_t i = 0; !status && i < TR_COUNT(labels); i++) {
            see_text(outcome, converted[i]);
        }
    }
    trellis_scheme_storage_destroy(storage);
    return status;
}

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

static trellis_status cluster(const char *about, struct outcome *outcome)
{
    trellis_options *options = NULL;
    trellis_clusters *clusters = NULL;
    trellis_error *error = &outcome->error;
    const char *const text[] = {paths[COLUMNS]};
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_cluster(options, 3, text, 1, NULL, NULL, &clusters, error);
    }
    if (!status) {
        status = trellis_clusters_write(clusters, see, &outcome->seen, error);
    }
    trellis_clusters_destroy(clusters);
    trellis_options_destroy(options);
    return status;
}

static void test_reading_and_writing(void **state)
{
    (void)state;
    static const char *const pairs[] = {"columns columns", "crfsuite crfsuite",
                                        "wordtag wordtag", "jsonl jsonl",
                                        "conllu conllu",   "text wordtag",
                                        "gzip inline",     "zstd jsonl",
                                        "jsonl columns",   "text wordtag tokenizer=unicode"};
    for (size_t i = 0; i < TR_COUNT(pairs); i++) {
        try_all(convert, pairs[i]);
    }
    try_all(schemes, "");
}

/* Bytes of a format, kept in a corpus, which is read. */
static trellis_status keep(const char *about, struct outcome *outcome)
{
    static const char *const names[] = {"word", NULL, "chunk"};
    bool ready_made = strcmp(about, "format=crfsuite") == 0;
    const char *text = ready_made ? crfsuite_text : columns_text;
    trellis_source bytes = {.struct_size = sizeof bytes, .data = text, .data_size = strlen(text)};
    trellis_options *options = NULL;
    trellis_corpus *corpus = NULL;
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_error *error = &outcome->error;
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_corpus_create(&corpus, error);
    }
    if (!status && !ready_made) {
        status = trellis_corpus_name_columns(corpus, names, TR_COUNT(names), error);
    }
    if (!status) {
        status = trellis_corpus_read(corpus, &bytes, options, error);
    }
    trellis_source memory = {.struct_size = sizeof memory, .corpus = corpus};
    if (!status) {
        status = trellis_reader_open_source(&memory, options, &reader, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        see_sequence(sequence, outcome);
    }
    if (status == TRELLIS_END) { // a sequence that fails to be added leaves the corpus as it was
        static const trellis_text cells[] = {{"new", 3}, {"words", 5}, {"here", 4}};
        trellis_sequence more = {.struct_size = sizeof more,
                                 .length = 1,
                                 .columns = 3,
                                 .cells = cells,
                                 .labels = cells,
                                 .weight = 2,
                                 .group = 1};
        size_t before = trellis_corpus_tokens(corpus);
        status = ready_made ? TRELLIS_OK : trellis_corpus_add(corpus, &more, error);
        assert_int_equal(trellis_corpus_tokens(corpus), before + (!status && !ready_made));
    }
    trellis_reader_close(reader);
    trellis_corpus_destroy(corpus);
    trellis_options_destroy(options);
    return status;
}

static void test_batches(void **state)
{
    (void)state;
    try_all(read_batches, "columns");
    try_all(read_batches, "gzip");
    try_all(read_batches, "zstd");
}

static void test_memory(void **state)
{
    (void)state;
    try_all(keep, "format=columns");
    try_all(keep, "format=crfsuite");
}

static void test_features(void **state)
{
    (void)state;
    for (size_t i = 0; trellis_preset_name(i); i++) {
        try_all(features, trellis_preset_name(i));
    }
    try_all(features, "file");
}

static void test_clusters(void **state)
{
    (void)state;
    try_all(cluster, "threads=2");
}

/* The same file as training and as dev data, so that all is found twice. */
static trellis_status lint(const char *about, struct outcome *outcome)
{
    (void)about;
    const trellis_source source = {.struct_size = sizeof source, .path = paths[COLUMNS]};
    trellis_finding found = {.struct_size = sizeof found};
    trellis_lint *lint = NULL;
    trellis_error *error = &outcome->error;
    trellis_status status = trellis_lint_create(&lint, error);
    for (int role = TRELLIS_TRAIN_DATA; !status && role <= TRELLIS_DEV_DATA; role++) {
        status = trellis_lint_read(lint, &source, NULL, (trellis_data_role)role, error);
    }
    if (!status) {
        status = trellis_lint_finish(lint, error);
    }
    for (size_t i = 0; !status && trellis_lint_finding(lint, i, &found); i++) {
        see_text(outcome, tr_text(found.message));
    }
    trellis_lint_destroy(lint);
    return status;
}

static void test_lint(void **state)
{
    (void)state;
    try_all(lint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_and_writing),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_lint),
    };
    return RUN_WITH_FILES(tests);
}

/* allocator.h - scenarios with a failing allocator, for the tests test_allocator_*.c.
 *
 * A scenario is a use of the library, from the first call to the last. It runs once with enough
 * memory, and then, for each n, once with the n-th allocation failing and once with all from the
 * n-th on failing. Each run must end with the result that it has with enough memory, or with
 * TRELLIS_MEMORY and a message; leaks and corruption are for the address sanitizer to find.
 * tests/faults/test_covered.sh checks that every function of the header that returns a status is in
 * some scenario.
 */
#ifndef TRELLIS_TESTS_FAULTS_ALLOCATOR_H
#define TRELLIS_TESTS_FAULTS_ALLOCATOR_H

#include "support/failing.h"

#include "model/test_model.h"

/* A hash of all results of a scenario. */
struct outcome {
    uint64_t seen;
    trellis_error error;
};

static inline trellis_status see(void *user, const char *data, size_t size)
{
    uint64_t *seen = user;
    for (size_t i = 0; i < size; i++) {
        *seen = (*seen ^ (unsigned char)data[i]) * 0x100000001B3u;
    }
    return TRELLIS_OK;
}

static inline void see_text(struct outcome *outcome, trellis_text text)
{
    see(&outcome->seen, text.data, text.size);
    see(&outcome->seen, "|", 1);
}

typedef trellis_status scenario(const char *about, struct outcome *outcome);
/* ---- files ----------------------------------------------------------------------------------- */

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
    "node cluster(word, \"CLUSTER\", 2)\nnode embedding(word, \"VECTORS\")\n"
    "node learned(word, inside first)\nnode word if rare(word, 2)\nedge word\nstep start end\n";

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

static inline void put(int which, const char *name, const void *data, size_t size)
{
    snprintf(paths[which], sizeof paths[which], "%s", path_of(name));
    if (data) {
        put_file(name, data, size);
    }
}

/* The templates, with the paths of their lists filled in. */
static inline void put_templates(void)
{
    struct tr_buffer text = {0};
    char list[600], cluster[600], vectors[600];
    snprintf(list, sizeof list, "%s", put_text("list.txt", "cat\nred\tdog\nthe\n"));
    snprintf(cluster, sizeof cluster, "%s", put_text("cluster.txt", "0010\tcat\t3\n01\tdog\t2\n"));
    snprintf(vectors, sizeof vectors, "%s", put_text("vectors.txt", "2 2\ncat 1 2\ndog 0.5 1\n"));
    for (const char *at = templates_text; *at; at++) {
        if (strncmp(at, "LIST", 4) == 0) {
            tr_buffer_string(&text, list);
            at += 3;
        } else if (strncmp(at, "CLUSTER", 7) == 0) {
            tr_buffer_string(&text, cluster);
            at += 6;
        } else if (strncmp(at, "VECTORS", 7) == 0) {
            tr_buffer_string(&text, vectors);
            at += 6;
        } else {
            tr_buffer_char(&text, *at);
        }
    }
    put(TEMPLATES, "templates.txt", text.data, text.size);
    tr_buffer_free(&text);
}

static inline void compress(int which, const char *tool, const char *name)
{
    char command[2000];
    put(which, name, NULL, 0);
    snprintf(command, sizeof command, "%s -c '%s' > '%s'", tool, paths[COLUMNS], paths[which]);
    assert_int_equal(system(command), 0);
}

static inline int put_files(void **state)
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

/* "name=value name=value" */
static inline trellis_status options_of(const char *text, trellis_options **ret_options,
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

/* ---- running a scenario ---------------------------------------------------------------------- */

static long runs, failures;

/* Runs a scenario with the n-th allocation failing; false if it has fewer. */
static inline bool run_failing(scenario *run, const char *about, uint64_t expected, long n, bool on)
{
    struct outcome outcome = {0};
    failing_from(n, on);
    trellis_status status = run(about, &outcome);
    long gone = atomic_load(&failed);
    failing_from(0, false);
    runs++;
    failures += status != TRELLIS_OK;
    if (status && status != TRELLIS_MEMORY) {
        fail_msg("%s: allocation %ld%s: %s: %s", about, n, on ? " and on" : "",
                 trellis_status_name(status), outcome.error.message);
    }
    if (status && (outcome.error.status != status || !*outcome.error.message)) {
        fail_msg("%s: allocation %ld: no message", about, n);
    }
    if (!status && outcome.seen != expected) {
        fail_msg("%s: allocation %ld: another result, and no error", about, n);
    }
    return gone > 0;
}

static inline void try_all(scenario *run, const char *about)
{
    struct outcome whole = {0};
    failing_from(0, false);
    trellis_status status = run(about, &whole); // first for what is initialised only once
    whole = (struct outcome){0};
    status = run(about, &whole);
    if (status) {
        fail_msg("%s: %s: %s", about, trellis_status_name(status), whole.error.message);
    }
    for (int on = 0; on < 2; on++) {
        for (long n = 1; run_failing(run, about, whole.seen, n, on); n++) {}
    }
}

static inline int print_runs(void **state)
{
    print_message("%ld runs with a failing allocator, %ld of them failed\n", runs, failures);
    return group_teardown(state);
}

/* Runs a group of tests; many small files, some of them synced, are faster in memory. */
#define RUN_WITH_FILES(tests)                                                                      \
    ((access("/dev/shm", W_OK) == 0 ? setenv("TRELLIS_TMP", "/dev/shm", 1) : 0),                   \
     cmocka_run_group_tests(tests, put_files, print_runs))

#endif

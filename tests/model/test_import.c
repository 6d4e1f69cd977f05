/* test_import.c - models written by hand: the HMM of the course notes, and every kind of error. */
#include "test_model.h"

#include <math.h>

/* ---- the HMM of Wu (2013), Example 1 --------------------------------------------------------- */

enum { D, N, V, LABELS };
static const double start[LABELS] = {0.8, 0, 0.2};
static const double step[LABELS][LABELS] = {{0, 1, 0}, {0.2, 0.2, 0.6}, {0.8, 0, 0.2}};
static const double emits[LABELS][2] = {{0, 1}, {1, 0}, {1, 0}}; // "can", "the"
static const char names[] = "DNV";

/* The value used for log 0, so that the labelling with the fewest impossible events is best. */
static const double impossible = -1e6;

static double log_of(double p)
{
    return p > 0 ? log(p) : impossible;
}

/* log P(X, Z) */
static double log_joint(const int *words, const int *labels, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += log_of(i ? step[labels[i - 1]][labels[i]] : start[labels[i]]) +
               log_of(emits[labels[i]][words[i]]);
    }
    return sum;
}

static long count_impossible(double score)
{
    return lround(score / impossible);
}

/* All 3^n paths; returns how many tie for the best. */
static size_t best_path(const int *words, size_t n, int *best, double *ret_score)
{
    size_t paths = 1, ties = 0;
    *ret_score = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        paths *= LABELS;
    }
    for (size_t code = 0; code < paths; code++) {
        int labels[16];
        size_t rest = code;
        for (size_t i = n; i-- > 0; rest /= LABELS) {
            labels[i] = (int)(rest % LABELS);
        }
        double score = log_joint(words, labels, n);
        if (score > *ret_score + 1e-9) {
            *ret_score = score;
            memcpy(best, labels, n * sizeof *best);
            ties = 1;
        } else if (score > *ret_score - 1e-9) {
            ties++;
        }
    }
    return ties;
}

static size_t cut_words(const char *text, int *words)
{
    size_t n = 0;
    for (const char *at = text; *at; at += 3 + (at[3] == ' ')) {
        words[n++] = strncmp(at, "the", 3) == 0;
    }
    return n;
}

static void check_sentence(const trellis_model *model, const char *text)
{
    int words[16], best[16], predicted_labels[16];
    double expected, score;
    size_t n = cut_words(text, words), ties = best_path(words, n, best, &expected);
    char *found = tag_by(model, text, &score);
    assert_int_equal(strlen(found), 2 * n - 1);
    for (size_t i = 0; i < n; i++) {
        predicted_labels[i] = (int)(strchr(names, found[2 * i]) - names);
    }
    if (count_impossible(expected)) { // an answer all the same
        assert_true(isinf(score) && score < 0);
        assert_int_equal(count_impossible(log_joint(words, predicted_labels, n)),
                         count_impossible(expected));
        free(found);
        return;
    }
    assert_true(fabs(score - expected) < 1e-5);
    assert_true(fabs(log_joint(words, predicted_labels, n) - expected) < 1e-5);
    if (ties == 1) {
        assert_memory_equal(predicted_labels, best, n * sizeof *best);
    }
    free(found);
}

static void test_pidgin(void **state)
{
    (void)state;
    trellis_model *model = import_model("data/hmm/pidgin.txt");
    assert_string_equal(trellis_model_note(model, "type"), "hmm");

    /* By hand: of the ways D N ? ? D N the middle two are N V (0.2 * 0.6 * 0.8), V V (0.6 * 0.2 *
     * 0.8), which tie, N N (0.2 * 0.2 * 0.2) or V N (impossible); before them 0.8 * 1, after them
     * 1. */
    double score, expected = log(0.8 * 0.2 * 0.6 * 0.8);
    char *found = tag_by(model, "the can can can the can", &score);
    assert_true(strcmp(found, "D N V V D N") == 0 || strcmp(found, "D N N V D N") == 0);
    assert_true(fabs(score - expected) < 1e-5);
    free(found);

    assert_tags(model, "can the can", "V D N");
    assert_tags(model, "the", "D");
    assert_tags(model, "the the", "D D");
    char text[4 * 9];
    for (size_t n = 1; n <= 8; n++) { // every sentence of up to eight words
        for (unsigned code = 0; code < 1u << n; code++) {
            for (size_t i = 0; i < n; i++) {
                memcpy(text + 4 * i, code >> i & 1 ? "the " : "can ", 4);
            }
            text[4 * n - 1] = '\0';
            check_sentence(model, text);
        }
    }
    trellis_model_close(model);
}

/* The text form of it survives a round trip, minus infinity and all. */
static void test_pidgin_again(void **state)
{
    (void)state;
    trellis_model *model = import_model("data/hmm/pidgin.txt");
    char *text = say(model, EXPORT);
    assert_non_null(strstr(text, "\nstep\t-inf\t\\start\tN\n"));
    trellis_model *again = import_model(put_text("again.txt", text));
    char *second = say(again, EXPORT);
    assert_string_equal(text, second);
    check_sentence(again, "can can can the can can the");
    trellis_model *opened = open_model("data/hmm/pidgin.txt"); // "trellis-text 1" and ...
    trellis_model_close(opened);
    opened = open_model(path_of("again.txt")); // ... "trellis-text<tab>1" are both opened
    trellis_model_close(opened);
    free(text);
    free(second);
    trellis_model_close(again);
    trellis_model_close(model);
}

/* ---- what may be written --------------------------------------------------------------------- */

static trellis_status import_text(const char *text, size_t size, trellis_error *error)
{
    trellis_model *model;
    *error = (trellis_error){0};
    trellis_status status = trellis_model_import(put_file("import.txt", text, size), &model, error);
    assert_true(status ? !model : model != NULL);
    trellis_model_close(model);
    return status;
}

#define HEAD "trellis-text\t1\n"
#define WORDS HEAD "template\tcolumns word\ntemplate\tnode word\nlabel\tA\nlabel\tB\n"

static void test_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD "label\tA\n",
        "trellis-text 1\n# a comment\n\nlabel\tA",
        "trellis-text 1\r\nlabel\tA\r\n",
        HEAD "note\tkey\t\nlabel\tA\nlabel\t\\\\start\\t\\\\\nstep\t1\tA\tA\n",
        HEAD "label\tA\norder\t2\nstep\t1e-3\t\\start\tA\tA\nstep\t-inf\tA\tA\t\\end\nstep\t2\tA\n",
        HEAD "label\tA\nlabel\tB\ncount-cap\t3\nstep\t1\tA\tA\tB\nstep\t1\t\\start\tA\n",
        HEAD "label\tA\nlabel\tB\norder\t2\nobserved-states\nstep\t1\tA\tA\tB\n",
        HEAD "label\tA\nforbid\tA\tA\nforbid\t\\start\tA\nforbid\tA\t\\end\n",
        HEAD "label\tA\nnode\t16.5\tA\t0123456789abcdef\tanything\n",
        WORDS "word\t1\tA\tx\nword\t-inf\tB\tx\nword\tlog(1)\tA\ty\n",
    };
    for (size_t i = 0; i < TR_COUNT(texts); i++) {
        trellis_error error;
        assert_ok(import_text(texts[i], strlen(texts[i]), &error), error);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

struct bad_text {
    const char *text;
    uint64_t line;
    const char *sentence; // a piece of it
};

static const struct bad_text bad_texts[] = {
    {"", 0, "begins with"},
    {"\n", 1, "begins with"},
    {"trellis-text\t2\n", 1, "begins with"},
    {"trellis-text\n", 1, "begins with"},
    {HEAD, 1, "no labels"},
    {HEAD "note\ta\tb\n", 2, "no labels"},
    {HEAD "label\tA\nlable\tB\n", 3, "unknown item 'lable'"},
    {HEAD "label\tA\n label\tB\n", 3, "unknown item"},
    /* fields */
    {HEAD "label\n", 2, "fields"},
    {HEAD "label\tA\tB\n", 2, "fields"},
    {HEAD "note\tx\n", 2, "fields"},
    {HEAD "label\tA\nstep\t1\n", 3, "fields"},
    {HEAD "label\tA\norder\t8\nstep\t1\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\n", 4, "fields"},
    {HEAD "label\tA\norder\t8\nstep\t1\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\tA\n", 4,
     "fields"},
    {HEAD "label\tA\nnode\t1\tA\t0123456789abcdef\n", 3, "fields"},
    {HEAD "label\tA\nobserved-states\tyes\n", 3, "fields"},
    /* labels */
    {HEAD "label\tA\n\n# again\nlabel\tA\n", 5, "twice"},
    {HEAD "label\tA\nstep\t1\tA\tA\nlabel\tB\n", 4, "before all weights"},
    {HEAD "label\tA\nforbid\tA\tA\nlabel\tB\n", 4, "before all weights"},
    {HEAD "label\tA\nstep\t1\tA\tB\n", 3, "no label 'B'"},
    {HEAD "label\tA\nforbid\tA\tB\n", 3, "no label 'B'"},
    {HEAD "label\tA\nnode\t1\tB\t0123456789abcdef\tx\n", 3, "no label 'B'"},
    {HEAD "label\tA\nnode\t1\t\\start\t0123456789abcdef\tx\n", 3, "escape"},
    {HEAD "label\tA\nedge\t1\tA\tB\t0123456789abcdef\tx\n", 3, "no label 'B'"},
    {HEAD "label\tA\nedge\t1\tB\tA\t0123456789abcdef\tx\n", 3, "no label 'B'"},
    {HEAD "label\t\\start\n", 2, "escape"},
    {HEAD "label\tA\\\n", 2, "escape"},
    {HEAD "note\ta\\0\tb\n", 2, "escape"},
    /* steps */
    {HEAD "label\tA\nstep\t1\tA\t\\start\n", 3, "start must come first"},
    {HEAD "label\tA\nstep\t1\t\\end\tA\n", 3, "the end last"},
    {HEAD "label\tA\nstep\t1\t\\start\n", 3, "start must come first"},
    {HEAD "label\tA\nstep\t1\t\\end\n", 3, "the end last"},
    {HEAD "label\tA\nstep\t1\tA\tA\tA\n", 3, "a gram of 3 labels in a model of order 1"},
    {HEAD "label\tA\norder\t0\nstep\t1\tA\tA\n", 4, "a gram of 2 labels"},
    {HEAD "label\tA\nstep\t1\tA\tA\nstep\t2\tA\tA\n", 4, "'step' line is a duplicate"},
    {HEAD "label\tA\nforbid\t\\end\tA\n", 3, "the end has no successor"},
    {HEAD "label\tA\nforbid\tA\t\\start\n", 3, "the start has no predecessor"},
    {HEAD "label\tA\nlabel\tB\ncount-cap\t3\nstep\t1\tA\tB\tA\n", 5, "but the last must be equal"},
    {HEAD "label\tA\ncount-cap\t3\nstep\t1\t\\start\tA\tA\n", 4, "but the last must be equal"},
    /* numbers */
    {HEAD "label\tA\norder\t9\n", 3, "from 0 to 8"},
    {HEAD "label\tA\norder\t-1\n", 3, "from 0 to 8"},
    {HEAD "label\tA\norder\tone\n", 3, "from 0 to 8"},
    {HEAD "label\tA\norder\t\n", 3, "from 0 to 8"},
    {HEAD "label\tA\ncount-cap\t9\n", 3, "from 0 to 8"},
    {HEAD "label\tA\norder\t2\nstep\t1\tA\tA\tA\norder\t1\n", 5, "before all 'step' lines"},
    {HEAD "label\tA\norder\t2\ncount-cap\t2\n", 4, "needs order 1"},
    {HEAD "label\tA\ncount-cap\t2\norder\t2\n", 4, "needs order 1"},
    {HEAD "label\tA\nstep\tnan\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\tinf\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\t1e39\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\t\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\t1,5\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\t1x\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\tlog(\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\tlog()\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\tlog(1.5)\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\tlog(-0.5)\tA\tA\n", 3, "a weight must be"},
    {HEAD "label\tA\nstep\tlog(nan)\tA\tA\n", 3, "a weight must be"},
    /* attributes */
    {HEAD "label\tA\nnode\t1\tA\t0123456789abcdeg\tx\n", 3, "16 hexadecimal digits"},
    {HEAD "label\tA\nnode\t1\tA\t0123\tx\n", 3, "16 hexadecimal digits"},
    {HEAD "label\tA\nnode\t1\tA\t\tx\n", 3, "16 hexadecimal digits"},
    {HEAD "label\tA\nnode\t1\tA\t0123456789abcdef0\tx\n", 3, "16 hexadecimal digits"},
    {HEAD "label\tA\nedge\t1\tA\tA\t0123456789ABCDEF\tx\n", 3, "16 hexadecimal digits"},
    {HEAD "label\tA\nnode\t1\tA\t0123456789abcdef\tx\nlabel\tB\n", 4, "before all weights"},
    {HEAD "label\tA\nnode\t1\tA\t0123456789abcdef\tx\n\nnode\t2\tA\t0123456789abcdef\tx\n", 5,
     "'x' has two weights"},
    {HEAD "label\tA\nedge\t1\tA\tA\t0123456789abcdef\tx\nedge\t2\tA\tA\t0123456789abcdef\ty\n", 4,
     "'x' has two weights"},
    {HEAD "label\tA\nnode\t1\tA\t0123456789abcdef\tx\nnode\t2\tA\t0123456789abcdef\tx\n"
          "node\t1\tA\tfedcba9876543210\ty\n",
     4, "'x' has two weights"},
    {HEAD "label\tA\nnode\t1\tA\tfedcba9876543210\tx\nnode\t2\tA\tfedcba9876543210\tx\n"
          "node\t1\tA\t0123456789abcdef\ty\n",
     4, "'x' has two weights"},
    /* unknown words */
    {HEAD "label\tA\nunknown\t0.5\n", 3, "a log probability"},
    {HEAD "label\tA\nunknown\t-inf\n", 3, "a log probability"},
    {HEAD "label\tA\nunknown\tmany\n", 3, "a weight must be"},
    {HEAD "label\tA\nunknown\t-1\tB\n", 3, "no label 'B'"},
    {HEAD "label\tA\nunknown\t-1\tA\tA\n", 3, "fields"},
    {HEAD "label\tA\nunknown\t-1\tA\nunknown\t-1\tA\n", 4, "duplicate"},
    {HEAD "label\tA\nunknown\t-1\tA\n", 3, "1 are missing"},
    {HEAD "label\tA\nunknown\t-1\nlabel\tB\n", 4, "before all weights"},
    {HEAD "label\tA\nstep\t1\tA\nunknown\t-1\nunknown\t-1\tA\n", 5, "for an HMM"},
    /* templates */
    {WORDS "word\t1\tA\tx\nword\t2\tA\tx\n", 7, "two weights"},
    {WORDS "word\t1\tA\n", 6, "fields"},
    {WORDS "word\tlog(2)\tA\tx\n", 6, "a weight must be"},
    {WORDS "word\t1\tC\tx\n", 6, "no label 'C'"},
    {WORDS "word\t1\tA\tx\\y\n", 6, "escape"},
    {WORDS "word\t1\tA\tx\ntemplate\tnode lower(word)\n", 7, "templates must come before"},
    {HEAD "label\tA\nword\t1\tA\tx\n", 3, "one attribute"},
    {HEAD "template\tcolumns a b\ntemplate\tnode b\nlabel\tA\nword\t1\tA\tx\n", 5, "one attribute"},
    {HEAD "template\tnode word\nlabel\tA\nword\t1\tA\tx\n", 4, "a column 'word'"},
    {HEAD "template\tcolumns word\ntemplate\tnode word\ntemplate\tnode lower(word)\nlabel\tA\n"
          "word\t1\tA\tx\n",
     6, "one attribute"},
    {HEAD "label\tA\nblock\t5g\n", 3, "pairs of hexadecimal"},
    {HEAD "label\tA\nblock\t5\n", 3, "pairs of hexadecimal"},
    {HEAD "label\tA\nblock\t00ff\nnote\tx\ty\n", 3, "corrupt"},
    {HEAD "label\tA\ntemplate\tstep\nblock\t00ff\n", 4, "not both"},
    {HEAD "label\tA\nblock\t00ff\ntemplate\tstep\n", 4, "not both"},
};

static void test_bad_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(bad_texts); i++) {
        const struct bad_text *m = &bad_texts[i];
        trellis_error error;
        trellis_status status = import_text(m->text, strlen(m->text), &error);
        if (status != TRELLIS_FORMAT || error.status != status || error.line != m->line ||
            !strstr(error.message, m->sentence) || !strstr(error.message, "import.txt")) {
            fail_msg("%s-> %s, line %llu, not line %llu: %s", m->text, trellis_status_name(status),
                     (unsigned long long)error.line, (unsigned long long)m->line, error.message);
        }
        assert_int_equal(import_text(m->text, strlen(m->text), &error), TRELLIS_FORMAT);
    }
}

static void test_zero_bytes(void **state)
{
    (void)state;
    static const char text[] = HEAD "label\tA\nnote\ta\0b\tc\n";
    trellis_error error;
    assert_int_equal(import_text(text, sizeof text - 1, &error), TRELLIS_FORMAT);
    assert_int_equal(error.line, 3);
}

/* A template that does not compile is reported with its line in this file. */
static void test_bad_templates(void **state)
{
    (void)state;
    static const char text[] = HEAD "label\tA\ntemplate\tcolumns word\n# between\n"
                                    "template\tnode nosuchfunction(word)\n";
    trellis_error error;
    assert_int_equal(import_text(text, strlen(text), &error), TRELLIS_TEMPLATE);
    assert_int_equal(error.line, 5);
    assert_non_null(strstr(error.message, "import.txt:5: "));
    assert_null(strstr(error.message, "imported"));
    assert_non_null(strstr(error.message, "nosuchfunction"));
}

/* The compiled templates of a block point into it, so it must not be moved. */
static void test_block_after_word(void **state)
{
    (void)state;
    char options[700], templates[900];
    snprintf(templates, sizeof templates, "columns word\nnode inlist(word,\"%s\")\nstep\n",
             put_text("words.txt", "cat\ndog\n"));
    snprintf(options, sizeof options, "epochs=3 features=%s", put_text("list.tpl", templates));
    trellis_model *model = train_on("cat A\nthe B\n\nthe B\ndog A\n", options);
    char *text = say(model, EXPORT), *end = strstr(text, "\nlabel\t");
    struct tr_buffer hostile = {0};
    assert_non_null(end);
    tr_buffer_add(&hostile, text, (size_t)(end - text));
    tr_buffer_string(&hostile, "\nlabel\tA\nword\t1\tA\tcat\n");
    uint64_t line = 1;
    for (size_t i = 0; i < hostile.size; i++) {
        line += hostile.data[i] == '\n';
    }
    for (int i = 0; i < 100; i++) {
        tr_buffer_string(&hostile, "block\t00000000000000000000000000000000\nword\t1\tA\tdog\n");
    }
    trellis_error error;
    assert_int_equal(import_text(hostile.data, hostile.size, &error), TRELLIS_FORMAT);
    assert_int_equal(error.line, line);
    assert_non_null(strstr(error.message, "templates must come before"));
    tr_buffer_free(&hostile);
    free(text);
    trellis_model_close(model);
}

/* A text of a few lines must not ask for a graph of gigabytes. */
static void test_graph_larger_than_the_file(void **state)
{
    (void)state;
    static const struct {
        unsigned labels, order;
        trellis_status wanted;
    } cases[] = {{300, 2, TRELLIS_LIMIT},
                 {90, 3, TRELLIS_LIMIT},
                 {8, 8, TRELLIS_LIMIT},
                 {90, 2, TRELLIS_OK},
                 {5000, 1, TRELLIS_OK}};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        struct tr_buffer text = {0};
        trellis_error error = {0};
        tr_buffer_format(&text, "trellis-text 1\norder\t%u\n", cases[i].order);
        for (unsigned label = 0; label < cases[i].labels; label++) {
            tr_buffer_format(&text, "label\tL%u\n", label);
        }
        assert_int_equal(import_text(text.data, text.size, &error), cases[i].wanted);
        tr_buffer_free(&text);
    }
}

/* Nor may it open files. */
static void test_templates_open_no_files(void **state)
{
    (void)state;
    char text[900];
    trellis_error error = {0};
    snprintf(text, sizeof text,
             "trellis-text 1\ntemplate\tcolumns word\ntemplate\tnode inlist(word,\"%s\")\n"
             "label\tA\n",
             put_text("secret.txt", "cat\n"));
    assert_true(import_text(text, strlen(text), &error) != TRELLIS_OK);
    assert_non_null(strstr(error.message, "cannot open files"));
}

/* Keys that all hash to the same bucket are refused early. */
static void test_crowded_keys(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    tr_buffer_string(&text, HEAD "label\tA\n");
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t high = (uint64_t)i << 32, key = high | i; // key ^ key >> 32 is 0 below
        tr_buffer_format(&text, "node\t1\tA\t%016llx\tx%u\n", (unsigned long long)key, i);
    }
    trellis_error error;
    assert_int_equal(import_text(text.data, text.size, &error), TRELLIS_LIMIT);
    tr_buffer_free(&text);
}

/* The maximum number of labels, and one more. Without transitions and weights the model is
 * small. */
static void test_many_labels(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    tr_buffer_string(&text, HEAD);
    for (int i = 0; i < 60000; i++) {
        tr_buffer_format(&text, "label\tL%d\n", i);
    }
    trellis_error error;
    assert_ok(import_text(text.data, text.size, &error), error);
    tr_buffer_string(&text, "label\tone more\n");
    assert_int_equal(import_text(text.data, text.size, &error), TRELLIS_FORMAT);
    assert_int_equal(error.line, 60002);
    tr_buffer_free(&text);
}

static void test_missing_file(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = (trellis_model *)&error;
    assert_int_equal(trellis_model_import(path_of("no such file"), &model, &error), TRELLIS_IO);
    assert_null(model);
    assert_int_equal(trellis_model_import(path_of("no such file"), &model, NULL), TRELLIS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pidgin),
        cmocka_unit_test(test_pidgin_again),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_bad_texts),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_bad_templates),
        cmocka_unit_test(test_block_after_word),
        cmocka_unit_test(test_graph_larger_than_the_file),
        cmocka_unit_test(test_templates_open_no_files),
        cmocka_unit_test(test_crowded_keys),
        cmocka_unit_test(test_many_labels),
        cmocka_unit_test(test_missing_file),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

/* test_sample.c - sequences sampled from an HMM have its support and its frequencies. */
#include "test_model.h"

#include "base/intern.h"

#include <math.h>

/* Draws and writes into a text; the caller frees it. */
static trellis_status draw(const trellis_model *model, const char *options_text, char **ret_text,
                           trellis_error *error)
{
    trellis_options *options = make_options(options_text);
    struct tr_buffer text = {0};
    trellis_writer *writer;
    assert_ok(trellis_writer_create(options, to_buffer, &text, &writer, error), *error);
    trellis_status status = trellis_sample(model, options, writer, error);
    assert_ok(trellis_writer_finish(writer, NULL), *error);
    trellis_writer_destroy(writer);
    trellis_options_destroy(options);
    tr_buffer_char(&text, 0);
    *ret_text = text.data;
    return status;
}

static char *must_draw(const trellis_model *model, const char *options)
{
    char *text;
    trellis_error error = {0};
    assert_ok(draw(model, options, &text, &error), error);
    return text;
}

struct counts {
    size_t sequences, tokens, starts[3], steps[3][3], from[3];
};

/* Reads "word label" lines and blank lines. */
static struct counts count(const char *text)
{
    static const char names[] = "DNV";
    struct counts counts = {0};
    int before = -1;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (*line == '\n') {
            before = -1;
            continue;
        }
        char word[8], label[8];
        assert_int_equal(sscanf(line, "%7s %7s", word, label), 2);
        int z = (int)(strchr(names, label[0]) - names);
        assert_string_equal(word, z == 0 ? "the" : "can");
        counts.tokens++;
        if (before < 0) {
            counts.sequences++;
            counts.starts[z]++;
        } else {
            counts.steps[before][z]++;
            counts.from[before]++;
        }
        before = z;
    }
    return counts;
}

/* Within five standard deviations of a share p of n. */
static void assert_share(size_t hits, size_t n, double p)
{
    double deviation = sqrt(p * (1 - p) / (double)n);
    assert_true(n > 1000);
    assert_true(fabs((double)hits / (double)n - p) <= 5 * deviation);
}

static void test_pidgin(void **state)
{
    (void)state;
    static const double step[3][3] = {{0, 1, 0}, {0.2, 0.2, 0.6}, {0.8, 0, 0.2}};
    trellis_model *model = import_model("data/hmm/pidgin.txt");
    char *text = must_draw(model, "tokens=60000 mean-length=8");
    struct counts counts = count(text);
    assert_true(counts.tokens >= 60000);
    assert_share(counts.starts[0], counts.sequences, 0.8);
    assert_int_equal(counts.starts[1], 0);
    assert_share(counts.starts[2], counts.sequences, 0.2);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            assert_share(counts.steps[a][b], counts.from[a], step[a][b]);
        }
    }
    assert_share(counts.sequences, counts.tokens, 1 / 8.0); // mean length 8

    char *again = must_draw(model, "tokens=60000 mean-length=8");
    char *other = must_draw(model, "tokens=60000 mean-length=8 seed=2");
    assert_string_equal(text, again);
    assert_string_not_equal(text, other);
    free(text);
    free(again);
    free(other);

    text = must_draw(model, "tokens=0");
    assert_string_equal(text, "");
    free(text);
    trellis_model_close(model);
}

#define HMM                                                                                        \
    "trellis-text\t1\nnote\ttype\thmm\ntemplate\tcolumns word\ntemplate\tnode word\n"              \
    "template\tstep start end\nlabel\tA\nlabel\tB\n"

static trellis_model *hmm_of(const char *lines)
{
    struct tr_buffer text = {0};
    tr_buffer_string(&text, HMM);
    tr_buffer_string(&text, lines);
    const char *path = put_file("hmm.txt", text.data, text.size);
    tr_buffer_free(&text);
    return import_model(path);
}

/* An HMM with end probabilities: mean-length is ignored. */
static void test_ends(void **state)
{
    (void)state;
    trellis_model *model = hmm_of("step\tlog(1)\t\\start\tA\nstep\tlog(1)\tA\tB\n"
                                  "step\tlog(1)\tB\t\\end\nword\tlog(1)\tA\tx\nword\t-inf\tB\tx\n"
                                  "word\t-inf\tA\ty\nword\tlog(1)\tB\ty\n");
    char *text = must_draw(model, "tokens=4 mean-length=100");
    assert_string_equal(text, "x\tA\ny\tB\n\nx\tA\ny\tB\n\n");
    free(text);
    trellis_model_close(model);
}

static void check_draw(const char *lines, trellis_status expected, const char *sentence)
{
    trellis_model *model = hmm_of(lines);
    trellis_error error = {0};
    char *text;
    assert_int_equal(draw(model, "tokens=10", &text, &error), expected);
    assert_non_null(strstr(error.message, sentence));
    free(text);
    trellis_model_close(model);
}

static void test_bad_hmms(void **state)
{
    (void)state;
    check_draw("", TRELLIS_DATA, "no transition from '<start>'");
    check_draw("step\t0\t\\start\tA\n", TRELLIS_DATA, "'A' of the HMM has no words");
    check_draw("step\t0\t\\start\tA\nword\t0\tA\tx\nstep\t-inf\tA\tB\nword\t-1\tB\tx\n",
               TRELLIS_DATA, "");
    /* There is an end, but no path to it: sampling must not run forever. */
    check_draw("step\t0\t\\start\tA\nstep\t0\tA\tA\nstep\t0\tB\t\\end\nword\tlog(0.5)\tA\tx\n",
               TRELLIS_DATA, "no sequence of the HMM ended");
    check_draw("step\t0\t\\start\tA\nstep\t0\tA\tA\nstep\t1e9\tA\t\\end\nstep\t1e9\tA\tB\n"
               "word\t1e9\tA\tx\nword\t1\tA\ty\n",
               TRELLIS_DATA, "sum to inf, not to 1");
}

/* An impossible end is no end: the mean length applies. */
static void test_impossible_end(void **state)
{
    (void)state;
    trellis_model *model = hmm_of("step\t0\t\\start\tA\nstep\t0\tA\tA\nstep\t-inf\tA\t\\end\n"
                                  "word\tlog(0.5)\tA\tx\n");
    char *text = must_draw(model, "tokens=100 mean-length=1");
    assert_int_equal(strlen(text), 100 * strlen("x\tA\n\n"));
    free(text);
    trellis_model_close(model);
}

static void test_other_models(void **state)
{
    (void)state;
    trellis_model *model = train_on("a X\nb Y\n", "epochs=1");
    trellis_error error = {0};
    char *text;
    assert_int_equal(draw(model, "tokens=10", &text, &error), TRELLIS_DATA);
    assert_non_null(strstr(error.message, "from an HMM only"));
    free(text);
    trellis_model_close(model);
}

/* ---- trained HMMs: how often a labelling is drawn, against the weights of the exported text -- */

enum { LONGEST = 3, VOCABULARY = 4 };

/* A weight for each gram of A, B, C, < (start) and > (end), and the sum over the words of a
 * label. */
struct exported {
    struct {
        char gram[4];
        double weight;
    } steps[200];
    size_t count;
    double words[3];
};

static struct exported read_export(const trellis_model *model, double known)
{
    struct exported result = {0};
    char *text = say(model, EXPORT), *rest = text, *line;
    size_t listed[3] = {0};
    while ((line = strsep(&rest, "\n"))) {
        char name[3][16] = {"", "", ""}, label[16], word[64];
        double weight;
        int n = sscanf(line, "step\t%lf\t%15s\t%15s\t%15s", &weight, name[0], name[1], name[2]);
        for (int i = 0; i < n - 1 && i < 3; i++) {
            char c = strcmp(name[i], "\\start") == 0 ? '<'
                     : strcmp(name[i], "\\end") == 0 ? '>'
                                                     : name[i][0];
            result.steps[result.count].gram[i] = c;
            result.steps[result.count].weight = weight;
        }
        result.count += n > 1;
        assert_true(result.count < TR_COUNT(result.steps));
        if (sscanf(line, "node\t%lf\t%15s\t%*s\tword[0]=%63s", &weight, label, word) == 3) {
            result.words[label[0] - 'A'] += exp(weight) / known;
            listed[label[0] - 'A']++;
        }
    }
    for (int z = 0; z < 3;
         z++) { // words never seen with the label, and where known is 1, an unknown one
        result.words[z] += (double)(VOCABULARY - listed[z]) + (known == 1);
    }
    free(text);
    return result;
}

static double weight_of(const struct exported *e, const char *gram, size_t length)
{
    for (size_t i = 0; i < e->count; i++) {
        if (strlen(e->steps[i].gram) == length && memcmp(e->steps[i].gram, gram, length) == 0) {
            return e->steps[i].weight;
        }
    }
    return 0;
}

/* Reading the last of "<AB" after the others, the sum over its words: every gram of up to order + 1
 * labels counts. */
static double factor_of(const struct exported *e, const char *labels, size_t end, size_t order)
{
    char last = labels[end - 1];
    double sum = last == '>' ? 0 : log(e->words[last - 'A']);
    for (size_t length = 1; length <= order + 1 && length <= end; length++) {
        sum += weight_of(e, labels + end - length, length);
    }
    return exp(sum);
}

/* P("<ABC>") */
static double share_of(const struct exported *e, const char *labels, size_t order)
{
    double product = 1;
    for (size_t end = 2; end <= strlen(labels); end++) {
        product *= factor_of(e, labels, end, order);
    }
    return product;
}

/* P of all sequences but the empty one, whose share under interpolation is in no weight: a forward
 * pass over the last two labels. */
static double total_of(const struct exported *e, size_t order)
{
    static const char names[] = "<ABC";
    double forward[4][4] = {{0}}, total = 0;
    for (int y = 1; y < 4; y++) {
        forward[0][y] = factor_of(e, (char[]){'<', names[y]}, 2, order);
    }
    for (int length = 1; length < 1000; length++) {
        double next[4][4] = {{0}};
        for (int xy = 0; xy < 16; xy++) {
            char labels[] = {names[xy / 4], names[xy % 4], '>'};
            double before = forward[xy / 4][xy % 4];
            total += before > 0 ? before * factor_of(e, labels, 3, order) : 0;
            for (int z = 1; before > 0 && z < 4; z++) {
                labels[2] = names[z];
                next[xy % 4][z] += before * factor_of(e, labels, 3, order);
            }
        }
        memcpy(forward, next, sizeof next);
    }
    return total;
}

/* How many of the drawn sequences have these labels, "<ABC>". */
static size_t count_labels(const char *text, const char *labels, size_t *ret_sequences)
{
    char found[LONGEST + 3] = "<";
    size_t length = 1, hits = 0;
    *ret_sequences = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (*line != '\n') {
            found[length] = strchr(line, '\t')[1];
            length += length <= LONGEST + 1; // one more: too long
            continue;
        }
        found[length] = '>';
        hits += length + 1 == strlen(labels) && memcmp(found, labels, length + 1) == 0;
        ++*ret_sequences;
        length = 1;
    }
    return hits;
}

/* All labellings of one to three tokens. */
static void check_labellings(const struct exported *e, const char *text, size_t order,
                             const char *options)
{
    double all = 0, total = total_of(e, order);
    assert_true(total > 0.5 && total < 1 + 1e-4);
    for (int code = 0; code < 3 + 9 + 27; code++) {
        int length = code < 3 ? 1 : code < 12 ? 2 : 3;
        int rest = code - (length == 1 ? 0 : length == 2 ? 3 : 12);
        char labels[LONGEST + 3] = "<";
        for (int i = 1; i <= length; i++, rest /= 3) {
            labels[i] = (char)('A' + rest % 3);
        }
        labels[length + 1] = '>';
        size_t sequences, hits = count_labels(text, labels, &sequences);
        double p = share_of(e, labels, order) / total, share = (double)hits / (double)sequences;
        all += p;
        if (!(fabs(share - p) <= 5 * sqrt(p * (1 - p) / (double)sequences) + 1e-4)) {
            fail_msg("%s: %s: %.5f of %zu were drawn, and it has %.5f", options, labels, share,
                     sequences, p);
        }
    }
    assert_true(all > 0.5 && all < 1);
}

static void test_trained(void **state)
{
    (void)state;
    static const char corpus[] =
        "a A\nb B\nc C\n\na A\nb B\n\nb B\nc C\na A\n\na A\na A\nb B\nx B\n\n"
        "c C\n\nc C\nb B\n\nb C\n\na A\nc C\na A\n";
    static const struct {
        const char *options;
        size_t order;
        double known; // with the preset 'hmm': one word of 19 tokens was seen once
    } cases[] = {
        {"type=hmm order=2 features=id", 2, 1},
        {"type=hmm order=2 features=hmm", 2, 1 - 1.5 / 20},
        {"type=hmm order=2 features=hmm alpha=0.5", 2, 1 - 1.5 / 20},
        {"type=hmm order=1 features=id", 1, 1},
        {"type=hmm order=1 features=hmm smoothing=interpolated", 1, 1 - 1.5 / 20},
        {"type=hmm order=1 features=id smoothing=add alpha=0.5", 1, 1},
        {"type=hmm order=1 features=hmm smoothing=add alpha=0.5", 1, 1 - 1.5 / 20},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        trellis_model *model = train_on(corpus, cases[i].options);
        char *text = must_draw(model, "tokens=200000");
        struct exported e = read_export(model, cases[i].known);
        check_labellings(&e, text, cases[i].order, cases[i].options);
        free(text);
        trellis_model_close(model);
    }
}

/* Only words that were seen: no ending, no case, and as often as the weights say. */
static void test_trained_words(void **state)
{
    (void)state;
    trellis_model *model = train_on("a A\na A\nb A\n\na A\nq B\n", "type=hmm order=2");
    char *text = must_draw(model, "tokens=50000");
    size_t a = 0, all = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        if (*line != '\n' && strchr(line, '\t')[1] == 'A') {
            assert_true(strchr("abq", line[0]) && line[1] == '\t');
            a += line[0] == 'a';
            all++;
        }
    }
    /* All are rare: each counts once more, by case and ending. Of 5 words in lower case 4 are A. */
    double longer_a = (1 + 0.8) / 2, longer_q = (0 + 0.8) / 2;
    assert_share(a, all, (3 + longer_a) / (3 + longer_a + 1 + longer_a + longer_q));
    free(text);
    trellis_model_close(model);
}

/* The random HMM: the sizes asked for, and always the same. */
static void test_random_hmm(void **state)
{
    (void)state;
    static const char *const sizes[] = {"labels=1 vocabulary=1 tokens=1 mean-length=1",
                                        "labels=7 vocabulary=3 tokens=500",
                                        "labels=300 vocabulary=1000 tokens=5000"};
    for (size_t i = 0; i < TR_COUNT(sizes); i++) {
        char *text = must_draw(NULL, sizes[i]), *again = must_draw(NULL, sizes[i]);
        assert_string_equal(text, again);
        unsigned labels, vocabulary, tokens, seen = 0;
        assert_int_equal(
            sscanf(sizes[i], "labels=%u vocabulary=%u tokens=%u", &labels, &vocabulary, &tokens),
            3);
        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
            unsigned word, label;
            if (*line != '\n') {
                assert_int_equal(sscanf(line, "w%u L%u", &word, &label), 2);
                assert_true(word < vocabulary && label < labels);
                seen++;
            }
        }
        assert_true(seen >= tokens);
        free(text);
        free(again);
    }
}

/* Each of a few words is drawn. */
static void test_words_of_small_vocabularies(void **state)
{
    (void)state;
    for (int words = 1; words <= 3; words++) {
        char options[100];
        snprintf(options, sizeof options,
                 "labels=1 vocabulary=%d tokens=3000 output-format=columns", words);
        char *text = must_draw(NULL, options);
        struct tr_intern known = {0};
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
            size_t size = strcspn(line, " \t");
            if (size) {
                assert_true(tr_intern_add(&known, (trellis_text){line, size}) != TR_NONE);
            }
        }
        assert_int_equal(tr_intern_count(&known), words);
        tr_intern_free(&known);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pidgin),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_bad_hmms),
        cmocka_unit_test(test_impossible_end),
        cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_trained),
        cmocka_unit_test(test_trained_words),
        cmocka_unit_test(test_random_hmm),
        cmocka_unit_test(test_words_of_small_vocabularies),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

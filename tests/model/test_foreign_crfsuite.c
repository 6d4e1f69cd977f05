/* test_foreign_crfsuite.c - models of CRFsuite: the same answers as its own tagger, the same file
 * when written again, and any damage a clear error.
 *
 * tests/model/foreign/crfsuite has models of every algorithm of CRFsuite 0.12.2, learned from
 * train.txt or, with values, train-values.txt, and what `crfsuite tag -p -i` printed; its README.md
 * says how they were made.
 */
#include <endian.h>

#include "test_model.h"

#include <math.h>

#define FOLDER "tests/model/foreign/crfsuite/"

static const char *const names[] = {"lbfgs", "l1",     "l2sgd", "ap",  "pa",
                                    "arow",  "values", "empty", "ties"};

static char *get_model(const char *name, size_t *ret_size)
{
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s.lcrf", name);
    return get_file(path, ret_size);
}

static struct tr_buffer written(const trellis_model *model)
{
    struct tr_buffer bytes = {0};
    trellis_error error = {0};
    assert_ok(trellis_model_write_crfsuite(model, to_buffer, &bytes, &error), error);
    return bytes;
}

/* ---- the same answers ------------------------------------------------------------------------ */

/* The next line of the output, without its end. */
static char *next_line(char **at)
{
    char *line = strsep(at, "\n");
    assert_non_null(line);
    return line;
}

static void check_line(char **at, const char *name, double value)
{
    char *line = next_line(at);
    assert_int_equal(strncmp(line, name, strlen(name)), 0);
    double expected = strtod(line + strlen(name), NULL);
    assert_true(fabs(value - expected) <= 1e-5 * fmax(1, fabs(expected)));
}

static void check_sequence(trellis_tagger *tagger, const trellis_sequence *sequence, char **at)
{
    trellis_error error = {0};
    const trellis_text *labels;
    const float *marginals;
    assert_ok(trellis_tagger_tag(tagger, sequence, &labels, &error), error);
    check_line(at, "@score\t", trellis_tagger_score(tagger));
    check_line(at, "@probability\t", trellis_tagger_nth_probability(tagger, 0));
    assert_ok(trellis_tagger_nth_marginals(tagger, 0, &marginals, &error), error);
    for (size_t i = 0; i < sequence->length; i++) {
        char *line = next_line(at), *colon = strrchr(line, ':');
        assert_non_null(colon);
        assert_int_equal(colon - line, labels[i].size);
        assert_memory_equal(line, labels[i].data, labels[i].size);
        assert_true(fabs((double)marginals[i] - strtod(colon + 1, NULL)) <= 1e-5);
    }
    assert_string_equal(next_line(at), "");
}

static void test_answers(void **state)
{
    (void)state;
    trellis_options *options = make_options("format=crfsuite invalid-utf8=keep");
    for (size_t m = 0; m < TR_COUNT(names); m++) {
        char path[200];
        size_t size, sequences = 0;
        snprintf(path, sizeof path, FOLDER "%s.lcrf", names[m]);
        trellis_model *model = open_model(path);
        snprintf(path, sizeof path, FOLDER "%s.out", names[m]);
        char *output = get_file(path, &size), *at = output;
        bool values = strcmp(names[m], "values") == 0;
        trellis_error error = {0};
        trellis_reader *reader;
        trellis_tagger *tagger;
        const trellis_sequence *sequence;
        assert_ok(trellis_reader_open(values ? FOLDER "test-values.txt" : FOLDER "test.txt",
                                      options, &reader, &error),
                  error);
        assert_ok(trellis_tagger_create(model, options, &tagger, &error), error);
        assert_ok(trellis_tagger_bind(tagger, reader, &error), error);
        trellis_status status;
        while (!(status = trellis_reader_next(reader, &sequence, &error))) {
            check_sequence(tagger, sequence, &at);
            sequences++;
        }
        assert_int_equal(status, TRELLIS_END);
        assert_int_equal(sequences, values ? 3 : 9);
        assert_string_equal(at, "");
        assert_string_equal(trellis_model_note(model, "type"), "crf");
        assert_string_equal(trellis_model_note(model, "program"), "CRFsuite");
        trellis_tagger_destroy(tagger);
        trellis_reader_close(reader);
        trellis_model_close(model);
        free(output);
    }
    trellis_options_destroy(options);
}

/* ---- writing --------------------------------------------------------------------------------- */

static uint32_t u32_at(const char *data, size_t at)
{
    uint32_t value;
    memcpy(&value, data + at, sizeof value);
    return le32toh(value);
}

static void set_u32_at(char *file, size_t at, uint32_t value)
{
    value = htole32(value);
    memcpy(file + at, &value, sizeof value);
}

static void set_double_at(char *file, size_t at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htole64(bits);
    memcpy(file + at, &bits, sizeof bits);
}

/* CRFsuite's weights as we hold them. */
static void round_weights(char *file)
{
    size_t at = u32_at(file, 28);
    uint32_t count = u32_at(file, at + 8);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits;
        double weight;
        memcpy(&bits, file + at + 12 + 20 * (size_t)i + 12, sizeof bits);
        bits = le64toh(bits);
        memcpy(&weight, &bits, sizeof weight);
        weight = (double)(float)weight;
        set_double_at(file, at + 12 + 20 * (size_t)i + 12, weight);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(names); m++) {
        size_t size;
        trellis_error error = {0};
        trellis_model *model;
        char *file = get_model(names[m], &size);
        assert_ok(trellis_model_open_bytes(file, size, TRELLIS_BORROW, &model, &error), error);
        struct tr_buffer bytes = written(model);
        round_weights(file);
        assert_int_equal(bytes.size, size);
        assert_memory_equal(bytes.data, file, size);
        tr_buffer_free(&bytes);
        trellis_model_close(model);
        free(file);
    }
}

static void assert_not_written(const char *corpus, const char *options, const char *why)
{
    trellis_model *model = train_on(corpus, options);
    struct tr_buffer bytes = {0};
    trellis_error error = {0};
    assert_int_equal(trellis_model_write_crfsuite(model, to_buffer, &bytes, &error), TRELLIS_LIMIT);
    if (!strstr(error.message, why)) {
        fail_msg("'%s' does not say '%s'", error.message, why);
    }
    assert_int_equal(bytes.size, 0);
    trellis_model_close(model);
}

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\n\nbarks NN\n";

static void test_refused(void **state)
{
    (void)state;
    const char *plain = put_text("plain.tpl", "columns word\nnode word\nstep\n");
    const char *edge = put_text("edge.tpl", "columns word\nnode word\nedge word\nstep\n");
    const char *ends = put_text("ends.tpl", "columns word\nnode word\nstep start end\n");
    const struct {
        const char *features, *options, *why;
    } cases[] = {
        {plain, "type=crf order=2", "order"},
        {edge, "type=crf", "edge templates"},
        {ends, "type=crf", "first or the last label"},
        {plain, "type=memm", "normalised locally"},
        {plain, "type=crf dictionary=learn dictionary-count=1", "tag dictionary"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char options[900];
        snprintf(options, sizeof options, "%s epochs=3 features=%s", cases[i].options,
                 cases[i].features);
        assert_not_written(corpus, options, cases[i].why);
    }
    assert_not_written("a B-X\nb I-X\nc O\n", "type=crf scheme=iob2 train-scheme=iobes features=id",
                       "scheme");
    trellis_model *model;
    trellis_error error = {0};
    static const char priors[] = "trellis-text 1\ntemplate\tstep\nlabel\ta\nlabel\tb\nstep\t1\ta\n";
    static const char same[] = "trellis-text 1\ntemplate\tstep\nlabel\ta\nnode\t1\ta\t"
                               "0000000000000001\tx\nnode\t1\ta\t0000000000000002\tx\n";
    static const struct {
        const char *text, *why;
    } texts[] = {{priors, "labels have weights"}, {same, "both called 'x'"}};
    for (size_t i = 0; i < TR_COUNT(texts); i++) {
        struct tr_buffer bytes = {0};
        assert_ok(
            trellis_model_import_bytes(texts[i].text, strlen(texts[i].text), NULL, &model, &error),
            error);
        assert_int_equal(trellis_model_write_crfsuite(model, to_buffer, &bytes, &error),
                         TRELLIS_LIMIT);
        assert_non_null(strstr(error.message, texts[i].why));
        trellis_model_close(model);
    }
}

/* A template model, written and opened again, has the attributes and the weights of the
 * original. */
static void test_templates(void **state)
{
    (void)state;
    char options[700];
    trellis_error error = {0};
    trellis_model *again;
    snprintf(options, sizeof options, "type=crf epochs=5 features=%s",
             put_text("plain.tpl", "columns word\nnode word\nnode suffix(word,1)\nstep\n"));
    trellis_model *model = train_on(corpus, options);
    struct tr_buffer bytes = written(model);
    assert_ok(trellis_model_open_bytes(bytes.data, bytes.size, TRELLIS_COPY, &again, &error),
              error);
    trellis_weight_iterator *all;
    const trellis_weight *weight;
    size_t count = 0;
    assert_ok(trellis_weight_iterator_create(again, &all, &error), error);
    for (; (weight = trellis_weight_iterator_next(all)); count++) {
        if (weight->kind == TRELLIS_NODE_WEIGHT) {
            size_t number = trellis_model_find_attribute(model, false, weight->attribute);
            assert_true(number != SIZE_MAX);
        }
    }
    assert_true(count > 10);
    trellis_weight_iterator_destroy(all);
    trellis_model_close(again);
    trellis_model_close(model);
    tr_buffer_free(&bytes);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static trellis_status try_open(const char *file, size_t size, trellis_error *error)
{
    trellis_model *model;
    char *copy = malloc(size ? size : 1); // exactly as long, so that a read beyond it is seen
    assert_non_null(copy);
    memcpy(copy, file, size);
    trellis_status status = trellis_model_open_bytes(copy, size, TRELLIS_COPY, &model, error);
    free(copy);
    trellis_model_close(model);
    return status;
}

static void test_truncated(void **state)
{
    (void)state;
    size_t size;
    char *file = get_model("l1", &size);
    for (size_t n = 4; n < size; n += n < 100 ? 1 : 37) {
        trellis_error error = {0};
        assert_int_equal(try_open(file, n, &error), TRELLIS_MODEL);
        assert_non_null(strstr(error.message, "CRFsuite"));
        uint32_t claimed = htole32((uint32_t)n); // the same with a header that agrees
        char old[4];
        memcpy(old, file + 4, 4);
        memcpy(file + 4, &claimed, n >= 8 ? 4 : 0);
        assert_int_equal(try_open(file, n, &error), TRELLIS_MODEL);
        memcpy(file + 4, old, 4);
    }
    free(file);
}

/* Every number of the file at extreme values: it opens or it is an error, and nothing else. */
static void test_extremes(void **state)
{
    (void)state;
    static const uint32_t extremes[] = {0, 1, 48, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    size_t size, refused = 0, tried = 0;
    char *file = get_model("l1", &size);
    for (size_t at = 0; at + 4 <= size; at += 4) {
        char old[4];
        memcpy(old, file + at, 4);
        for (size_t i = 0; i < TR_COUNT(extremes); i++, tried++) {
            trellis_error error = {0};
            set_u32_at(file, at, extremes[i]);
            trellis_status status = try_open(file, size, &error);
            assert_true(status == TRELLIS_OK || status == TRELLIS_MODEL);
            refused += status != TRELLIS_OK;
        }
        memcpy(file + at, old, 4);
    }
    assert_true(refused > tried / 10);
    free(file);
}

static void assert_message(const char *file, size_t size, const char *what)
{
    trellis_error error = {0};
    assert_int_equal(try_open(file, size, &error), TRELLIS_MODEL);
    if (!strstr(error.message, what)) {
        fail_msg("'%s' does not say '%s'", error.message, what);
    }
}

static void test_messages(void **state)
{
    (void)state;
    size_t size;
    char *file = get_model("l1", &size), *copy = malloc(size);
    assert_non_null(copy);
    const double weights[] = {NAN, INFINITY, 1e300};
    const char *const said[] = {"not a finite number", "not a finite number", "too large"};
    for (size_t i = 0; i < TR_COUNT(weights); i++) {
        memcpy(copy, file, size);
        set_double_at(copy, u32_at(file, 28) + 12 + 12, weights[i]);
        assert_message(copy, size, said[i]);
    }
    const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } cases[] = {
        {4, (uint32_t)size - 4, "its size is not that in its header"},
        {8, 0, "first-order model"},
        {12, 101, "version 100"},
        {20, 0, "no labels"},
        {20, 1000000, "1000000 labels are more than"},
        {24, 0xffffffff, "a name does not fit"},
        {28, 0xffffffff, "its features do not fit"},
        {32, 0xffffffff, "a name does not fit"},
        {36, 0xffffffff, "a name does not fit"},
        {40, 0xffffffff, "its lists of features do not fit"},
        {44, 0xffffffff, "its lists of features do not fit"},
        {u32_at(file, 28) + 8, 0xffffffff, "its features do not fit"},
        {u32_at(file, 36), 0, "a name does not fit"},
        {u32_at(file, 40) + 8, 1, "its lists of features do not fit"},
        {u32_at(file, 40) + 12, (uint32_t)size, "a list of features does not fit"},
        {u32_at(file, 28) + 12, 1, "a feature does not fit"},
        {u32_at(file, 28) + 12 + 8, 60000, "a feature does not fit"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        memcpy(copy, file, size);
        set_u32_at(copy, cases[i].at, cases[i].value);
        assert_message(copy, size, cases[i].what);
    }
    /* The list of the second attribute is that of the first: its features have another source. */
    memcpy(copy, file, size);
    set_u32_at(copy, u32_at(file, 44) + 16, u32_at(file, u32_at(file, 44) + 12));
    assert_message(copy, size, "a feature does not fit");
    /* Messages name the file. */
    trellis_model *model;
    trellis_error error = {0};
    const char *path = put_file("cut.lcrf", file, size / 2);
    assert_int_equal(trellis_model_open(path, &model, &error), TRELLIS_MODEL);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "truncated"));
    free(copy);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),   cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_templates),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests_name("foreign_crfsuite", tests, group_setup, group_teardown);
}

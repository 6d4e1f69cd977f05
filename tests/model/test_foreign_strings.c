/* test_foreign_strings.c - models of CRF++ and Wapiti: the same answers as their own programs, and
 * any damage a clear error.
 *
 * tests/model/foreign/make.sh says how the models and the outputs were made. The columns hold the
 * separators of templates, bytes that are not UTF-8, and texts that look like the ends of a
 * sequence.
 */
#include <endian.h>

#include "test_model.h"

#include "foreign_outputs.h"

#define FOLDER "tests/model/foreign/"

/* ---- the same answers ------------------------------------------------------------------------ */

static const struct {
    const char *model, *output;
    enum output_kind kind;
    size_t paths;
    const char *type;
} cases[] = {
    {"crfpp/rich.model", "crfpp/rich.marginals", CRFPP_MARGINALS, 2, "crf"},
    {"crfpp/rich.model.txt", "crfpp/rich.marginals", CRFPP_MARGINALS, 2, "crf"},
    {"crfpp/l1.model", "crfpp/l1.marginals", CRFPP_MARGINALS, 2, "crf"},
    {"crfpp/mira.model", "crfpp/mira.marginals", CRFPP_MARGINALS, 2, "crf"},
    {"crfpp/l2.model.txt", "crfpp/l2.labels", LABELS_ONLY, 1, "crf"},
    {"crfpp/ties.model", "crfpp/ties.labels", LABELS_ONLY, 1, "crf"},
    {"wapiti/crf.model", "wapiti/crf.scores", WAPITI_SCORES, 1, "crf"},
    {"wapiti/rich.model", "wapiti/rich.scores", WAPITI_SCORES, 2, "crf"},
    {"wapiti/rich.model", "wapiti/rich.posteriors", WAPITI_POSTERIORS, 1, "crf"},
    {"wapiti/sgd.model", "wapiti/sgd.scores", WAPITI_SCORES, 2, "crf"},
    {"wapiti/l2.model", "wapiti/l2.scores", WAPITI_SCORES, 2, "crf"},
    {"wapiti/l2.model", "wapiti/l2.posteriors", WAPITI_POSTERIORS, 1, "crf"},
    {"wapiti/memm.model", "wapiti/memm.scores", WAPITI_PROBABILITIES, 2, "memm"},
    {"wapiti/maxent.model", "wapiti/maxent.scores", WAPITI_SCORES, 1, "maxent"},
    {"wapiti/maxent.model", "wapiti/maxent.posteriors", WAPITI_POSTERIORS, 1, "maxent"},
    {"wapiti/quirk.model", "wapiti/quirk.scores", WAPITI_SCORES, 1, "crf"},
    {"wapiti/1.0.1.model", "wapiti/1.0.1.labels", LABELS_ONLY, 1, "crf"},
    {"wapiti/1.3.0.model", "wapiti/1.3.0.labels", LABELS_ONLY, 1, "crf"},
    {"wapiti/ties.model", "wapiti/ties.labels", LABELS_ONLY, 1, "crf"},
    {"wapiti/cells.model", "wapiti/cells.scores", WAPITI_SCORES, 2, "crf"},
    {"wapiti/alone.model", "wapiti/alone.labels", LABELS_ONLY, 1, "maxent"},
};

static void path_in_folder(const char *name, char path[200])
{
    snprintf(path, 200, FOLDER "%s", name);
}

static void check_answers(const trellis_model *model, size_t i)
{
    char output[200];
    trellis_error error = {0};
    struct comparison c = {.kind = cases[i].kind, .paths = cases[i].paths};
    bool cells = strstr(cases[i].model, "cells") || strstr(cases[i].model, "alone");
    path_in_folder(cases[i].output, output);
    assert_ok(compare_outputs(model, cells ? FOLDER "test-cells.txt" : FOLDER "test.txt", output,
                              &c, &error),
              error);
    if (c.broken || c.tokens != 60 || c.labels_differ || c.paths_differ || c.marginal > 2e-6 ||
        c.score > 2e-6 || c.first_ties > 1) {
        fail_msg("%s: %s%zu tokens, %zu labels and %zu paths differ, marginals by %g, scores by %g",
                 cases[i].output, c.broken ? "not read to the end; " : "", c.tokens,
                 c.labels_differ, c.paths_differ, c.marginal, c.score);
    }
}

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char path[200];
        path_in_folder(cases[i].model, path);
        trellis_model *model = open_model(path);
        check_answers(model, i);
        assert_string_equal(trellis_model_note(model, "type"), cases[i].type);
        trellis_model_close(model);
    }
}

/* Saved, and written as text and read again, it is still the same model. */
static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char path[200];
        trellis_error error = {0};
        path_in_folder(cases[i].model, path);
        trellis_model *model = open_model(path);
        assert_ok(trellis_model_save(model, path_of("saved"), &error), error);
        trellis_model *saved = open_model(path_of("saved"));
        check_answers(saved, i);
        char *text = say(model, EXPORT);
        trellis_model *imported = import_model(put_text("text", text));
        check_answers(imported, i);
        char *again = say(imported, EXPORT);
        assert_string_equal(text, again);
        free(text);
        free(again);
        trellis_model_close(imported);
        trellis_model_close(saved);
        trellis_model_close(model);
    }
}

/* An attribute has the name and the weights that the program gave it. */
static void test_names(void **state)
{
    (void)state;
    trellis_model *model = open_model(FOLDER "wapiti/quirk.model");
    assert_true(trellis_model_find_attribute(model, false, tr_text("u:/VERB")) != SIZE_MAX);
    assert_true(trellis_model_find_attribute(model, false, tr_text("u:s")) != SIZE_MAX);
    assert_true(trellis_model_find_attribute(model, false, tr_text("u:s/VERB")) == SIZE_MAX);
    trellis_model_close(model);
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
    if (!status) {
        free(tag_by(model, "a|DT|x the|NN|y", NULL));
    }
    trellis_model_close(model);
    return status;
}

static const char *const damaged_files[] = {"crfpp/mira.model", "crfpp/l2.model.txt",
                                            "wapiti/crf.model", "wapiti/memm.model",
                                            "wapiti/rich.model"};

static void test_truncated(void **state)
{
    (void)state;
    for (size_t m = 0; m < TR_COUNT(damaged_files); m++) {
        char path[200];
        size_t size;
        path_in_folder(damaged_files[m], path);
        char *file = get_file(path, &size);
        for (size_t n = 32; n + 1 < size; n += n < 200 || n + 60 > size ? 1 : 97) {
            trellis_error error = {0};
            trellis_status status = try_open(file, n, &error);
            assert_int_equal(status, TRELLIS_MODEL);
            assert_non_null(strstr(error.message, m < 2 ? "CRF++" : "Wapiti"));
        }
        free(file);
    }
}

/* Every byte changed: it opens or it is an error, and nothing else. */
static void test_changed(void **state)
{
    (void)state;
    static const unsigned char changes[] = {0x01, 0x80, 0xff, 0x10};
    for (size_t m = 0; m < TR_COUNT(damaged_files); m++) {
        char path[200];
        size_t size, refused = 0;
        path_in_folder(damaged_files[m], path);
        char *file = get_file(path, &size);
        for (size_t at = 0; at < size; at += at < 300 ? 1 : 37) {
            for (size_t i = 0; i < TR_COUNT(changes); i++) {
                trellis_error error = {0};
                file[at] = (char)(file[at] ^ changes[i]);
                trellis_status status = try_open(file, size, &error);
                assert_true(status == TRELLIS_OK || status == TRELLIS_MODEL ||
                            status == TRELLIS_LIMIT);
                assert_true(!status || error.message[0]);
                refused += status != TRELLIS_OK;
                file[at] = (char)(file[at] ^ changes[i]);
            }
        }
        assert_true(refused > 100);
        free(file);
    }
}

static void assert_refused(const char *file, size_t size, const char *what)
{
    trellis_error error = {0};
    assert_int_equal(try_open(file, size, &error), TRELLIS_MODEL);
    if (!strstr(error.message, what)) {
        fail_msg("'%s' does not say '%s'", error.message, what);
    }
}

#define WAPITI_HEAD "#mdl#2#1\n#rdr#1/0/0\n10:u0:%x[0,0],\n"
#define WAPITI_LABELS "#qrk#2\n1:A,\n1:B,\n"

static void test_wapiti_messages(void **state)
{
    (void)state;
    static const struct {
        const char *file, *what;
    } files[] = {
        {"#mdl#3#1\n#rdr#1/0/0\n10:u0:%x[0,0],\n", "type"},
        {"#mdl#2#1\n#rdr#1/0/0\n4294967295:u,\n", "truncated"},
        {"#mdl#2#1\n#rdr#4294967295/0/0\n", "truncated"},
        {"#mdl#2#1\n#rdr#1/0/1\n1:u,\n", "features of its own"},
        {"#mdl#2#1\n#rdr#1/0/0\n18446744073709551615:u,\n", "truncated"},
        {WAPITI_HEAD "#qrk#2\n1:A,\n1:A,\n", "same name"},
        {WAPITI_HEAD "#qrk#0\n#qrk#0\n", "truncated"},
        {"#mdl#2#0\n#rdr#1/0/0\n10:u0:%x[0,0],\n#qrk#0\n#qrk#0\n", "no labels"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:x0:a,\n0=0x1p+0\n", "u, b or *"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#2\n4:u0:a,\n4:u0:a,\n0=0x1p+0\n", "twice"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:u0:a,\n2=0x1p+0\n", "no observation"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:u0:a,\n0=nan\n", "not a"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:u0:a,\n0=0x1p+2000\n", "finite"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:u0:a,\n0=inf\n", "not a"},
        {WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:u0:a,\n0=1\n1=1\n", "something follows"},
        {"#mdl#2#2\n#rdr#1/0/0\n10:u0:%x[0,0],\n" WAPITI_LABELS "#qrk#1\n4:u0:a,\n1=1\n0=1\n",
         "ascending"},
        {"#mdl#2#0\n#rdr#1/0/0\n10:u0:%y[0,0],\n" WAPITI_LABELS "#qrk#0\n", "expected x, X"},
        {"#mdl#2#0\n#rdr#1/0/0\n15:u0:%m[0,0,\"**\"],\n" WAPITI_LABELS "#qrk#0\n", "regular"},
        {"#mdl#2#0\n#rdr#1/0/0\n3:q12,\n" WAPITI_LABELS "#qrk#0\n", "begins with"},
    };
    for (size_t i = 0; i < TR_COUNT(files); i++) {
        assert_refused(files[i].file, strlen(files[i].file), files[i].what);
    }
    trellis_error error = {0};
    static const char sound[] = WAPITI_HEAD WAPITI_LABELS "#qrk#1\n4:u0:a,\n0=1.5\n";
    assert_ok(try_open(sound, sizeof sound - 1, &error), error);
    trellis_model *model;
    const char *path = put_text("cut.wapiti", WAPITI_HEAD);
    assert_int_equal(trellis_model_open(path, &model, &error), TRELLIS_MODEL);
    assert_non_null(strstr(error.message, path));
}

/* Weights are finite numbers; those of a string may end neither behind those of the next one nor behind the last of all. */
static void test_crfpp_weights(void **state)
{
    (void)state;
    static const char head[] = "version: 100\ncost-factor: 1\nmaxid: 2\nxsize: 1\n\nA\nB\n\n"
                               "U00:%x[0,0]\n\n";
    static const char *const strings[] = {"0 U00:a\n4000000000 U00:b\n", "1 U00:a\n900 U00:b\n",
                                          "1000 U00:a\n2000000 U00:b\n", "1 U00:a\n"};
    for (size_t i = 0; i < TR_COUNT(strings); i++) {
        char file[300];
        snprintf(file, sizeof file, "%s%s\n1\n2\n", head, strings[i]);
        assert_refused(file, strlen(file), "the weights of a string do not fit");
    }
    static const char overlap[] = "version: 100\ncost-factor: 1\nmaxid: 3\nxsize: 1\n\nA\nB\n\n"
                                  "U00:%x[0,0]\n\n0 U00:a\n1 U00:b\n\n1\n2\n3\n";
    assert_refused(overlap, sizeof overlap - 1, "the weights of a string do not fit");
    static const char *const weights[] = {"nan", "-inf", "1e400", "1e39", "0x", ""};
    for (size_t i = 0; i < TR_COUNT(weights); i++) {
        char file[300];
        snprintf(file, sizeof file, "%s0 U00:a\n\n%s\n2\n", head, weights[i]);
        assert_refused(file, strlen(file), "a weight is not a");
    }
}

/* A million labels, in each of the three forms. */
static void test_many_labels(void **state)
{
    (void)state;
    static const char wapiti[] = "#mdl#2#0\n#rdr#1/0/0\n10:u0:%x[0,0],\n#qrk#1000000\n";
    static const char text[] = "version: 100\ncost-factor: 1\nmaxid: 0\nxsize: 1\n\n";
    struct tr_buffer files[3] = {0};
    tr_buffer_string(&files[0], wapiti);
    tr_buffer_string(&files[1], text);
    static const uint32_t numbers[] = {100, 0, 0, 0, 0, 1, 0, 8000000};
    for (size_t i = 0; i < TR_COUNT(numbers); i++) {
        tr_buffer_add(&files[2], (const char *)&(uint32_t){htole32(numbers[i])}, 4);
    }
    for (unsigned i = 0; i < 1000000; i++) {
        tr_buffer_format(&files[0], "7:%07u,\n", i);
        tr_buffer_format(&files[1], "%07u\n", i);
        tr_buffer_format(&files[2], "%07u", i);
        tr_buffer_char(&files[2], 0);
    }
    tr_buffer_string(&files[0], "#qrk#0\n");
    tr_buffer_string(&files[1], "\nU0:%x[0,0]\n\n\n");
    tr_buffer_add(&files[2], "\0\0\0", 4);
    for (size_t i = 0; i < TR_COUNT(files); i++) {
        assert_false(files[i].failed);
        assert_refused(files[i].data, files[i].size, "more than 60000 labels");
        tr_buffer_free(&files[i]);
    }
}

/* Weights of any size, as printf's %a writes them, are those of the model. */
static void test_wapiti_weights(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct tr_buffer file = {0};
    float weights[COUNT];
    uint64_t bits = 88172645463325252;
    tr_buffer_format(&file, "#mdl#2#%d\n#rdr#1/0/0\n10:u0:%%x[0,0],\n#qrk#1\n1:A,\n#qrk#%d\n",
                     COUNT, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        tr_buffer_format(&file, "7:u0:%04u,\n", i);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double weight = ldexp((double)(int64_t)bits, (int)(bits % 240) - 183);
        weights[i] = (float)weight;
        tr_buffer_format(&file, i % 3 ? "%u=%a\n" : "%u=%A\n", i, weight);
    }
    trellis_model *model;
    trellis_error error = {0};
    assert_ok(trellis_model_open_bytes(file.data, file.size, TRELLIS_BORROW, &model, &error),
              error);
    trellis_weight_iterator *all;
    const trellis_weight *weight;
    size_t count = 0;
    assert_ok(trellis_weight_iterator_create(model, &all, &error), error);
    for (; (weight = trellis_weight_iterator_next(all)); count++) {
        unsigned i;
        assert_int_equal(sscanf(weight->attribute.data, "u0:%4u", &i), 1);
        assert_true(i < COUNT && (float)weight->weight == weights[i]);
    }
    assert_int_equal(count, COUNT);
    trellis_weight_iterator_destroy(all);
    trellis_model_close(model);
    tr_buffer_free(&file);
}

static uint32_t u32_at(const char *file, size_t at)
{
    uint32_t value;
    memcpy(&value, file + at, sizeof value);
    return le32toh(value);
}

static void set_u32_at(char *file, size_t at, uint32_t value)
{
    value = htole32(value);
    memcpy(file + at, &value, sizeof value);
}

/* Where the double array of a CRF++ file begins. */
static size_t units_at(const char *file)
{
    uint32_t labels = u32_at(file, 28), templates = u32_at(file, 32 + labels);
    return 36 + labels + templates;
}

static void test_crfpp_messages(void **state)
{
    (void)state;
    size_t size;
    char *file = get_file(FOLDER "crfpp/mira.model", &size), *copy = malloc(size);
    assert_non_null(copy);
    uint32_t array = u32_at(file, 24);
    size_t units = units_at(file), weights = units + array;
    const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } changes[] = {
        {16, UINT32_MAX, "truncated"},       {24, UINT32_MAX, "truncated"},
        {28, UINT32_MAX, "truncated"},       {24, array - 8, "truncated"},
        {units, (uint32_t)-5, "not a tree"}, {weights, 0x7fc00000 /* NaN */, "finite"},
    };
    for (size_t i = 0; i < TR_COUNT(changes); i++) {
        memcpy(copy, file, size);
        set_u32_at(copy, changes[i].at, changes[i].value);
        assert_refused(copy, size, changes[i].what);
    }
    /* All states lead back to the first one: the first byte that does not end a string is a
     * cycle. */
    memcpy(copy, file, size);
    for (size_t at = units; at < weights; at += 8) {
        if ((int32_t)u32_at(copy, at) > 0) {
            memcpy(copy + at, file + units, 4);
        }
    }
    assert_refused(copy, size, "not a tree");
    /* Two states that lead to the same ones, and a string whose weights are beyond the last. */
    size_t states[2], found = 0, end = 0;
    for (size_t at = units + 8; at < weights; at += 8) {
        int32_t base = (int32_t)u32_at(file, at);
        uint32_t check = u32_at(file, at + 4);
        bool leaf = check == (at - units) / 8;
        if (base > 0 && !leaf && check > 0 && found < 2) {
            states[found++] = at;
        }
        end = base < 0 && leaf ? at : end;
    }
    assert_true(found == 2 && end);
    memcpy(copy, file, size);
    memcpy(copy + states[1], file + states[0], 4);
    assert_refused(copy, size, "not a tree");
    memcpy(copy, file, size);
    set_u32_at(copy, end, (uint32_t)INT32_MIN);
    assert_refused(copy, size, "the weights of a string do not fit");
    free(copy);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_changed),        cmocka_unit_test(test_wapiti_messages),
        cmocka_unit_test(test_crfpp_weights),  cmocka_unit_test(test_many_labels),
        cmocka_unit_test(test_wapiti_weights), cmocka_unit_test(test_crfpp_messages),
    };
    return cmocka_run_group_tests_name("foreign_strings", tests, group_setup, group_teardown);
}

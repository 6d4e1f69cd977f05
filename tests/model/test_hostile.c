/* test_hostile.c - damaged and forged model files: every byte is untrusted.
 *
 * Random damage is caught by checksums. A malicious file has correct checksums, so most tests here
 * damage a model and then repair them. Whatever the bytes, a model opens or is refused, and one
 * that opens can be used in every way. The sanitizers detect errors.
 */
#include "hostile_models.h"

#include <math.h>
#include <sys/stat.h>

#include "base/random.h"

enum { ROUNDS = 10000 };

static size_t damaged; // models that were tried

/* Opens a model and, if that succeeds, exercises it. */
static trellis_status try_bytes(const unsigned char *bytes, size_t size)
{
    trellis_model *model;
    trellis_error error = {0};
    trellis_status status = open_bytes(bytes, size, &model, &error);
    damaged++;
    if (status) {
        assert_null(model);
        assert_int_equal(error.status, status);
        assert_true(error.message[0]);
        assert_true(status == TRELLIS_MODEL || status == TRELLIS_LIMIT);
    } else {
        exercise(model);
        trellis_model_close(model);
    }
    return status;
}

/* Both kinds of rows are there to be damaged. */
static void test_has_both_rows(void **state)
{
    (void)state;
    static const int models[] = {EDGES, SHORT};
    for (size_t i = 0; i < TR_COUNT(models); i++) {
        trellis_model *model = make_model(models[i]);
        assert_true(model->node.dense_words > 0);
        assert_true(model->node.word_count > model->node.dense_words);
        assert_true(model->edge.word_count > 0);
        assert_true((model->node.shorts != NULL) == (models[i] == SHORT));
        assert_true((model->edge.shorts != NULL) == (models[i] == SHORT));
        trellis_model_close(model);
    }
}

/* ---- damage that checksums catch ------------------------------------------------------------- */

static void test_truncation(void **state)
{
    (void)state;
    for (int which = 0; which < MODELS; which++) {
        size_t size;
        unsigned char *bytes = make_bytes(which, &size);
        for (size_t n = 0; n < size; n++) {
            assert_int_equal(try_bytes(bytes, n), TRELLIS_MODEL);
            if (n >= HEADER) { // the same, with the correct size in the header
                unsigned char *cut = malloc(n);
                memcpy(cut, bytes, n);
                set_u64_at(cut, FILE_SIZE, n);
                repair_checksums(cut, n);
                assert_int_equal(try_bytes(cut, n), TRELLIS_MODEL);
                free(cut);
            }
        }
        unsigned char *longer = calloc(size + 1, 1);
        memcpy(longer, bytes, size);
        assert_int_equal(try_bytes(longer, size + 1), TRELLIS_MODEL);
        free(longer);
        free(bytes);
    }
}

/* Whether a byte belongs to no section: a gap, which is not read. */
static bool is_gap(const unsigned char *bytes, size_t size, size_t at)
{
    bool inside = at < HEADER + (size_t)sections_of(bytes, size) * ENTRY;
    for (uint32_t i = 0; i < sections_of(bytes, size); i++) {
        size_t begin, length;
        assert_true(section_at(bytes, size, i, &begin, &length));
        inside = inside || (at >= begin && at < begin + length);
    }
    return !inside;
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    static const unsigned char masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF};
    size_t size;
    unsigned char *bytes = make_bytes(EDGES, &size);
    for (size_t at = 0; at < size; at++) {
        bool gap = is_gap(bytes, size, at);
        for (size_t m = 0; m < TR_COUNT(masks); m++) {
            trellis_model *model;
            bytes[at] ^= masks[m];
            assert_int_equal(open_bytes(bytes, size, &model, NULL),
                             gap ? TRELLIS_OK : TRELLIS_MODEL);
            damaged++;
            trellis_model_close(model);
            bytes[at] ^= masks[m];
        }
    }
    free(bytes);
}

/* The checksum of a large section is left to tr_image_verify(), that of a small one is not. */
static void test_large_sections(void **state)
{
    (void)state;
    struct tr_image_writer writer;
    struct tr_image image;
    tr_image_begin(&writer, 2);
    tr_image_section(&writer, "LARG");
    for (uint64_t i = 0; i < TR_IMAGE_AT_ONCE / 8; i++) {
        tr_put_u64(&writer.bytes, i);
    }
    tr_image_section(&writer, "SMAL");
    tr_put_u64(&writer.bytes, 1);
    assert_int_equal(tr_image_finish(&writer, NULL), TRELLIS_OK);
    tr_image_adopt(&image, &writer.bytes);
    unsigned char *bytes = (unsigned char *)image.data;
    assert_int_equal((uintptr_t)bytes % 64, 0);
    assert_int_equal(tr_image_check(&image, NULL, "model", NULL), TRELLIS_OK);
    assert_int_equal(tr_image_verify(&image, NULL, "model", NULL), TRELLIS_OK);
    bytes[TR_IMAGE_AT_ONCE / 2] ^= 1;
    assert_int_equal(tr_image_check(&image, NULL, "model", NULL), TRELLIS_OK);
    assert_int_equal(tr_image_verify(&image, NULL, "model", NULL), TRELLIS_MODEL);
    bytes[TR_IMAGE_AT_ONCE / 2] ^= 1;
    bytes[image.size - 1] ^= 1;
    assert_int_equal(tr_image_check(&image, NULL, "model", NULL), TRELLIS_MODEL);
    tr_image_close(&image);
}

/* ---- damage with correct checksums ----------------------------------------------------------- */

static void test_flipped_and_repaired(void **state)
{
    (void)state;
    static const unsigned char masks[] = {0x01, 0x80, 0xFF};
    for (int which = 0; which < MODELS; which++) {
        size_t size, opened = 0;
        unsigned char *bytes = make_bytes(which, &size), *bad = malloc(size);
        for (size_t at = 0; at < size; at++) {
            for (size_t m = 0; m < TR_COUNT(masks); m++) {
                memcpy(bad, bytes, size);
                bad[at] ^= masks[m];
                repair_checksums(bad, size);
                if (!is_gap(bytes, size, at) && !is_large(bad, size)) {
                    opened += try_bytes(bad, size) == TRELLIS_OK;
                }
            }
        }
        assert_true(opened > size / 2); // else the tests above test little
        free(bad);
        free(bytes);
    }
}

static uint32_t find_section(const unsigned char *bytes, size_t size, const char *name)
{
    for (uint32_t i = 0; i < sections_of(bytes, size); i++) {
        if (memcmp(bytes + HEADER + i * ENTRY, name, 4) == 0) {
            return i;
        }
    }
    fail_msg("no section %s", name);
    return 0;
}

/* Numbers that contradict each other are refused when the model is opened. */
static void test_contradictions(void **state)
{
    (void)state;
    static const struct {
        const char *section;
        int at,
            width; // width 0: the size of the section is changed by `value`; at -1: its last byte
        uint64_t value;
    } changes[] = {
        {"NROW", 0, 4, 3},
        {"NROW", 0, 4, 5},
        {"NROW", 4, 4, 16},
        {"NROW", 4, 4, 4},
        {"NROW", 8, 8, 1 << 20},
        {"NROW", 16, 8, 1 << 20},
        {"NROW", 16, 8, UINT32_MAX},
        {"NROW", 16, 8, (uint64_t)1 << 62},
        {"EROW", 0, 4, 27},
        {"EROW", 4, 4, 40},
        {"EROW", 16, 8, (uint64_t)1 << 62},
        {"NFIX", 0, 4, 3},
        {"NFIX", 4, 4, 16},
        {"NFIX", 8, 8, 1 << 20},
        {"NFIX", 16, 8, 1 << 20},
        {"NFIX", 16, 8, UINT32_MAX},
        {"NFIX", 16, 8, (uint64_t)1 << 63},
        {"NFIX", 24, 4, 121},
        {"NFIX", 24, 4, (uint32_t)-121},
        {"NFIX", 24, 4, 0x80000000},
        {"NFIX", 0, 0, (uint64_t)-2},
        {"EFIX", 0, 4, 27},
        {"EFIX", 16, 8, (uint64_t)1 << 62},
        {"EFIX", 24, 4, INT32_MAX},
        {"NKEY", 0, 8, 0},
        {"NKEY", 0, 8, 3},
        {"NKEY", 0, 8, 1 << 20},
        {"NKEY", 0, 8, (uint64_t)1 << 58},
        {"NKEY", 8, 8, 257},
        {"NKEY", 8, 8, (uint64_t)1 << 32},
        {"EKEY", 0, 8, 1 << 20},
        {"NTXT", 0, 8, 1 << 20},
        {"NTXT", 0, 8, (uint64_t)1 << 61},
        {"ETXT", 0, 8, UINT64_MAX},
        {"GRPH", 0, 4, 9},
        {"GRPH", 0, 4, UINT32_MAX},
        {"GRPH", 4, 4, 9},
        {"GRPH", 12, 4, 0},
        {"GRPH", 12, 4, UINT32_MAX},
        {"GRPH", 16, 4, 1},
        {"GRPH", 16, 4, UINT32_MAX},
        {"GRPH", 20, 2, 0},
        {"GRPH", 20, 2, 3},
        {"GRPH", 22, 2, 5},
        {"GRPH", 24, 2, 4},
        {"GRPH", 24, 2, 60000},
        {"STEP", 0, 0, 4},
        {"STEP", 0, 0, (uint64_t)-4},
        {"STEP", 0, 0, (uint64_t)-1},
        {"LABL", -1, 1, 'x'},
        {"META", -1, 1, 'x'},
        {"FEAT", 0, 1, '?'},
        {"FEAT", 0, 0, (uint64_t)-1},
        {"WORD", 0, 0, (uint64_t)-1},
    };
    size_t size, sizes[2], begin, length;
    unsigned char *models[2] = {make_bytes(EDGES, &sizes[0]), make_bytes(SHORT, &sizes[1])};
    unsigned char *bad = malloc(sizes[0] > sizes[1] ? sizes[0] : sizes[1]);
    for (size_t k = 0; k < TR_COUNT(changes); k++) {
        bool is_short = strcmp(changes[k].section + 1, "FIX") == 0;
        const unsigned char *bytes = models[is_short];
        size = sizes[is_short];
        uint32_t i = find_section(bytes, size, changes[k].section);
        memcpy(bad, bytes, size);
        assert_true(section_at(bad, size, i, &begin, &length));
        if (changes[k].width) {
            size_t at = changes[k].at < 0 ? length - 1 : (size_t)changes[k].at;
            memcpy(bad + begin + at, &changes[k].value, (size_t)changes[k].width);
        } else {
            set_u64_at(bad, HEADER + i * ENTRY + 16, length + changes[k].value);
        }
        repair_checksums(bad, size);
        trellis_status status = try_bytes(bad, size);
        if (status != TRELLIS_MODEL) {
            fail_msg("change %zu, of %s at %d to %llu: %s", k, changes[k].section, changes[k].at,
                     (unsigned long long)changes[k].value, trellis_status_name(status));
        }
    }
    free(bad);
    free(models[0]);
    free(models[1]);
}

/* States count repetitions only in a graph of order 1. */
static void test_counted_states_of_another_order(void **state)
{
    (void)state;
    static const char text[] = "trellis-text\t1\nlabel\tA\nlabel\tB\ncount-cap\t2\n"
                               "step\t1\tA\tB\n";
    trellis_model *model = import_model(put_text("counted.txt", text)), *opened;
    size_t size, begin, length;
    trellis_error error = {0};
    assert_ok(trellis_model_save(model, path_of("counted"), &error), error);
    trellis_model_close(model);
    unsigned char *bytes = (unsigned char *)get_file(path_of("counted"), &size);
    assert_true(section_at(bytes, size, find_section(bytes, size, "GRPH"), &begin, &length));
    assert_int_equal(u32_at(bytes, begin), 1);
    assert_int_equal(u32_at(bytes, begin + 4), 2);
    for (uint32_t order = 0; order <= 3; order++) {
        memcpy(bytes + begin, &order, sizeof order);
        repair_checksums(bytes, size);
        trellis_status status = open_bytes(bytes, size, &opened, &error);
        assert_int_equal(status, order == 1 ? TRELLIS_OK : TRELLIS_MODEL);
        trellis_model_close(opened);
    }
    free(bytes);
}

/* A valid section at an invalid offset. */
static void test_alignment(void **state)
{
    (void)state;
    size_t size, begin, length;
    unsigned char *bytes = make_bytes(EDGES, &size), *bad = calloc(3 * size, 1);
    for (uint32_t i = 0; i < sections_of(bytes, size); i++) {
        for (size_t shift = 0; shift < 64; shift += shift < 9 ? 1 : 8) {
            assert_true(section_at(bytes, size, i, &begin, &length));
            size_t to = (size + 63) / 64 * 64 + shift, whole = to + length;
            memset(bad, 0, 3 * size);
            memcpy(bad, bytes, size);
            memcpy(bad + to, bytes + begin, length);
            set_u64_at(bad, HEADER + i * ENTRY + 8, to);
            set_u64_at(bad, FILE_SIZE, whole);
            repair_checksums(bad, whole);
            assert_int_equal(try_bytes(bad, whole), shift == 0 ? TRELLIS_OK : TRELLIS_MODEL);
        }
    }
    free(bad);
    free(bytes);
}

/* One change somewhere in the sections. */
static void damage(struct tr_random *random, unsigned char *bytes, size_t size)
{
    static const uint32_t words[] = {0,          1,          5,          6,          7,
                                     0x100,      0x105,      UINT32_MAX, 0x7FC00000, 0x7F800000,
                                     0xFF800000, 0x7F7FFFFF, 0x00000001, 0x80000000};
    size_t begin, length;
    uint32_t i = (uint32_t)tr_random_below(random, sections_of(bytes, size));
    if (!section_at(bytes, size, i, &begin, &length) || length < 8) {
        return;
    }
    size_t at = begin + tr_random_below(random, length - 7);
    uint64_t kind = tr_random_below(random, 5);
    if (kind == 0) {
        bytes[at] = (unsigned char)tr_random_bits(random);
    } else if (kind == 1) {
        bytes[at] ^= (unsigned char)(1u << tr_random_below(random, 8));
    } else if (kind == 2) {
        memcpy(bytes + (at & ~(size_t)3), &words[tr_random_below(random, TR_COUNT(words))], 4);
    } else if (kind == 3) { // a piece from elsewhere
        size_t from = tr_random_below(random, size - 8);
        memmove(bytes + at, bytes + from, 8);
    } else { // the same one more
        uint32_t word = u32_at(bytes, at & ~(size_t)3) +
                        (tr_random_bits(random) & 1 ? 1 : UINT32_MAX);
        memcpy(bytes + (at & ~(size_t)3), &word, 4);
    }
}

static void test_random_damage(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 42);
    size_t opened = 0;
    for (int which = 0; which < MODELS; which++) {
        size_t size;
        unsigned char *bytes = make_bytes(which, &size), *bad = malloc(size);
        for (int round = 0; round < ROUNDS / MODELS; round++) {
            memcpy(bad, bytes, size);
            for (uint64_t n = 1 + tr_random_below(&random, 4); n > 0; n--) {
                damage(&random, bad, size);
            }
            repair_checksums(bad, size);
            if (!is_large(bad, size)) {
                opened += try_bytes(bad, size) == TRELLIS_OK;
            }
        }
        free(bad);
        free(bytes);
    }
    assert_true(opened > ROUNDS / 4);
}

/* All weights are NaN: no label is the best, and none beyond the last may be predicted. */
static void test_nan_weights(void **state)
{
    (void)state;
    static const float values[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
    for (int which = 0; which < MODELS; which++) {
        size_t size, begin, length;
        unsigned char *bytes = make_bytes(which, &size), *bad = malloc(size);
        for (size_t v = 0; v < TR_COUNT(values) * TR_COUNT(values); v++) {
            memcpy(bad, bytes, size);
            for (uint32_t i = 0; i < sections_of(bad, size); i++) {
                const unsigned char *name = bad + HEADER + i * ENTRY;
                assert_true(section_at(bad, size, i, &begin, &length));
                if (memcmp(name + 1, "ROW", 3) == 0) { // dense rows, all of it
                    memcpy(bad + begin + 8, bad + begin + 16, 8);
                    for (size_t at = 64; at + 4 <= length; at += 4) {
                        memcpy(bad + begin + at, &values[v % TR_COUNT(values)], 4);
                    }
                }
                if (memcmp(name, "NLOW", 4) == 0) { // whose rows are like those of NROW
                    memcpy(bad + begin + 8, bad + begin + 16, 8);
                }
                for (size_t at = 0; memcmp(name, "STEP", 4) == 0 && at < length; at += 4) {
                    memcpy(bad + begin + at, &values[v / TR_COUNT(values)], 4);
                }
            }
            repair_checksums(bad, size);
            float step = values[v / TR_COUNT(values)];
            assert_int_equal(try_bytes(bad, size), step < INFINITY ? TRELLIS_OK : TRELLIS_MODEL);
        }
        free(bad);
        free(bytes);
    }
}

/* Sixty thousand labels and one weight for a pair of them: the scores of all pairs would take 14 GB
 * per token. */
static void test_many_labels_with_pairs(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    tr_buffer_string(&text, "trellis-text\t1\nnote\ttype\thmm\ntemplate\tcolumns word\n"
                            "template\tnode word\ntemplate\tedge word\n");
    for (int i = 0; i < 60000; i++) {
        tr_buffer_format(&text, "label\tL%d\n", i);
    }
    tr_buffer_string(&text, "edge\t1\tL7\tL59999\t0123456789abcdef\tx\n");
    trellis_model *model = import_model(put_file("many.txt", text.data, text.size));
    char *found = tag_by(model, "one", NULL);
    assert_string_equal(found, "L0");
    free(found);
    found = tag_by(model, "one two", NULL);
    assert_non_null(strstr(found, "too much memory"));
    free(found);
    trellis_options *options = make_options("tokens=10");
    trellis_writer *writer;
    size_t sum = 0;
    trellis_error error = {0};
    assert_ok(trellis_writer_create(options, count_bytes, &sum, &writer, &error), error);
    assert_int_equal(trellis_sample(model, options, writer, &error), TRELLIS_LIMIT);
    trellis_writer_destroy(writer);
    trellis_options_destroy(options);
    trellis_model_close(model);
    tr_buffer_free(&text);
}

/* ---- other files ----------------------------------------------------------------------------- */

static void refuse_path(const char *path, trellis_status expected)
{
    trellis_model *model;
    trellis_error error = {0};
    assert_int_equal(trellis_model_open(path, &model, &error), expected);
    assert_null(model);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(trellis_model_open(path, &model, NULL), expected);
}

static void test_other_files(void **state)
{
    (void)state;
    refuse_path(path_of("no such file"), TRELLIS_IO);
    refuse_path(test_folder, TRELLIS_IO);
    refuse_path("/dev/null", TRELLIS_MODEL);
    refuse_path(put_text("empty", ""), TRELLIS_MODEL);
    refuse_path(put_text("short", "\x93TRLS"), TRELLIS_MODEL);
    refuse_path(put_text("text", "trellis-textile\n"), TRELLIS_MODEL);
    refuse_path(put_text("other", "{\"weights\":[]}\n"), TRELLIS_MODEL);
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    refuse_path(path_of("fifo"), TRELLIS_MODEL); // and does not wait for a writer
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_has_both_rows),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_large_sections),
        cmocka_unit_test(test_flipped_and_repaired),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_counted_states_of_another_order),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_nan_weights),
        cmocka_unit_test(test_many_labels_with_pairs),
        cmocka_unit_test(test_other_files),
    };
    limit_memory();
    int status = cmocka_run_group_tests(tests, group_setup, group_teardown);
    printf("%zu damaged models\n", damaged);
    return status;
}

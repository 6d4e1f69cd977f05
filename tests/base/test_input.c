/* test_input.c - lines of plain and compressed files, held lines, corrupt data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "base/input.h"
#include "base/text.h"

static char *make_file(const char *data, size_t size)
{
    const char *folder = getenv("TRELLIS_TMP") ? getenv("TRELLIS_TMP") : getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/inputXXXXXX", folder ? folder : "/tmp") > 0);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), (ssize_t)size);
    close(file);
    return path;
}

static void drop_file(char *path)
{
    unlink(path);
    free(path);
}

/* Appends one member or frame of compressed bytes. */
static void add_gzip(struct tr_buffer *to, const char *data, size_t size)
{
    size_t room = compressBound(size) + 64;
    char *bytes = malloc(room);
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = (unsigned char *)bytes;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    tr_buffer_add(to, bytes, stream.total_out);
    deflateEnd(&stream);
    free(bytes);
}

static void add_zstd(struct tr_buffer *to, const char *data, size_t size)
{
    size_t room = ZSTD_compressBound(size);
    char *bytes = malloc(room);
    size_t made = ZSTD_compress(bytes, room, data, size, 3);
    assert_false(ZSTD_isError(made));
    tr_buffer_add(to, bytes, made);
    free(bytes);
}

typedef void (*pack)(struct tr_buffer *to, const char *data, size_t size);

/* Many lines, "0\n", "1\n", ... */
static void add_lines(struct tr_buffer *to, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        tr_buffer_format(to, "%zu\n", i);
    }
}

static void expect_lines(const char *path, size_t count)
{
    struct tr_input *input;
    trellis_error error = {0};
    trellis_text line;
    assert_int_equal(tr_input_open(path, &input, &error), TRELLIS_OK);
    for (size_t i = 0; i < count; i++) {
        char expected[24];
        snprintf(expected, sizeof expected, "%zu", i);
        assert_int_equal(tr_input_line(input, &line, &error), TRELLIS_OK);
        assert_true(tr_text_is(line, expected));
        assert_int_equal(tr_input_place(input).line, i + 1);
    }
    assert_int_equal(tr_input_line(input, &line, &error), TRELLIS_END);
    assert_int_equal(tr_input_line(input, &line, &error), TRELLIS_END);
    tr_input_close(input);
}

static void reads_compressed_files(void **state)
{
    (void)state;
    const pack packs[] = {tr_buffer_add, add_gzip, add_zstd};
    for (size_t p = 0; p < TR_COUNT(packs); p++) {
        struct tr_buffer first = {0}, second = {0}, packed = {0};
        add_lines(&first, 0, 200000);
        add_lines(&second, 200000, 1000);
        packs[p](&packed, first.data, first.size);
        packs[p](&packed, second.data, second.size); // .gz and .zst may be several in a row
        char *path = make_file(packed.data, packed.size);
        expect_lines(path, 201000);
        drop_file(path);
        tr_buffer_free(&first);
        tr_buffer_free(&second);
        tr_buffer_free(&packed);
    }
}

static void reads_empty_files(void **state)
{
    (void)state;
    const pack packs[] = {tr_buffer_add, add_gzip, add_zstd};
    for (size_t p = 0; p < TR_COUNT(packs); p++) {
        struct tr_buffer packed = {0};
        packs[p](&packed, "", 0);
        char *path = make_file(packed.data, packed.size);
        expect_lines(path, 0);
        drop_file(path);
        tr_buffer_free(&packed);
    }
}

/* Truncated at every size, and with a flipped bit in the middle: an error, never a silently short
 * file. */
static void refuses_corrupt_files(void **state)
{
    (void)state;
    const pack packs[] = {add_gzip, add_zstd};
    for (size_t p = 0; p < TR_COUNT(packs); p++) {
        struct tr_buffer lines = {0}, packed = {0};
        add_lines(&lines, 0, 300);
        packs[p](&packed, lines.data, lines.size);
        for (size_t cut = 4; cut < packed.size; cut++) {
            char *path = make_file(packed.data, cut);
            struct tr_input *input;
            trellis_error error = {0};
            trellis_text line;
            trellis_status status = tr_input_open(path, &input, &error);
            while (status == TRELLIS_OK) {
                status = tr_input_line(input, &line, &error);
            }
            assert_int_equal(status, TRELLIS_FORMAT);
            assert_non_null(strstr(error.message, "corrupt"));
            tr_input_close(input);
            drop_file(path);
        }
        tr_buffer_free(&lines);
        tr_buffer_free(&packed);
    }
}

static void very_short_files_are_plain(void **state)
{
    (void)state;
    const char *const cases[] = {"\x1F", "\x28", "\x28\xB5\x2F", "a", "(("};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char *path = make_file(cases[i], strlen(cases[i]));
        struct tr_input *input;
        trellis_text line;
        assert_int_equal(tr_input_open(path, &input, NULL), TRELLIS_OK);
        assert_int_equal(tr_input_line(input, &line, NULL), TRELLIS_OK);
        assert_true(tr_text_is(line, cases[i]));
        tr_input_close(input);
        drop_file(path);
    }
}

/* A short first line arrives without waiting for more bytes: the pipe stays open meanwhile. */
static void a_pipe_is_read_without_waiting(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a\n", 2), 2);
    char path[40];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct tr_input *input;
    trellis_text line;
    assert_int_equal(tr_input_open(path, &input, NULL), TRELLIS_OK);
    assert_int_equal(tr_input_line(input, &line, NULL), TRELLIS_OK);
    assert_true(tr_text_is(line, "a"));
    assert_int_equal(write(ends[1], "b", 1), 1);
    close(ends[1]);
    assert_int_equal(tr_input_line(input, &line, NULL), TRELLIS_OK);
    assert_true(tr_text_is(line, "b"));
    assert_int_equal(tr_input_line(input, &line, NULL), TRELLIS_END);
    tr_input_close(input);
    close(ends[0]);
}

/* Held lines stay valid while the buffer grows and moves. */
static void held_lines_stay_valid(void **state)
{
    (void)state;
    enum { COUNT = 300000, BLOCK = 70000 };
    struct tr_buffer lines = {0};
    add_lines(&lines, 0, COUNT);
    char *path = make_file(lines.data, lines.size);
    struct tr_input *input;
    assert_int_equal(tr_input_open(path, &input, NULL), TRELLIS_OK);
    static size_t offset[BLOCK], size[BLOCK];
    for (size_t begin = 0; begin < COUNT; begin += BLOCK) {
        size_t count = COUNT - begin < BLOCK ? COUNT - begin : BLOCK;
        tr_input_release(input);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(tr_input_hold(input, &offset[i], &size[i], NULL), TRELLIS_OK);
        }
        for (size_t i = 0; i < count; i++) {
            char expected[24];
            snprintf(expected, sizeof expected, "%zu", begin + i);
            trellis_text line = {tr_input_base(input) + offset[i], size[i]};
            assert_true(tr_text_is(line, expected));
        }
    }
    assert_int_equal(tr_input_hold(input, &offset[0], &size[0], NULL), TRELLIS_END);
    tr_input_close(input);
    tr_buffer_free(&lines);
    drop_file(path);
}

static void slurps_whole_files(void **state)
{
    (void)state;
    char *path = make_file("a\r\nb", 4), *data;
    size_t size;
    trellis_error error = {0};
    assert_int_equal(tr_input_slurp(path, 4, &data, &size, &error), TRELLIS_OK);
    assert_int_equal(size, 4);
    assert_string_equal(data, "a\r\nb");
    free(data);
    assert_int_equal(tr_input_slurp(path, 3, &data, &size, &error), TRELLIS_LIMIT);
    assert_null(data);
    drop_file(path);
    assert_int_equal(tr_input_slurp("/nonexistent/x", 3, &data, &size, &error), TRELLIS_IO);
    assert_null(data);
    tr_input_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_compressed_files),
        cmocka_unit_test(reads_empty_files),
        cmocka_unit_test(refuses_corrupt_files),
        cmocka_unit_test(very_short_files_are_plain),
        cmocka_unit_test(a_pipe_is_read_without_waiting),
        cmocka_unit_test(held_lines_stay_valid),
        cmocka_unit_test(slurps_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

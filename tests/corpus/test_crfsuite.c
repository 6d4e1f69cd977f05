/* test_crfsuite.c - CRFsuite's attributes against a second reader, which goes byte by byte and knows
 * nothing of marks; and the marks themselves, up to the last byte of a page. */
#include <sys/mman.h>

#include "base/random.h"
#include "corpus/corpus_test.h"
#include "corpus/marks.h"

enum { ROUNDS = 3000, LONGEST = 300 };

/* ---- the second reader ----------------------------------------------------------------------- */

struct naive {
    trellis_text left;
    uint64_t line;
    struct tr_buffer shown;
};

static bool next_naive_line(struct naive *naive, trellis_text *line)
{
    if (naive->left.size == 0) {
        return false;
    }
    *line = (trellis_text){naive->left.data, 0};
    while (line->size < naive->left.size && line->data[line->size] != '\n') {
        line->size++;
    }
    size_t taken = line->size + (line->size < naive->left.size);
    naive->left = (trellis_text){naive->left.data + taken, naive->left.size - taken};
    line->size -= line->size > 0 && line->data[line->size - 1] == '\r';
    naive->line++;
    return true;
}

/* A number of the texts made here has digits only. */
static bool naive_number(trellis_text text, double *value)
{
    char copy[64] = {0};
    bool digits = text.size > 0 && text.size < sizeof copy;
    for (size_t i = 0; digits && i < text.size; i++) {
        digits = text.data[i] == '1';
        copy[i] = text.data[i];
    }
    *value = digits ? strtod(copy, NULL) : 0;
    return digits;
}

/* Adds a name without its escapes; returns how many bytes it had. */
static size_t show_naive_name(struct tr_buffer *to, trellis_text field, bool colon_ends)
{
    size_t i = 0;
    for (; i < field.size; i++) {
        char c = field.data[i];
        if (c == ':' && colon_ends) {
            break;
        }
        if (c == '\\' && i + 1 < field.size) {
            char next = field.data[++i];
            if (next != ':' && next != '\\') {
                tr_buffer_char(to, c);
            }
            c = next;
        }
        tr_buffer_char(to, c);
    }
    return i;
}

static bool show_naive_attribute(struct tr_buffer *to, trellis_text field)
{
    tr_buffer_char(to, '{');
    size_t behind = show_naive_name(to, field, true) + 1;
    double value = 1;
    if (behind < field.size &&
        !naive_number((trellis_text){field.data + behind, field.size - behind}, &value)) {
        return false;
    }
    tr_buffer_char(to, ':');
    tr_buffer_real(to, value);
    tr_buffer_char(to, '}');
    return true;
}

/* Shows a row; false if it is an error. */
static bool show_naive_row(struct tr_buffer *to, trellis_text row, size_t *tokens, double *weight)
{
    bool labelled = false;
    for (size_t begin = 0, i = 0; i <= row.size; i++) {
        if (i < row.size && row.data[i] != '\t') {
            continue;
        }
        trellis_text field = {row.data + begin, i - begin};
        begin = i + 1;
        if (labelled) {
            if (field.size && !show_naive_attribute(to, field)) {
                return false;
            }
        } else if (tr_text_begins(field, "@weight:")) {
            if (!naive_number((trellis_text){field.data + 8, field.size - 8}, weight)) {
                return false;
            }
        } else if (field.size == 0) {
            return false;
        } else {
            tr_buffer_string(to, " >");
            show_naive_name(to, field, false);
            labelled = true;
            ++*tokens;
        }
    }
    return true;
}

static bool only_blanks(trellis_text line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] != ' ' && line.data[i] != '\t') {
            return false;
        }
    }
    return true;
}

/* Adds what show_sequence() shows of the next sequence; false after an error or the last. */
static bool show_naive_sequence(struct naive *naive)
{
    size_t kept = naive->shown.size, tokens = 0;
    double weight = 1;
    uint64_t first = 0;
    trellis_text line;
    bool more;
    while ((more = next_naive_line(naive, &line))) {
        if (only_blanks(line) && first) {
            break;
        }
        if (only_blanks(line)) {
            continue;
        }
        if (!first) {
            first = naive->line;
            tr_buffer_format(&naive->shown, "%d:", (int)first);
        }
        if (!show_naive_row(&naive->shown, line, &tokens, &weight)) {
            naive->shown.size = kept;
            tr_buffer_format(&naive->shown, "error in line %d\n", (int)naive->line);
            return false;
        }
    }
    if (tokens == 0) {
        naive->shown.size = kept;
        return more;
    }
    if (weight != 1) {
        tr_buffer_char(&naive->shown, '*');
        tr_buffer_real(&naive->shown, weight);
    }
    tr_buffer_char(&naive->shown, '\n');
    return more;
}

/* ---- both, on random texts ------------------------------------------------------------------- */

static void show_read(struct tr_buffer *shown, struct tr_buffer *data)
{
    trellis_options *options = make_options("format=crfsuite");
    const trellis_source source = {
        .struct_size = sizeof source, .data = data->data, .data_size = data->size};
    trellis_reader *reader;
    trellis_error error = {0};
    const trellis_sequence *sequence;
    assert_int_equal(trellis_reader_open_source(&source, options, &reader, &error), TRELLIS_OK);
    trellis_status status;
    while ((status = trellis_reader_next(reader, &sequence, &error)) == TRELLIS_OK) {
        show_sequence(shown, sequence);
    }
    if (status != TRELLIS_END) {
        tr_buffer_format(shown, "error in line %d\n", (int)error.line);
    }
    trellis_reader_close(reader);
    trellis_options_destroy(options);
}

static void make_text(struct tr_random *random, struct tr_buffer *to)
{
    static const char *const pieces[] = {
        "a",
        "b=",
        "\t",
        "\tc",
        "\td",
        "\n",
        "\nL\t",
        "\n\nL",
        "\\:",
        "\\\\",
        "\\",
        ":1",
        "\t:",
        ":\t",
        " ",
        "\r",
        "\r\n",
        "é",
        "\\a",
        "@",
        "\n@weight:11",
        "1",
        "a word that is longer than the sixty-four bytes which are compared at a time"};
    size_t count = 1 + tr_random_below(random, 80);
    tr_buffer_string(to, "L");
    for (size_t i = 0; i < count; i++) {
        tr_buffer_string(to, pieces[tr_random_below(random, TR_COUNT(pieces))]);
    }
    size_t names = tr_random_below(random, 8) ? 0 : tr_random_below(random, 200); // of one row
    for (size_t i = 0; i < names; i++) {
        tr_buffer_string(to, "\tc");
    }
}

static void agrees_with_second_reader(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 22);
    size_t errors = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct tr_buffer data = {0}, shown = {0};
        struct naive naive = {.line = 0};
        make_text(&random, &data);
        naive.left = (trellis_text){data.data, data.size};
        while (show_naive_sequence(&naive)) {}
        show_read(&shown, &data);
        tr_buffer_char(&naive.shown, '\0');
        tr_buffer_char(&shown, '\0');
        assert_string_equal(shown.data, naive.shown.data);
        errors += strstr(shown.data, "error") != NULL;
        tr_buffer_free(&data);
        tr_buffer_free(&shown);
        tr_buffer_free(&naive.shown);
    }
    assert_in_range(errors, ROUNDS / 10, ROUNDS * 9 / 10); // neither is rare
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void check_marks(struct tr_marks *marks, trellis_text text)
{
    assert_true(tr_marks_set(marks, text));
    struct tr_mark_walk walk = tr_marks_walk(marks);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\t' || text.data[i] == ':' || text.data[i] == '\\') {
            assert_int_equal(tr_mark(&walk), i);
            tr_mark_pass(&walk);
        }
    }
    assert_true(tr_mark(&walk) >= text.size);
}

/* The page behind the text cannot be read. */
static void marks_up_to_the_end_of_a_page(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    struct tr_random random;
    struct tr_marks marks = {0};
    tr_random_seed(&random, 1);
    for (size_t size = 0; size <= LONGEST; size++) {
        char *text = pages + page - size;
        for (size_t i = 0; i < size; i++) {
            bool any = tr_random_below(&random, 4) == 0;
            text[i] = any ? (char)tr_random_below(&random, 256)
                          : "\t:\\;"[tr_random_below(&random, 4)];
        }
        check_marks(&marks, (trellis_text){text, size});
        memset(text, 'a', size);
        check_marks(&marks, (trellis_text){text, size});
        memset(text, '\t', size);
        check_marks(&marks, (trellis_text){text, size});
    }
    free(marks.words.at);
    munmap(pages, 2 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_second_reader),
        cmocka_unit_test(marks_up_to_the_end_of_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

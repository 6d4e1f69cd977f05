/* test_picture.c - the picture of a sequence with segments: each arc spans the words of its
 * segment. */
#include <math.h>

#include "model/test_model.h"

static const char templates[] = "columns word\nnode word\nsegment text(word)\nstep\n";
static const char corpus[] = "in O\nNew B-X\nYork B-X\nit O\nis O\n\n"
                             "in O\nOld B-Y\nBig I-Y\nSur I-Y\nit O\nRio B-X\n\n";

enum { MAX_FOUND = 32 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The numbers that follow a text, wherever it is; how many. */
static size_t numbers_behind(const char *svg, const char *text, double *numbers)
{
    size_t count = 0;
    for (const char *at = svg; (at = strstr(at, text)); at++) {
        assert_true(count < MAX_FOUND);
        numbers[count++] = strtod(at + strlen(text), NULL);
    }
    return count;
}

static void test_arcs_span_their_words(void **state)
{
    (void)state;
    char options[700], text[] = "in Old Big Sur it Rio";
    snprintf(options, sizeof options, "type=crf segments=yes features=%s",
             put_text("templates", templates));
    trellis_model *model = train_on(corpus, options);
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_text *cells;
    trellis_sequence sequence = cut_sequence(text, &cells);
    struct tr_buffer out = {0};
    trellis_error error = {0};
    assert_ok(trellis_draw(tagger, &sequence, 10, to_buffer, &out, &error), error);
    tr_buffer_char(&out, '\0');
    /* the places of the words, of the best path */
    double x[MAX_FOUND], from[MAX_FOUND];
    assert_int_equal(numbers_behind(out.data, "<circle class=\"best\" cx=\"", x), 6);
    qsort(x, 6, sizeof *x, by_size);
    /* Old Big Sur, and Rio */
    assert_int_equal(numbers_behind(out.data, "<path class=\"segment\" d=\"M", from), 2);
    const char *first = strstr(out.data, "<path class=\"segment\""),
               *second = strstr(first + 1, "<path class=\"segment\"");
    double begin, top, to, height;
    assert_int_equal(sscanf(first, "<path class=\"segment\" d=\"M%lf 12 Q%lf %lf %lf 12\"/>",
                            &begin, &top, &height, &to),
                     4);
    assert_true(begin > x[0] && begin < x[1] && to > x[3] && to < x[4]);
    assert_true(fabs(top - (begin + to) / 2) < 0.11);
    assert_int_equal(sscanf(second, "<path class=\"segment\" d=\"M%lf 12 Q%lf %lf %lf 12\"/>",
                            &begin, &top, &height, &to),
                     4);
    assert_true(begin > x[4] && begin < x[5] && to > x[5]);
    tr_buffer_free(&out);
    free(cells);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arcs_span_their_words)};
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

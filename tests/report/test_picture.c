/* test_picture.c - the picture of a sequence: each arc spans the words of its segment, and each
 * transition has its probability. */
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
    /* without the last word, whose segment must not be drawn again */
    out.size = 0;
    sequence.length--;
    assert_ok(trellis_draw(tagger, &sequence, 10, to_buffer, &out, &error), error);
    tr_buffer_char(&out, '\0');
    assert_int_equal(numbers_behind(out.data, "<circle class=\"best\" cx=\"", x), 5);
    assert_int_equal(numbers_behind(out.data, "<path class=\"segment\" d=\"M", from), 1);
    tr_buffer_free(&out);
    free(cells);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* P(labels i and i + 1 are a and b | sequence) of all positions, over all labellings. */
static void test_transitions_have_their_probabilities(void **state)
{
    (void)state;
    enum { LENGTH = 4, LABELS = 3, LABELLINGS = 81 };
    static const char *const names[LABELS] = {"A", "B", "C"};
    char text[] = "a b b a";
    trellis_model *model = train_on("a A\nb B\na C\n\nb A\na B\nb B\n\na A\nb C\n",
                                    "type=crf features=id l2=1 epochs=20");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_text *cells;
    trellis_sequence sequence = cut_sequence(text, &cells);
    struct tr_buffer out = {0};
    trellis_error error = {0};
    assert_ok(trellis_draw(tagger, &sequence, 10, to_buffer, &out, &error), error);
    tr_buffer_char(&out, '\0');
    double p[LABELS][LABELS][LENGTH - 1] = {0}, all = 0;
    for (size_t z = 0; z < LABELLINGS; z++) {
        size_t number[LENGTH], rest = z;
        trellis_text labels[LENGTH];
        for (size_t i = 0; i < LENGTH; i++, rest /= LABELS) {
            number[i] = rest % LABELS;
            labels[i] = tr_text(names[number[i]]);
        }
        double log_p;
        assert_ok(trellis_tagger_log_probability(tagger, labels, &log_p, &error), error);
        all += exp(log_p);
        for (size_t i = 1; i < LENGTH; i++) {
            p[number[i - 1]][number[i]][i - 1] += exp(log_p);
        }
    }
    assert_true(fabs(all - 1) < 1e-6);
    for (size_t pair = 0; pair < (size_t)LABELS * LABELS; pair++) {
        const char *from = names[pair / LABELS], *to = names[pair % LABELS];
        double *wanted = p[pair / LABELS][pair % LABELS], found[LENGTH - 1];
        char title[40];
        size_t count = 0;
        snprintf(title, sizeof title, "<title>%s \xE2\x86\x92 %s: ", from, to);
        for (const char *at = out.data; (at = strstr(at, title)); at++) {
            assert_true(count < LENGTH - 1);
            at = strstr(at, "probability ");
            found[count++] = strtod(at + strlen("probability "), NULL);
        }
        assert_int_equal(count, LENGTH - 1); // none is too improbable to be drawn
        qsort(wanted, count, sizeof *wanted, by_size);
        qsort(found, count, sizeof *found, by_size);
        for (size_t i = 0; i < count; i++) {
            assert_true(fabs(found[i] - wanted[i]) < 1e-4);
        }
    }
    tr_buffer_free(&out);
    free(cells);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* What must be there is refused with a status where it is NULL. */
static void test_missing_arguments(void **state)
{
    (void)state;
    trellis_model *model = train_on("a A\nb B\n\n", "type=crf features=id");
    trellis_tagger *tagger = make_tagger(model, "");
    trellis_text *cells;
    char text[] = "a b";
    trellis_sequence sequence = cut_sequence(text, &cells);
    struct tr_buffer out = {0};
    trellis_error error = {0};
    assert_int_equal(trellis_draw(NULL, &sequence, 10, to_buffer, &out, &error), TRELLIS_OPTION);
    assert_non_null(strstr(error.message, "trellis_draw"));
    assert_int_equal(trellis_draw(tagger, NULL, 10, to_buffer, &out, NULL), TRELLIS_OPTION);
    assert_int_equal(trellis_draw(tagger, &sequence, 10, NULL, &out, NULL), TRELLIS_OPTION);
    assert_int_equal(out.size, 0);
    free(cells);
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arcs_span_their_words),
        cmocka_unit_test(test_transitions_have_their_probabilities),
        cmocka_unit_test(test_missing_arguments),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

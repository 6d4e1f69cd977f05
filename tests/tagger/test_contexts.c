/* test_contexts.c - scores by contexts: those of the attributes one by one, whatever was tagged
 * before.
 *
 * The judge is an extractor without contexts, whose attributes are looked up and added in double
 * precision.
 */
#include <math.h>

#include "model/test_model.h"
#include "tagger/tagger_internal.h"

enum { TAGS = 7 };

/* ---- data ------------------------------------------------------------------------------------ */

static uint64_t state_of_random = 1;

static unsigned random_below(unsigned n)
{
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_random >> 33) % n;
}

/* Words of which a few are frequent; among them what stands for places outside a sequence. */
static void put_word(struct tr_buffer *text, unsigned words)
{
    static const char *const odd[] = {"_B-1", "_B+1", "_B-2", "_x-1", "2", "-", "A", "UPPER"};
    char word[32];
    unsigned k = random_below(4) ? random_below(1 + words / 8) : random_below(words);
    snprintf(word, sizeof word, "%s%u", k % 3 ? "word" : "Word", k);
    tr_buffer_string(text, random_below(12) ? word : odd[random_below(TR_COUNT(odd))]);
}

/* Sequences of word, tag and, with `labels`, label; a third of them short. */
static char *make_text(size_t sequences, unsigned words, bool labels)
{
    struct tr_buffer text = {0};
    for (size_t k = 0; k < sequences; k++) {
        size_t length = random_below(3) ? 1 + random_below(150) : 1 + random_below(4);
        for (size_t i = 0; i < length; i++) {
            unsigned tag = random_below(TAGS);
            char cells[32];
            put_word(&text, words);
            snprintf(cells, sizeof cells, " T%u", tag);
            tr_buffer_string(&text, tag ? cells : " _B-1");
            snprintf(cells, sizeof cells, " L%u", (tag + random_below(3)) % 5);
            tr_buffer_string(&text, labels ? cells : "");
            tr_buffer_char(&text, '\n');
        }
        tr_buffer_char(&text, '\n');
    }
    tr_buffer_char(&text, 0);
    assert_false(text.failed);
    return text.data;
}

static trellis_model *train(const char *templates, const char *more)
{
    char options[300];
    put_text("templates", templates);
    snprintf(options, sizeof options, "type=crf epochs=3 features=%s %s", path_of("templates"),
             more);
    char *text = make_text(40, 400, true);
    trellis_model *model = train_on(text, options);
    free(text);
    return model;
}

/* ---- the judge ------------------------------------------------------------------------------- */

/* The largest difference between the scores of the sequence last tagged and the sums of the weights
 * of all its attributes. */
static double difference(trellis_tagger *tagger, struct tr_extractor *extractor,
                         const trellis_sequence *sequence)
{
    const trellis_model *model = tagger->model;
    const struct tr_observation *seen;
    trellis_error error = {0};
    assert_ok(tr_extractor_run(extractor, sequence, &seen, &error), error);
    double largest = 0;
    for (size_t i = 0; i < sequence->length; i++) {
        const float *scores = tr_lattice_nodes(tagger->decoder.lattice) + i * model->graph->width;
        for (uint32_t c = 0; c < model->label_count; c++) {
            double sum = 0;
            for (size_t k = seen->node.begin[i]; k < seen->node.begin[i + 1]; k++) {
                uint32_t row = tr_table_find(&model->node, seen->node.low[k]);
                sum += row == TR_NONE ? 0 : (double)tr_table_weight(&model->node, row, c);
            }
            largest = fmax(largest, fabs(sum - (double)scores[c]));
        }
    }
    return largest;
}

static trellis_tagger *new_tagger(const trellis_model *model, const trellis_reader *reader)
{
    trellis_tagger *tagger;
    trellis_error error = {0};
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    assert_ok(trellis_tagger_bind(tagger, reader, &error), error);
    return tagger;
}

/* Tags a file with one tagger, and each sequence with a new one: the same scores, to the bit. */
static void check_file(const trellis_model *model, const char *path, size_t contexts)
{
    trellis_reader *reader;
    trellis_error error = {0};
    const trellis_sequence *sequence;
    const trellis_text *labels;
    struct tr_extractor *extractor;
    trellis_status status;
    size_t floats = 0;
    assert_ok(trellis_reader_open(path, NULL, &reader, &error), error);
    assert_ok(tr_extractor_create(model->features, true, &extractor, &error), error);
    assert_ok(tr_extractor_bind(extractor, reader, SIZE_MAX, &error), error);
    trellis_tagger *old = new_tagger(model, reader);
    while (!(status = trellis_reader_next(reader, &sequence, &error))) {
        trellis_tagger *new = new_tagger(model, reader);
        assert_ok(trellis_tagger_tag(old, sequence, &labels, &error), error);
        assert_ok(trellis_tagger_tag(new, sequence, &labels, &error), error);
        assert_int_equal(tr_extractor_contexts(old->input.extractor)->count, contexts);
        floats = sequence->length * model->graph->width;
        assert_memory_equal(tr_lattice_nodes(old->decoder.lattice),
                            tr_lattice_nodes(new->decoder.lattice), floats * sizeof(float));
        assert_true(difference(old, extractor, sequence) < 1e-4);
        trellis_tagger_destroy(new);
    }
    assert_int_equal(status, TRELLIS_END);
    assert_true(floats > 0);
    trellis_tagger_destroy(old);
    tr_extractor_destroy(extractor);
    trellis_reader_close(reader);
}

/* Known and unknown words; the second file has more of them than are kept. */
static void check(const char *templates, const char *options, size_t contexts)
{
    trellis_model *model = train(templates, options);
    char *text = make_text(60, 600, false);
    check_file(model, put_text("test", text), contexts);
    free(text);
    text = make_text(250, 40000, false);
    check_file(model, put_text("test", text), contexts);
    free(text);
    trellis_model_close(model);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Cells and three tags in a row; pairs of words and what skips a tag of four are loose. */
static const char patterns[] = "U00:%x[-2,0]\nU01:%x[-1,0]\nU02:%x[0,0]\nU03:%x[2,0]\n"
                               "U05:%x[-1,0]/%x[0,0]\nU10:%x[-2,1]\nU12:%x[0,1]\nU13:%x[3,1]\n"
                               "U15:%x[-2,1]/%x[-1,1]\nU17:%x[0,1]/%x[1,1]\nU18:%x[-1,1]/%x[2,1]\n"
                               "U20:%x[-2,1]/%x[-1,1]/%x[0,1]\nU21:%x[-1,1]/%x[0,1]/%x[1,1]\n"
                               "U30:%x[0,0]/%x[0,1]\nB\n";

static void test_patterns(void **state)
{
    (void)state;
    check(patterns, "label=3", 2);
}

/* Functions, conditions, absent values, literals, with pads and without. */
static void test_native(void **state)
{
    (void)state;
    static const char body[] = "node bias\nnode word[-2..2]\nnode suffix(word[-1..1],1..3)\n"
                               "node prefix(word,5) if isupper(word) & not hasdigit(word)\n"
                               "node word & pos\nnode shape(word[1]) & pos[1]\n"
                               "node ngram(pos,-2..2,1..3)\nnode pos[-1] & pos[1]\n"
                               "node isupper(word) & first\nnode lower(word) & lower(word[1])\n"
                               "step start end\n";
    char templates[1000];
    snprintf(templates, sizeof templates, "columns word pos\n%s", body);
    check(templates, "label=3", 2);
    snprintf(templates, sizeof templates, "columns word pos\npad\n%s", body);
    check(templates, "label=3", 2);
}

/* Three cells in a row of one column have nothing to do with those of another. */
static void test_windows_of_two_columns(void **state)
{
    (void)state;
    check("columns word pos\nnode ngram(word,-1..1,1..3)\nnode ngram(pos,-1..1,1..3)\nstep\n",
          "label=3", 3);
}

/* A model of 16 bits adds whole numbers. */
static void test_shorts(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = train(patterns, "label=3"), *small;
    assert_ok(trellis_model_repack(model, 16, &small, &error), error);
    char *text = make_text(60, 600, false);
    check_file(small, put_text("test", text), 2);
    free(text);
    trellis_model_close(small);
    trellis_model_close(model);
}

/* Without an optional column its templates are gone, and what was kept with it. */
static void test_optional_column(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = train("columns word pos?\npad\nnode word[-1..1]\nnode word & pos\n"
                                 "node ngram(pos,-1..1,1..3)\nstep start end\n",
                                 "label=3");
    const char *with = "a|T1 word1|T2 Word3|T1", *without = "a word1 Word3";
    trellis_tagger *tagger, *other;
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    assert_ok(trellis_tagger_create(model, NULL, &other, &error), error);
    double scores[2], again;
    free(tag_with(tagger, with, &scores[0]));
    free(tag_with(other, without, &scores[1]));
    assert_true(fabs(scores[0] - scores[1]) > 1e-3);
    for (int k = 0; k < 4; k++) {
        free(tag_with(tagger, k % 2 ? with : without, &again));
        assert_true(again == scores[k % 2 ? 0 : 1]);
        free(tag_with(other, k % 2 ? without : with, &again));
        assert_true(again == scores[k % 2 ? 1 : 0]);
    }
    trellis_tagger_destroy(tagger);
    trellis_tagger_destroy(other);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_native),
        cmocka_unit_test(test_windows_of_two_columns),
        cmocka_unit_test(test_shorts),
        cmocka_unit_test(test_optional_column),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

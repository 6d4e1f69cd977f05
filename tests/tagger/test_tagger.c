/* test_tagger.c - taggers: many over one model, other columns than in training, odd sequences. */
#include <math.h>
#include <pthread.h>

#include "model/test_model.h"

static const char corpus[] = "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\nbarks VB\nloudly RB\n\n"
                             "dogs NN\nchase VB\nthe DT\ncats NN\n\nCats NN\nsleep VB\n";

static trellis_tagger *plain_tagger(const trellis_model *model)
{
    trellis_tagger *tagger;
    trellis_error error = {0};
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    return tagger;
}

/* ---- threads --------------------------------------------------------------------------------- */

struct worker {
    const trellis_model *model;
    struct tr_buffer out;
    double score;
    size_t sequences;
    trellis_status status;
};

/* Tags a whole file; no assertions, which belong to the main thread. */
static void *work(void *user)
{
    struct worker *worker = user;
    trellis_tagger *tagger = NULL;
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    const trellis_text *labels;
    worker->status = trellis_reader_open("data/english/test.conll", NULL, &reader, NULL);
    if (!worker->status) {
        worker->status = trellis_tagger_create(worker->model, NULL, &tagger, NULL);
    }
    if (!worker->status) {
        worker->status = trellis_tagger_bind(tagger, reader, NULL);
    }
    while (!worker->status && !(worker->status = trellis_reader_next(reader, &sequence, NULL))) {
        worker->status = trellis_tagger_tag(tagger, sequence, &labels, NULL);
        for (size_t i = 0; !worker->status && i < sequence->length; i++) {
            tr_buffer_text(&worker->out, labels[i]);
            tr_buffer_char(&worker->out, '\n');
        }
        worker->score += trellis_tagger_score(tagger);
        worker->sequences++;
    }
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    trellis_options *options = make_options("epochs=2 label=2");
    const char *path = "data/english/train.conll";
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error), error);
    enum { THREADS = 16 };
    struct worker alone = {.model = model}, all[THREADS];
    work(&alone);
    assert_int_equal(alone.status, TRELLIS_END);
    assert_true(alone.out.size > 1000);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct worker){.model = model};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(all[i].status, TRELLIS_END);
        assert_int_equal(all[i].out.size, alone.out.size);
        assert_memory_equal(all[i].out.data, alone.out.data, alone.out.size);
        assert_true(all[i].score == alone.score);
        tr_buffer_free(&all[i].out);
    }
    print_message("%zu sequences by each of %d taggers\n", alone.sequences, THREADS);
    tr_buffer_free(&alone.out);
    trellis_model_close(model);
    trellis_options_destroy(options);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Tags the first sequence of a file after binding to it; the labels or "! " and the error. */
static char *tag_file(const trellis_model *model, const char *path, const char *options_text)
{
    trellis_options *options = make_options(options_text);
    trellis_tagger *tagger = plain_tagger(model);
    trellis_reader *reader;
    const trellis_sequence *sequence;
    const trellis_text *labels = NULL;
    trellis_error error = {0};
    struct tr_buffer text = {0};
    assert_ok(trellis_reader_open(path, options, &reader, &error), error);
    assert_ok(trellis_reader_next(reader, &sequence, &error), error);
    trellis_status status = trellis_tagger_bind(tagger, reader, &error);
    if (status) { // a tagger that could not be bound does not tag by guess
        assert_int_not_equal(trellis_tagger_tag(tagger, sequence, &labels, NULL), TRELLIS_OK);
        assert_null(labels);
    } else {
        status = trellis_tagger_tag(tagger, sequence, &labels, &error);
    }
    if (status) {
        assert_null(labels);
        tr_buffer_format(&text, "! %s: %s", trellis_status_name(status), error.message);
    }
    for (size_t i = 0; !status && i < sequence->length; i++) {
        tr_buffer_string(&text, i ? " " : "");
        tr_buffer_text(&text, labels[i]);
    }
    tr_buffer_char(&text, 0);
    trellis_reader_close(reader);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(options);
    return text.data;
}

static void assert_file_tags(const trellis_model *model, const char *data, const char *options,
                             const char *expected)
{
    char *found = tag_file(model, put_text("input.txt", data), options);
    if (!strstr(found, expected) || (found[0] != '!' && strcmp(found, expected) != 0)) {
        fail_msg("'%s', not '%s'", found, expected);
    }
    free(found);
}

static void test_columns(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options, "epochs=8 columns=word,pos,tag features=%s",
             put_text("pos.tpl",
                      "columns word pos\nnode word\nnode pos\nnode pos[-1]\nstep start end\n"));
    trellis_model *model = train_on("the D B\ncat N I\nran V O\n\na D B\ndog N I\nsat V O\n",
                                    options);
    /* As in training, by position; by name, in another order; with synonymous names. */
    assert_file_tags(model, "the D ?\ndog N ?\nsat V ?\n", "", "B I O");
    assert_file_tags(model, "the D\ndog N\nsat V\n", "label=none", "B I O");
    assert_file_tags(model, "? N 1 the D\n? N 1 dog N\n", "columns=x,y,z,word,pos label=none",
                     "B I");
    assert_file_tags(model, "D the\nN dog\nV sat\n", "columns=pos,word label=none", "B I O");
    assert_file_tags(model, "D the\nN dog\nV sat\n", "columns=TAG,FORM label=none", "B I O");
    assert_file_tags(model, "{\"tokens\":[\"the\",\"cat\"],\"pos\":[\"D\",\"N\"]}\n",
                     "format=jsonl", "B I");
    /* The error names the missing column, or its line. */
    assert_file_tags(model, "the x\ndog x\n", "columns=word,shape label=none",
                     "! TEMPLATE: the templates need a column 'pos', but the input has only word "
                     "shape");
    assert_file_tags(model, "the\ndog\n", "label=none", "! ");
    char *found = tag_by(model, "the dog", NULL);
    assert_true(strncmp(found, "! ", 2) == 0); // one column, two wanted
    free(found);
    assert_tags(model, "the|D dog|N sat|V", "B I O");
    assert_tags(model, "the|D|more dog|N|of sat|V|it", "B I O");
    trellis_model_close(model);
}

/* A tagger can be bound to one input after another. */
static void test_rebinding(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "epochs=6 features=id");
    trellis_tagger *tagger = plain_tagger(model);
    const char *const orders[] = {"columns=word,x label=none", "columns=x,word label=none"};
    const char *const data[] = {"the 1\ncat 1\nsleeps 1\n", "1 the\n1 cat\n1 sleeps\n"};
    for (int i = 0; i < 6; i++) {
        trellis_options *options = make_options(orders[i % 2]);
        trellis_reader *reader;
        const trellis_sequence *sequence;
        const trellis_text *labels;
        trellis_error error = {0};
        const char *path = put_text("input.txt", data[i % 2]);
        assert_ok(trellis_reader_open(path, options, &reader, &error), error);
        assert_ok(trellis_tagger_bind(tagger, reader, &error), error);
        assert_ok(trellis_reader_next(reader, &sequence, &error), error);
        assert_ok(trellis_tagger_tag(tagger, sequence, &labels, &error), error);
        assert_true(tr_text_is(labels[0], "DT"));
        assert_true(tr_text_is(labels[1], "NN"));
        trellis_reader_close(reader);
        trellis_options_destroy(options);
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void test_empty_sequence(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "epochs=2");
    trellis_tagger *tagger = plain_tagger(model);
    for (int i = 0; i < 2; i++) { // as the first one, and after another
        trellis_sequence empty = {
            .struct_size = sizeof(trellis_sequence), .columns = 1, .weight = 1};
        const trellis_text *labels;
        trellis_error error = {0};
        assert_ok(trellis_tagger_tag(tagger, &empty, &labels, &error), error);
        assert_true(trellis_tagger_score(tagger) == 0);
        char *found = tag_with(tagger, "the cat sleeps", NULL);
        assert_string_equal(found, "DT NN VB");
        free(found);
    }
    trellis_tagger_destroy(tagger);
    trellis_tagger_destroy(NULL);
    trellis_model_close(model);
}

/* Unseen attributes have no weights: the score is that of the transitions. */
static void test_unknown_words(void **state)
{
    (void)state;
    trellis_model *model = import_model(put_text(
        "steps.txt",
        "trellis-text\t1\ntemplate\tcolumns word\ntemplate\tnode word\nlabel\tA\nlabel\tB\n"
        "step\t2\t\\start\tB\nstep\t3\tB\tA\nstep\t1\tA\t\\end\nword\t9\tA\tknown\n"));
    double score;
    char *found = tag_by(model, "never seen", &score);
    assert_string_equal(found, "B A");
    assert_true(fabs(score - 6) < 1e-6);
    free(found);
    found = tag_by(model, "known", &score);
    assert_string_equal(found, "A");
    assert_true(fabs(score - 10) < 1e-6);
    free(found);
    trellis_model_close(model);
}

/* A weight is multiplied by the value of its attribute. */
static void test_values(void **state)
{
    (void)state;
    trellis_model *model = train_on("A\tx\nB\ty\n\nB\ty\nA\tx\n", "format=crfsuite epochs=4");
    trellis_tagger *tagger = plain_tagger(model);
    static const double values[] = {1, 2, 0.5, -1, 0};
    double once = 0;
    for (size_t i = 0; i < TR_COUNT(values); i++) {
        trellis_attribute attribute = {TR_TEXT("y"), values[i]};
        size_t begin[] = {0, 1};
        trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                     .length = 1,
                                     .attributes = &attribute,
                                     .attribute_begin = begin,
                                     .weight = 1};
        const trellis_text *labels;
        trellis_error error = {0};
        assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
        once = i == 0 ? trellis_tagger_score(tagger) : once;
        assert_true(once > 0);
        double expected = values[i] > 0 ? values[i] * once : 0; // else A, which has no weight
        assert_true(fabs(trellis_tagger_score(tagger) - expected) < 1e-5);
        assert_true(tr_text_is(labels[0], values[i] > 0 ? "B" : "A"));
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
}

/* 200,000 tokens: the same labels as short pieces, away from their ends. */
static void test_long_sequence(void **state)
{
    (void)state;
    enum { PERIOD = 4, LENGTH = 200000 };
    static const char *const words[PERIOD] = {"the", "can", "can", "zebra"};
    trellis_model *model = import_model(put_text(
        "long.txt",
        "trellis-text\t1\ntemplate\tcolumns word\ntemplate\tnode word\nlabel\tD\nlabel\tN\nlabel\tV\n"
        "step\t1.5\tD\tN\nstep\t1.5\tN\tV\nstep\t0.25\tV\tV\nstep\t0.125\t\\start\tV\nword\t4\tD\tthe\n"
        "word\t0.5\tN\tcan\nword\t0.5\tV\tcan\n"));
    trellis_text *cells = calloc(LENGTH, sizeof *cells);
    for (size_t i = 0; i < LENGTH; i++) {
        cells[i] = tr_text(words[i % PERIOD]);
    }
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = cells,
                                 .weight = 1};
    trellis_tagger *tagger = plain_tagger(model);
    const trellis_text *labels;
    trellis_error error = {0};
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    for (size_t i = 0; i < LENGTH; i++) {
        assert_int_equal(labels[i].data[0], "DNVV"[i % PERIOD]);
    }
    /* D N V V: 4 + 0.5 + 0.5 for the words, 1.5 + 1.5 + 0.25 for the transitions, all exact in
     * binary. */
    assert_true(fabs(trellis_tagger_score(tagger) - LENGTH / PERIOD * 8.25) < 1e-3);
    char *found = tag_with(tagger, "the can can zebra", NULL); // short again
    assert_string_equal(found, "D N V V");
    free(found);
    trellis_tagger_destroy(tagger);
    free(cells);
    trellis_model_close(model);
}

/* Posterior decoding gives the same labels as Viterbi where the model is confident. */
static void test_posterior(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "epochs=10");
    trellis_options *options = make_options("decode=posterior");
    trellis_tagger *tagger;
    trellis_error error = {0};
    double best, score;
    assert_ok(trellis_tagger_create(model, options, &tagger, &error), error);
    char *found = tag_with(tagger, "the cat sleeps", &score),
         *viterbi = tag_by(model, "the cat sleeps", &best);
    assert_string_equal(found, "DT NN VB");
    assert_string_equal(viterbi, "DT NN VB");
    assert_true(fabs(score - best) < 1e-6);
    free(found);
    free(viterbi);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(options);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_columns),
        cmocka_unit_test(test_rebinding),     cmocka_unit_test(test_empty_sequence),
        cmocka_unit_test(test_unknown_words), cmocka_unit_test(test_long_sequence),
        cmocka_unit_test(test_posterior),     cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

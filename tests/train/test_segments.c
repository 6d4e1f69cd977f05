/* test_segments.c - learning with --segments: the gradient by finite differences, the curvature by
 * hand, a CRF of order 1 as the special case without segment templates, and every learner on data
 * that only segments explain. */
#include <math.h>

#include "base/random.h"
#include "model/test_model.h"
#include "support/near.h"
#include "train/likelihood.h"
#include "train/objective.h"

static const char templates[] = "columns word\n"
                                "node word[-1..1]\n"
                                "node learned(word,inside first last)\n"
                                "segment text(word)\n"
                                "segment text(learned(word,inside))\n"
                                "segment size & before(word)\n"
                                "segment any(word,1..2)\n"
                                "segment head(word,1) & tail(word,1)\n"
                                "segment learned(word) & size\n"
                                "segment count(hasdigit(word)) if not all(isupper(word))\n"
                                "step start end\n";

/* Sentences with names of one to five words; in text form, so that a name may be as long as a
 * sentence. */
static void make_corpus(struct tr_buffer *corpus, uint64_t seed, size_t sentences, bool closed,
                        bool partial)
{
    static const char *const words[] = {"the", "of", "Rio", "New", "York", "A1", "ran", "to"};
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t k = 0; k < sentences; k++) {
        size_t n = 1 + tr_random_below(&random, 7);
        for (size_t i = 0; i < n;) {
            size_t d = tr_random_below(&random, 2) ? 0 : 1 + tr_random_below(&random, 5);
            d = d > n - i ? n - i : d;
            char type = "XY"[tr_random_below(&random, 2)];
            for (size_t j = 0; j < (d ? d : 1); j++) {
                const char *word = words[tr_random_below(&random, 8)];
                char letter = closed && d == 1       ? 'S'
                              : j == 0               ? 'B'
                              : closed && j + 1 == d ? 'E'
                                                     : 'I';
                if (partial && tr_random_below(&random, 4) == 0) {
                    tr_buffer_format(corpus, "%s _\n", word);
                } else if (d == 0) {
                    tr_buffer_format(corpus, "%s O\n", word);
                } else {
                    tr_buffer_format(corpus, "%s %c-%c\n", word, letter, type);
                }
            }
            i += d ? d : 1;
        }
        tr_buffer_char(corpus, '\n');
    }
}

static void set_options(trellis_options *options, const char *const *pairs)
{
    trellis_error error = {0};
    for (; *pairs; pairs += 2) {
        assert_ok(trellis_options_set(options, pairs[0], pairs[1], &error), error);
    }
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- the gradient ---------------------------------------------------------------------------- */

struct problem {
    trellis_options *options;
    struct tr_training training;
};

static void begin_problem(struct problem *p, const char *file, const char *const *pairs)
{
    trellis_error error = {0};
    trellis_source source = {.struct_size = sizeof source, .path = file};
    trellis_training given = {.struct_size = sizeof given, .train = &source, .train_count = 1};
    memset(p, 0, sizeof *p);
    assert_ok(trellis_options_create(&p->options, &error), error);
    set_options(p->options, pairs);
    assert_ok(tr_settings_resolve(p->options, &p->training.settings, &error), error);
    assert_ok(tr_training_take_sources(&p->training, p->options, &given, &error), error);
    assert_ok(tr_pool_create(1, &p->training.pool, &error), error);
    assert_ok(tr_training_read(&p->training, &error), error);
    assert_ok(tr_training_make_layout(&p->training, &error), error);
}

static void end_problem(struct problem *p)
{
    struct tr_training *t = &p->training;
    tr_pool_destroy(t->pool);
    tr_layout_free(&t->layout);
    tr_words_free(&t->data.seen);
    tr_segments_destroy(t->data.segments);
    tr_intern_free(&t->data.type_names);
    free(t->data.type_lengths.at);
    tr_dataset_free(&t->data.train);
    tr_vocabulary_free(&t->data.vocabulary);
    trellis_features_destroy(t->data.features);
    tr_training_free_sources(&t->sources);
    trellis_options_destroy(p->options);
}

static double value_at(const struct tr_crf_objective *objective, const double *w, double *gradient)
{
    trellis_error error = {0};
    double value;
    assert_ok(tr_crf_evaluate((void *)objective, w, gradient, &value, &error), error);
    return value;
}

static size_t bundled; // problems with bundles of segments

/* Bundles (dataset/bundles.h), which give the same gradient; whether segments are among them. */
static void check_bundles(struct tr_likelihood *likelihood,
                          const struct tr_crf_objective *objective, const double *w,
                          const double *gradient, double value, double *again)
{
    trellis_error error = {0};
    assert_ok(tr_likelihood_bundle(likelihood, true, NULL, NULL, &error), error);
    assert_true(fabs(value_at(objective, w, again) - value) <= 1e-5 * (1 + fabs(value)));
    for (size_t j = 0; j < likelihood->size; j++) {
        assert_true(fabs(again[j] - gradient[j]) <= 1e-4 * (1 + fabs(gradient[j])));
    }
    bundled += tr_bundles_have_segments(likelihood->bundles, &likelihood->training->data.train);
}

/* (f(w + h d) - f(w - h d)) / 2 h = g d, in random directions d. */
static void check_gradient(struct problem *p, const char *name)
{
    struct tr_likelihood *likelihood;
    struct tr_random random;
    trellis_error error = {0};
    assert_ok(tr_likelihood_create(&p->training, &likelihood, &error), error);
    struct tr_crf_objective objective = {likelihood, 0.01};
    size_t size = likelihood->size;
    double *w = tr_alloc(size, sizeof *w), *d = tr_alloc(size, sizeof *d);
    double *at = tr_alloc(size, sizeof *at), *gradient = tr_alloc(size, sizeof *gradient);
    double *ignored = tr_alloc(size, sizeof *ignored);
    assert_true(w && d && at && gradient && ignored);
    tr_random_seed(&random, 5);
    for (size_t j = 0; j < size; j++) {
        w[j] = 2 * tr_random_real(&random) - 1;
    }
    double before = value_at(&objective, w, gradient);
    check_bundles(likelihood, &objective, w, gradient, before, ignored);
    for (int round = 0; round < 6; round++) {
        double slope = 0, h = 0.02, value[2];
        for (size_t j = 0; j < size; j++) {
            d[j] = tr_random_below(&random, 3) ? 0 : 2 * tr_random_real(&random) - 1;
            slope += gradient[j] * d[j];
        }
        for (int sign = 0; sign < 2; sign++) {
            for (size_t j = 0; j < size; j++) {
                at[j] = w[j] + (sign ? h : -h) * d[j];
            }
            value[sign] = value_at(&objective, at, ignored);
        }
        double measured = (value[1] - value[0]) / (2 * h);
        if (!(fabs(measured - slope) <= 2e-3 * (1 + fabs(slope)))) {
            fail_msg("%s: the slope is %.9g, not %.9g", name, measured, slope);
        }
    }
    free(w);
    free(d);
    free(at);
    free(gradient);
    free(ignored);
    tr_likelihood_destroy(likelihood);
}

static void test_gradient(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        const char *tpl = put_text("templates", templates);
        struct tr_buffer corpus = {0};
        struct problem p;
        bool closed = variant & 1, partial = variant & 2;
        const char *length = variant & 4 ? "2" : "8"; // longer ones have no attributes
        char name[80];
        snprintf(name, sizeof name, "variant %d", variant);
        make_corpus(&corpus, 10 + (uint64_t)variant, 40, closed, partial);
        const char *file = put_file("corpus", corpus.data, corpus.size);
        begin_problem(&p, file,
                      OPTIONS("segments", "yes", "max-segment", length, "features", tpl, "type",
                              "crf", "partial", partial ? "yes" : "no"));
        size_t longest = p.training.data.train.max_segment;
        assert_true(variant & 4 ? longest == 2 : longest > 2 && longest <= 5);
        assert_true(p.training.data.train.segment.attribute.size > 0);
        check_gradient(&p, name);
        end_problem(&p);
        tr_buffer_free(&corpus);
    }
    assert_true(bundled > 0);
}

/* Tokens with a value that is not 1 beside segments without any. */
static void test_values(void **state)
{
    (void)state;
    struct tr_buffer corpus = {0}, numbered = {0}, text = {0};
    struct problem p;
    make_corpus(&corpus, 21, 40, false, false);
    for (size_t i = 0; i < corpus.size; i++) {
        if (corpus.data[i] == ' ') {
            tr_buffer_format(&numbered, " %zu.5", i % 3);
        }
        tr_buffer_char(&numbered, corpus.data[i]);
    }
    tr_buffer_format(&text, "columns word number\nnode real(number)\n%s",
                     strchr(templates, '\n') + 1);
    tr_buffer_char(&text, '\0');
    const char *tpl = put_text("templates", text.data);
    const char *file = put_file("corpus", numbered.data, numbered.size);
    begin_problem(&p, file,
                  OPTIONS("segments", "yes", "max-segment", "8", "features", tpl, "type", "crf"));
    assert_true(p.training.data.train.node.value.size > 0);
    assert_true(p.training.data.train.segment.attribute.size > 0);
    assert_int_equal(p.training.data.train.segment.value.size, 0);
    check_gradient(&p, "values");
    end_problem(&p);
    tr_buffer_free(&corpus);
    tr_buffer_free(&numbered);
    tr_buffer_free(&text);
}

/* ---- the curvature --------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* An attribute that is seen n times, m of them with the label: n p (1 - p) + 2 with p =
 * (m + 1/2) / (n + 1); its root is expected. Values count by their squares. */
struct seen {
    double n, m;
};

/* The features of attributes come first and in any order, then the transitions, all alike. */
static void check_curvature(const char *text, const char *segments, const char *corpus,
                            const struct seen *seen, size_t count, double tokens)
{
    struct problem p;
    struct tr_likelihood *likelihood;
    trellis_error error = {0};
    const char *tpl = put_text("templates", text);
    begin_problem(&p, put_text("corpus", corpus),
                  OPTIONS("features", tpl, "segments", segments, "type", "crf"));
    assert_ok(tr_likelihood_create(&p.training, &likelihood, &error), error);
    double *curvature = tr_alloc(likelihood->size, sizeof *curvature), expected[20];
    assert_true(curvature && count <= TR_COUNT(expected));
    assert_ok(tr_likelihood_curvature(likelihood, curvature, &error), error);
    for (size_t i = 0; i < count; i++) {
        double share = (seen[i].m + 0.5) / (seen[i].n + 1);
        expected[i] = sqrt(seen[i].n * share * (1 - share) + 2);
    }
    qsort(expected, count, sizeof *expected, by_size);
    qsort(curvature, count, sizeof *curvature, by_size);
    for (size_t i = 0; i < count; i++) {
        assert_near(curvature[i], expected[i], 1e-9);
    }
    size_t steps = likelihood->size - count;
    assert_int_equal(steps, p.training.layout.step_size);
    for (size_t j = count; j < likelihood->size; j++) {
        assert_near(curvature[j], sqrt(2 * tokens / ((double)steps + 1) + 2), 1e-9);
    }
    free(curvature);
    tr_likelihood_destroy(likelihood);
    end_problem(&p);
}

static void test_curvature(void **state)
{
    (void)state;
    /* x: 3 A, 1 B, 1 C; y: 2 C; the number, squared: 11 for A, 4 for B, 1.25 for C; as edges, x: A-B
     * and C-A, y: B-C and A-C. */
    static const struct seen words[] = {{5, 3},      {5, 1},     {5, 1},        {2, 2},
                                        {16.25, 11}, {16.25, 4}, {16.25, 1.25}, {2, 1},
                                        {2, 1},      {2, 1},     {2, 1}};
    check_curvature("columns word number\nnode word\nnode real(number)\nedge word\nstep\n", "no",
                    "x 1 A\nx 2 B\ny 0.5 C\n\nx -1 A\ny 0 C\nx 3 A\n\nx 1 C\n\n", words,
                    TR_COUNT(words), 7);
    /* Words: a: 2 B-X, 2 O; b: 1 I-X, 2 O, 2 B-X. Segments up to two words: "a" 4 times, 1 of them a
     * name; "b" 5 times, 2; "a b" 4 times, 1. */
    static const struct seen names[] = {{4, 2}, {4, 2}, {5, 1}, {5, 2},
                                        {5, 2}, {4, 1}, {5, 2}, {4, 1}};
    check_curvature("columns word\nnode word\nsegment text(word)\nstep\n", "yes",
                    "a B-X\nb I-X\n\na B-X\nb O\n\na O\nb O\n\na O\nb B-X\n\nb B-X\n\n", names,
                    TR_COUNT(names), 9);
}

/* ---- without segment templates --------------------------------------------------------------- */

static trellis_model *train(const char *file, const char *const *pairs)
{
    trellis_options *options;
    trellis_model *model;
    trellis_error error = {0};
    assert_ok(trellis_options_create(&options, &error), error);
    set_options(options, pairs);
    assert_ok(trellis_train_files(options, &file, 1, NULL, NULL, &model, &error), error);
    trellis_options_destroy(options);
    return model;
}

static double objective_of(const char *file, const char *const *pairs)
{
    trellis_model *model = train(file, pairs);
    double objective = strtod(trellis_model_note(model, "objective"), NULL);
    trellis_model_close(model);
    return objective;
}

/* A segmentation of labels that are all alone is a labelling; and without scores of segments the
 * model is the CRF over the same labellings. */
static void test_equals_crf(void **state)
{
    (void)state;
    static const char tokens[] = "columns word\nnode word[-1..1]\nstep start end\n";
    static const char whole[] = "columns word\nnode word[-1..1]\nsegment text(word)\n"
                                "step start end\n";
    const char *tpl = put_text("tokens", tokens), *segment_tpl = put_text("whole", whole);
    struct tr_buffer corpus = {0}, plain = {0};
    make_corpus(&corpus, 3, 60, false, false);
    const char *file = put_file("corpus", corpus.data, corpus.size);
    for (size_t i = 0; i < corpus.size; i++) { // labels without a letter: B-X becomes BX
        if (corpus.data[i] != '-') {
            tr_buffer_char(&plain, corpus.data[i]);
        }
    }
    const char *plain_file = put_file("plain", plain.data, plain.size);
    double crf = objective_of(plain_file, OPTIONS("type", "crf", "features", tpl));
    double semi = objective_of(plain_file, OPTIONS("type", "crf", "features", segment_tpl,
                                                   "segments", "yes", "max-segment", "1"));
    assert_true(fabs(crf - semi) <= 1e-6 * crf);
    crf = objective_of(file, OPTIONS("type", "crf", "features", tpl, "constrain", "iob"));
    semi = objective_of(file, OPTIONS("type", "crf", "features", tpl, "segments", "yes"));
    assert_true(fabs(crf - semi) <= 1e-6 * crf);
    tr_buffer_free(&corpus);
    tr_buffer_free(&plain);
}

/* ---- all learners ---------------------------------------------------------------------------- */

/* A name is any number of k between two brackets, if that number is even: no window of tokens knows
 * that, a list of whole texts does. And all names of ten k are names. */
static void make_even(struct tr_buffer *corpus, bool labelled)
{
    for (size_t k = 1; k <= 10; k++) {
        for (int round = 0; round < 3; round++) {
            bool name = k % 2 == 0;
            tr_buffer_format(corpus, "[ %s\n", labelled ? "O" : "_");
            for (size_t i = 0; i < k; i++) {
                tr_buffer_format(corpus, "k %s\n",
                                 !labelled ? "_"
                                 : !name   ? "O"
                                 : i       ? "I-N"
                                           : "B-N");
            }
            tr_buffer_format(corpus, "] %s\n\n", labelled ? "O" : "_");
        }
    }
}

/* The share of sequences labelled as they should be. */
static double share_right(const trellis_model *model, const char *file)
{
    trellis_error error = {0};
    trellis_reader *reader;
    trellis_tagger *tagger;
    const trellis_sequence *sequence;
    size_t right = 0, all = 0;
    assert_ok(trellis_reader_open(file, NULL, &reader, &error), error);
    assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
    while (!trellis_reader_next(reader, &sequence, &error)) {
        const trellis_text *labels;
        bool same = true;
        assert_ok(trellis_tagger_tag(tagger, sequence, &labels, &error), error);
        for (size_t i = 0; i < sequence->length; i++) {
            same = same && tr_text_equal(labels[i], sequence->labels[i]);
        }
        right += same;
        all++;
    }
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    return (double)right / (double)all;
}

static const char even_templates[] = "columns word\nnode word[-1..1]\nsegment text(word)\n"
                                     "segment size & before(word) & after(word)\nstep start end\n";

static const char *const learners[][2] = {
    {"crf", "lbfgs"},      {"crf", "sgd"},       {"crf", "cg"},          {"crf", "gd"},
    {"perceptron", "pa1"}, {"perceptron", "pa"}, {"perceptron", "arow"}, {"perceptron", "plain"},
    {"mira", "hildreth"},  {"ssvm", "bcfw"},     {"ssvm", "subgradient"}};

static void test_learners(void **state)
{
    (void)state;
    const char *tpl = put_text("even.tpl", even_templates);
    struct tr_buffer corpus = {0};
    make_even(&corpus, true);
    const char *file = put_file("even", corpus.data, corpus.size);
    for (size_t k = 0; k < TR_COUNT(learners); k++) {
        const char *penalty = strcmp(learners[k][0], "ssvm") == 0 ||
                                      strcmp(learners[k][0], "crf") == 0
                                  ? "0.01"
                                  : "0";
        trellis_model *model = train(
            file, OPTIONS("type", learners[k][0], "algorithm", learners[k][1], "features", tpl,
                          "segments", "yes", "max-segment", "10", "l2", penalty, "epochs", "150"));
        double accuracy = share_right(model, file);
        if (accuracy < 1) {
            fail_msg("-t %s -a %s: %.3f of the sequences", learners[k][0], learners[k][1],
                     accuracy);
        }
        trellis_model_close(model);
    }
    trellis_model *model = train(file, OPTIONS("type", "crf", "features", tpl, "segments", "yes",
                                               "max-segment", "10", "l1", "0.01"));
    assert_true(share_right(model, file) == 1);
    trellis_model_close(model);
    model = train(file,
                  OPTIONS("type", "crf", "features",
                          put_text("node.tpl", "columns word\nnode word[-1..1]\nstep start end\n"),
                          "l2", "0.01"));
    assert_true(share_right(model, file) < 0.8); // tokens alone do not tell
    trellis_model_close(model);
    tr_buffer_free(&corpus);
}

/* Gold segments beyond the maximum length are neither cut nor lost. */
static void test_longer_segments(void **state)
{
    (void)state;
    const char *tpl = put_text("even.tpl", even_templates);
    struct tr_buffer corpus = {0};
    for (size_t k = 1; k < 9; k++) {
        tr_buffer_string(&corpus, "a O\n");
        for (size_t i = 0; i < k; i++) {
            tr_buffer_format(&corpus, "k %c-N\n", i ? 'I' : 'B');
        }
        tr_buffer_string(&corpus, "z O\n\n");
    }
    const char *file = put_file("long", corpus.data, corpus.size);
    static const char *const lengths[] = {"1", "2", "3", "20"};
    for (size_t k = 0; k < TR_COUNT(lengths); k++) {
        trellis_model *model = train(file, OPTIONS("type", "crf", "features", tpl, "segments",
                                                   "yes", "max-segment", lengths[k], "l2", "0.01"));
        assert_true(share_right(model, file) == 1);
        trellis_model_close(model);
    }
    tr_buffer_free(&corpus);
}

/* ---- the same model ---------------------------------------------------------------------------- */

static void save_bytes(const trellis_model *model, const char *name, char **ret_bytes,
                       size_t *ret_size)
{
    trellis_error error = {0};
    assert_ok(trellis_model_save(model, path_of(name), &error), error);
    *ret_bytes = get_file(path_of(name), ret_size);
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const algorithms[][2] = {
        {"crf", "lbfgs"}, {"crf", "sgd"}, {"perceptron", "averaged"}};
    struct tr_buffer corpus = {0};
    make_corpus(&corpus, 8, 200, false, false);
    for (size_t k = 0; k < TR_COUNT(algorithms); k++) {
        const char *tpl = put_text("templates", templates);
        const char *file = put_file("corpus", corpus.data, corpus.size);
        char *bytes[2];
        size_t size[2];
        for (int many = 0; many < 2; many++) {
            trellis_model *model = train(
                file, OPTIONS("type", algorithms[k][0], "algorithm", algorithms[k][1], "features",
                              tpl, "segments", "yes", "epochs", "4", "threads", many ? "3" : "1",
                              // a batch of several is what threads share
                              k == 1 ? "batch" : "seed", "8"));
            save_bytes(model, "model", &bytes[many], &size[many]);
            trellis_model_close(model);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    tr_buffer_free(&corpus);
}

/* ---- what is refused ----------------------------------------------------------------------------- */

static void check_refused(const char *file, const char *sentence, const char *const *pairs)
{
    trellis_options *options;
    trellis_model *model = NULL;
    trellis_error error = {0};
    assert_ok(trellis_options_create(&options, &error), error);
    set_options(options, pairs);
    assert_int_not_equal(trellis_train_files(options, &file, 1, NULL, NULL, &model, &error), 0);
    if (!strstr(error.message, sentence)) {
        fail_msg("'%s' does not say '%s'", error.message, sentence);
    }
    trellis_options_destroy(options);
}

/* Templates find their columns by name before the data is read, too: where the columns stand in
 * another order, the model is the same. */
static void test_columns_by_name(void **state)
{
    (void)state;
    static const char named[] = "columns word tag\nnode word\nsegment text(word) & before(tag)\n"
                                "segment learned(word)\nstep\n";
    static const char *const names[] = {"word,tag,label", "tag,word,label"};
    static const char *const corpora[] = {
        "in I O\nNew J B-X\nYork N I-X\nit P O\n\nof I O\nOld J B-Y\nSur N I-Y\n",
        "I in O\nJ New B-X\nN York I-X\nP it O\n\nI of O\nJ Old B-Y\nN Sur I-Y\n"};
    char *text[2], options[1000];
    for (size_t i = 0; i < 2; i++) {
        snprintf(options, sizeof options, "type=crf segments=yes epochs=10 columns=%s features=%s",
                 names[i], put_text("named", named));
        trellis_model *model = train_on(corpora[i], options);
        text[i] = say(model, EXPORT);
        trellis_model_close(model);
    }
    /* behind the notes, which have the names of the columns */
    assert_string_equal(strstr(text[0], "\nlabel\t"), strstr(text[1], "\nlabel\t"));
    free(text[0]);
    free(text[1]);
}

static void test_refusals(void **state)
{
    (void)state;
    const char *tpl = put_text("templates", templates);
    struct tr_buffer corpus = {0};
    make_corpus(&corpus, 8, 20, false, false);
    const char *file = put_file("corpus", corpus.data, corpus.size);
    check_refused(file, "need --segments", OPTIONS("features", tpl));
    check_refused(file, "needs --segments", OPTIONS("features", tpl, "max-segment", "3"));
    check_refused(file, "does not apply to -t hmm", OPTIONS("type", "hmm", "segments", "yes"));
    check_refused(file, "does not apply to -t memm", OPTIONS("type", "memm", "segments", "yes"));
    check_refused(file, "--order 1", OPTIONS("segments", "yes", "order", "2"));
    check_refused(file, "--order 1", OPTIONS("segments", "yes", "counted", "3"));
    check_refused(file, "exact search",
                  OPTIONS("type", "perceptron", "segments", "yes", "beam", "4"));
    check_refused(file, "implies --constrain iob",
                  OPTIONS("segments", "yes", "constrain", "forbidden.txt"));
    check_refused(file, "iob1", OPTIONS("segments", "yes", "train-scheme", "iob1"));
    const char *bad = put_text("bad", "a O\nb I-X\n\nc B-X\n");
    check_refused(bad, "--segments forbids", OPTIONS("segments", "yes", "partial", "yes"));
    trellis_model *model = train(bad, OPTIONS("segments", "yes", "type", "crf")); // read as B-X
    trellis_model_close(model);
    tr_buffer_free(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curvature),       cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_equals_crf),      cmocka_unit_test(test_learners),
        cmocka_unit_test(test_longer_segments), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_columns_by_name), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

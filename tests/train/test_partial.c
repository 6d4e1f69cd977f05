/* test_partial.c - learning from labels of which some are not known, or known to be one of several.
 *
 * The judge sums over all label sequences Z of every short sentence, and over those in C, which
 * agree with what is known:
 *
 *     f(w)  = sum_s weight_s (log sum_Z exp(w . Phi) - log sum_{Z in C} exp(w . Phi)) + l2 |w|^2
 *     df/dw = sum_s weight_s (E[Phi] - E[Phi | C]) + 2 l2 w
 *
 * With a tag dictionary both sums are over the labels that the words may have.
 */
#include "model/model.h"
#include "train/judge.h"

static void test_gradient(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(kinds) * TR_COUNT(templates); k++) {
        for (int dictionary = 0; dictionary < 2; dictionary++) {
            struct recipe recipe = {.kind = &kinds[k % TR_COUNT(kinds)],
                                    .templates = templates[k / TR_COUNT(kinds)],
                                    .sequences = 25,
                                    .words = dictionary ? 40 : 4,
                                    .weights = true,
                                    .partial = true,
                                    .dictionary = dictionary,
                                    .seed = (unsigned)(7 + k)};
            struct problem *p = make_problem(&recipe);
            assert_int_equal(p->training.data.train.label_count, LABELS);
            assert_true(p->training.data.train.open.size > 0);
            assert_true(!dictionary || p->training.data.tag_dictionary.words > 0);
            write_out(p);
            compare(p, recipe.kind->name, 0, 0.25);
            compare(p, recipe.kind->name, 1, 0.25);
            compare(p, recipe.kind->name, 20, 0.25);
            compare_threads(p);
            problem_free(p);
        }
    }
}

/* ---- features -------------------------------------------------------------------------------- */

static const char choices[] = "a A\nb B\nc C\n\na A|B\nb C\na B|C|B\nd A\n\nc A|C\nc A|B\n";
static const char written_out[] = "a A\nb B\nc C\n\n"
                                  "a A\nb C\na B\nd A\n\na B\nb C\na B\nd A\n\n"
                                  "a A\nb C\na C\nd A\n\na B\nb C\na C\nd A\n\n"
                                  "c A\nc A\n\nc A\nc B\n\nc C\nc A\n\nc C\nc B\n";

/* "attribute outcome" of all features, sorted. */
static void list_pairs(const struct tr_attributes *attributes, struct tr_buffer *out)
{
    const struct tr_rows *rows = attributes->rows;
    char lines[400][60];
    size_t n = 0;
    for (uint32_t a = 0; a < rows->attributes; a++) {
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            assert_true(n < 400);
            snprintf(lines[n++], 60, "%.*s %u\n",
                     TR_SHOW(tr_attribute_index_text(&attributes->index, a)), rows->outcome[i]);
        }
    }
    qsort(lines, n, sizeof *lines, (int (*)(const void *, const void *))strcmp);
    for (size_t i = 0; i < n; i++) {
        tr_buffer_string(out, lines[i]);
    }
    tr_buffer_char(out, 0);
}

/* A choice of labels gives the features and the label grams of all its ways. */
static void test_choices(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(kinds); k++) {
        struct recipe recipe = {
            .kind = &kinds[k],
            .templates = "columns word\nnode word\nnode word[-1]\nedge word\nstep start end\n",
            .path = put_text("choices", choices),
            .partial = true,
            .seen_steps = true};
        struct problem *one = make_problem(&recipe);
        recipe.path = put_text("written", written_out);
        struct problem *all = make_problem(&recipe);
        struct tr_training *a = &one->training, *b = &all->training;
        assert_int_equal(a->layout.plan.gram_count, b->layout.plan.gram_count);
        assert_memory_equal(one->grams, all->grams, a->layout.plan.gram_count * sizeof *one->grams);
        for (int edge = 0; edge < 2; edge++) {
            struct tr_buffer x = {0}, y = {0};
            list_pairs(edge ? &a->data.vocabulary.edge : &a->data.vocabulary.node, &x);
            list_pairs(edge ? &b->data.vocabulary.edge : &b->data.vocabulary.node, &y);
            assert_string_equal(x.data, y.data);
            tr_buffer_free(&x);
            tr_buffer_free(&y);
        }
        problem_free(one);
        problem_free(all);
    }
}

/* A label that is not known gives none; one that is listed twice is known. */
static void test_unknown(void **state)
{
    (void)state;
    struct recipe recipe = {.kind = &kinds[1],
                            .templates = "columns word\nnode word\nstep\n",
                            .path = put_text("unknown", "w0 A\nw1 _\n\nw2 B|B\nw1 _\nw3 B\n"),
                            .partial = true};
    struct problem *p = make_problem(&recipe);
    const struct tr_dataset *data = &p->training.data.train;
    assert_int_equal(data->label_count, 2);
    assert_int_equal(data->gold.at[1], TR_UNKNOWN);
    assert_int_equal(data->gold.at[2], 1);
    assert_int_equal(data->open.size, 0);
    assert_true(tr_dataset_is_partial(data, 0) && tr_dataset_is_partial(data, 1));
    assert_int_equal(p->training.data.vocabulary.node.rows->attributes, 3); // w1 has no feature
    assert_int_equal(data->node.attribute.size, 3);
    problem_free(p);
}

/* ---- whole trainings ------------------------------------------------------------------------- */

/* Where all is known, --partial changes nothing at all. */
static void test_same_bytes(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=perceptron epochs=3", "type=crf epochs=10",
                                       "type=crf algorithm=sgd epochs=2", "type=maxent epochs=5",
                                       "type=crf order=2 epochs=3 dictionary=learn"};
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        char options[200], partial[220];
        snprintf(options, sizeof options, "%s features=id label=3", ways[i]);
        snprintf(partial, sizeof partial, "%s partial=yes", options);
        trellis_model *a = train_file("data/english/dev.conll", options);
        trellis_model *b = train_file("data/english/dev.conll", partial);
        assert_int_equal(a->image.size, b->image.size);
        assert_memory_equal(a->image.data, b->image.data, a->image.size);
        trellis_model_close(a);
        trellis_model_close(b);
    }
}

/* data/english/train.conll, words and parts of speech; of the labels 3 in 10 are hidden. */
static const char *hide_labels(void)
{
    size_t size;
    char *text = get_file("data/english/train.conll", &size), *rest = text, *line;
    struct tr_buffer out = {0};
    struct tr_random random;
    tr_random_seed(&random, 11);
    while ((line = strsep(&rest, "\n"))) {
        char *word = strsep(&line, "\t "), *label = line ? strsep(&line, "\t ") : NULL;
        if (label) {
            tr_buffer_format(&out, "%s\t%s\n", word,
                             tr_random_below(&random, 10) < 3 ? "_" : label);
        } else {
            tr_buffer_char(&out, '\n');
        }
    }
    free(text);
    const char *path = put_file("hidden.txt", out.data, out.size);
    tr_buffer_free(&out);
    return path;
}

static void test_hidden_labels(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=perceptron epochs=5", "type=crf epochs=40",
                                       "type=crf algorithm=sgd epochs=6",
                                       "type=perceptron algorithm=pa1 epochs=5"};
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        char options[200];
        snprintf(options, sizeof options, "%s features=pos label=2", ways[i]);
        trellis_model *all = train_file("data/english/train.conll", options);
        strcat(options, " partial=yes");
        trellis_model *some = train_file(hide_labels(), options);
        double with_all = accuracy_of(all, "data/english/test.conll");
        double with_some = accuracy_of(some, "data/english/test.conll");
        print_message("%s: %.2f%% with all labels, %.2f%% with 70%% of them\n", ways[i],
                      100 * with_all, 100 * with_some);
        assert_true(with_some > with_all - 0.025);
        assert_non_null(trellis_model_note(some, "open-labels"));
        trellis_model_close(all);
        trellis_model_close(some);
    }
}

static double weight_in(const char *text, const char *item)
{
    const char *at = strstr(text, item);
    assert_non_null(at);
    while (at > text && at[-1] != '\n') {
        at--;
    }
    return atof(strchr(at, '\t') + 1);
}

/* Stochastic steps end where L-BFGS does. */
static void test_sgd(void **state)
{
    (void)state;
    static const char data[] = "a A\nb B\nc C\n\na _\nb B|C\nc C\nd _\n\nd A|C\na A\nb _\n\n"
                               "c _\nd C\na A|B\n\nb B\nb C\nd A\n\n_ B\nd _\n";
    static const char seen[] = "columns word\nnode word\nedge word\nstep start end\n";
    char options[700], by_lbfgs[800];
    snprintf(options, sizeof options, "type=crf partial=yes l2=0.5 features=%s",
             put_text("t.tpl", seen));
    snprintf(by_lbfgs, sizeof by_lbfgs, "%s epsilon=1e-8 delta=0", options);
    trellis_model *exact = train_on(data, by_lbfgs);
    strcat(options, " algorithm=sgd epochs=4000 rate=0.2");
    trellis_model *stochastic = train_on(data, options);
    char *a = say(exact, EXPORT), *b = say(stochastic, EXPORT), *copy = strdup(a), *rest = copy;
    size_t compared = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "node\t", 5) == 0 || strncmp(line, "edge\t", 5) == 0 ||
            strncmp(line, "step\t", 5) == 0) {
            const char *item = strchr(line + 5, '\t');
            double x = weight_in(a, item), y = weight_in(b, item);
            if (!(fabs(x - y) < 0.02)) {
                fail_msg("%s: %g by L-BFGS, %g by steps", item, x, y);
            }
            compared++;
        }
    }
    assert_true(compared > 20);
    free(a);
    free(b);
    free(copy);
    trellis_model_close(exact);
    trellis_model_close(stochastic);
}

/* The dev data may have open labels, too; and a dictionary knows only what is listed. */
static void test_together(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options,
             "type=crf features=id partial=yes dictionary=learn dictionary-count=2 dev=%s",
             put_text("dev.txt", "a A\nb _\nc A|B\nd Q|R\n"));
    trellis_model *model = train_on("a A\nb B|C\nb _\n\na _\na A\nb B\n\nc _\nc _\nc A\n", options);
    assert_int_equal(model->tag_dictionary.words, 2); // a: A, b: B or C; c has but one label
    assert_non_null(trellis_model_note(model, "dev-accuracy"));
    assert_string_equal(trellis_model_note(model, "dev-accuracy"), "0.750000");
    assert_string_equal(trellis_model_note(model, "open-labels"), "5");
    trellis_model_close(model);
    /* Without --partial the same cells are labels like any other. */
    model = train_on("a A\nb B|C\nb _\n", "features=id epochs=1");
    assert_int_equal(model->label_count, 3);
    trellis_model_close(model);
}

static void test_bad_options(void **state)
{
    (void)state;
    char constrained[700], listed[700];
    snprintf(constrained, sizeof constrained, "features=id constrain=%s",
             put_text("steps", "A B\nA A\nA <end>\n"));
    snprintf(listed, sizeof listed, "features=id dictionary=%s", put_text("words", "a\tB\n"));
    const struct {
        const char *corpus, *options, *sentence;
    } cases[] = {
        {"a _\nb _\n", "features=id", "no label is known"},
        {"a B-X\nb _\n", "features=id scheme=iob2 train-scheme=iobes",
         "--partial cannot be combined with"},
        {"a A\nb _\n\na B\n", constrained,
         "sequence 1 of the training data: no labelling satisfies"},
        {"a A|B\nb A\n\na A|C\n", listed,
         "sequence 2 of the training data, token 1, 'a': the tag dictionary does not list"},
        {"a A\nb _\n", "features=id type=ssvm", "does not learn from unknown labels"},
        {"a A\nb _\n", "features=id type=memm", "does not learn from unknown labels"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char text[800];
        snprintf(text, sizeof text, "partial=yes %s", cases[i].options);
        trellis_options *options = make_options(text);
        const char *path = put_text("corpus.txt", cases[i].corpus);
        trellis_error error = {0};
        trellis_model *model;
        assert_int_not_equal(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error),
                             TRELLIS_OK);
        if (!strstr(error.message, cases[i].sentence)) {
            fail_msg("'%s', not '%s'", error.message, cases[i].sentence);
        }
        trellis_options_destroy(options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),      cmocka_unit_test(test_choices),
        cmocka_unit_test(test_unknown),       cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_hidden_labels), cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_together),      cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

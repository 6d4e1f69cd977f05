/* test_partial.c - learning from labels of which some are not known, or known to be one of several.
 *
 * The judge goes through all label sequences Z of every short sentence, writes out Phi(X, Z), and sums in
 * double precision over all of them and over those in C, which agree with what is known:
 *
 *     f(w)  = sum_s weight_s (log sum_Z exp(w . Phi) - log sum_{Z in C} exp(w . Phi)) + l2 |w|^2
 *     df/dw = sum_s weight_s (E[Phi] - E[Phi | C]) + 2 l2 w
 *
 * With a tag dictionary both sums are over the labels that the words may have.
 */
#include "model/test_model.h"

#include <math.h>

#include "model/model.h"
#include "train/objective.h"

enum { LABELS = 3, LONGEST = 5, SEQUENCES = 25 };

struct kind {
    const char *name;
    uint32_t order, count_cap;
    bool observed_states;
    const char *templates;
};

static const struct kind kinds[] = {
    {"order 0", 0, 0, false, "node word\nnode bias\nstep\n"},
    {"order 1", 1, 0, false, "node word\nnode real(x)\nstep start end\n"},
    {"edges", 1, 0, false, "node word[-1]\nnode word\nedge word\nedge real(x)\nstep start end\n"},
    {"order 2", 2, 0, false, "node word\nnode bias\nedge bias\nstep start end\n"},
    {"observed 2", 2, 0, true, "node word\nstep start end\n"},
    {"counted", 1, 3, false, "node word\nnode bias\nstep start end\n"},
};

struct problem {
    struct tr_training training;
    trellis_options *options;
    size_t node, edge, size; // features
};

static void check(trellis_status status, const trellis_error *error)
{
    if (status) {
        fail_msg("%s", error->message);
    }
}

/* ---- a corpus ------------------------------------------------------------------------------------ */

/* The first sentence has all labels in order, so that they are numbered so; of the others each label may
 * be unknown or one of two. */
static const char *write_corpus(struct tr_random *random, uint64_t words_in_all)
{
    struct tr_buffer text = {0};
    for (size_t s = 0; s < SEQUENCES; s++) {
        size_t n = s == 0 ? LONGEST : 1 + tr_random_below(random, LONGEST);
        struct tr_buffer words = {0}, x = {0}, labels = {0};
        for (size_t i = 0; i < n; i++) {
            int label = (int)(s == 0 ? i * LABELS / n : tr_random_below(random, LABELS));
            size_t how = s < 3 ? 0 : tr_random_below(random, 4);
            const char *comma = i ? "," : "";
            tr_buffer_format(&words, "%s\"w%u\"", comma,
                             (unsigned)tr_random_below(random, words_in_all));
            tr_buffer_format(&x, "%s\"%.2f\"", comma,
                             0.25 * ((double)tr_random_below(random, 17) - 8));
            if (how == 1) {
                tr_buffer_format(&labels, "%s\"_\"", comma);
            } else if (how == 2) {
                tr_buffer_format(&labels, "%s\"%c|%c\"", comma, 'A' + label,
                                 'A' + (label + 1) % LABELS);
            } else {
                tr_buffer_format(&labels, "%s\"%c\"", comma, 'A' + label);
            }
        }
        tr_buffer_format(&text,
                         "{\"weight\":%g,\"tokens\":[%.*s],\"x\":[%.*s],\"labels\":[%.*s]}\n",
                         0.5 * (double)(s % 4), (int)words.size, words.data, (int)x.size, x.data,
                         (int)labels.size, labels.data);
        tr_buffer_free(&words);
        tr_buffer_free(&x);
        tr_buffer_free(&labels);
    }
    const char *path = put_file("partial.jsonl", text.data, text.size);
    tr_buffer_free(&text);
    return path;
}

/* ---- a training ---------------------------------------------------------------------------------- */

static void read_data(struct problem *p, const char *templates, const char *path, bool dictionary)
{
    struct tr_training *t = &p->training;
    struct tr_intern words = {0};
    trellis_error error = {0};
    check(trellis_options_create(&p->options, &error), &error);
    t->options = p->options;
    check(tr_features_parse(tr_text(templates), "test", &t->features, &error), &error);
    struct tr_dataset_source source = {.options = p->options,
                                       .features = t->features,
                                       .from = TRELLIS_NO_SCHEME,
                                       .to = TRELLIS_NO_SCHEME,
                                       .words = dictionary ? &words : NULL,
                                       .partial = true};
    check(tr_dataset_read(&t->data, &t->vocabulary, NULL, &source, path, &error), &error);
    if (dictionary) {
        struct tr_lexicon_draft draft = {0};
        check(tr_lexicon_learn(&draft, &t->data, &words, 1, &error), &error);
        check(tr_lexicon_write(&draft, &t->lexicon_block, &error), &error);
        assert_true(tr_lexicon_read(t->lexicon_block.data, t->lexicon_block.size,
                                    t->data.label_count, &t->lexicon));
        check(tr_lexicon_apply(&t->lexicon, &t->data, &words, &error), &error);
        tr_lexicon_draft_free(&draft);
        tr_intern_free(&words);
    }
    struct tr_arrangement arrangement = {.min_count = 1};
    check(tr_dataset_arrange(&t->data, &t->vocabulary, &arrangement, &error), &error);
}

static struct problem *make_problem(const struct kind *kind, const char *path, bool dictionary)
{
    struct problem *p = tr_alloc(1, sizeof *p);
    assert_non_null(p);
    struct tr_training *t = &p->training;
    trellis_error error = {0};
    read_data(p, kind->templates, path, dictionary);
    t->plan = (struct tr_graph_plan){.labels = t->data.label_count,
                                     .order = kind->order,
                                     .count_cap = kind->count_cap,
                                     .observed_states = kind->observed_states};
    check(tr_dataset_grams(&t->data, &t->plan, tr_features_steps(t->features), false, &t->grams,
                           &t->plan.gram_count, &error),
          &error);
    t->plan.grams = t->grams;
    check(tr_graph_create(&t->plan, &t->graph, &error), &error);
    t->kernels = tr_row_kernels();
    t->node_size = (t->vocabulary.node.rows->size + 15) / 16 * 16;
    t->edge_size = (t->vocabulary.edge.rows->size + 15) / 16 * 16;
    t->step_size = t->plan.gram_count;
    t->size = t->node_size + t->edge_size + t->step_size;
    p->node = tr_rows_pairs(t->vocabulary.node.rows);
    p->edge = tr_rows_pairs(t->vocabulary.edge.rows);
    p->size = p->node + p->edge + t->step_size;
    return p;
}

static void problem_free(struct problem *p)
{
    struct tr_training *t = &p->training;
    tr_pool_destroy(t->pool);
    tr_graph_destroy(t->graph);
    free(t->grams);
    tr_dataset_free(&t->data);
    tr_vocabulary_free(&t->vocabulary);
    tr_buffer_free(&t->lexicon_block);
    trellis_features_destroy(t->features);
    trellis_options_destroy(p->options);
    free(p);
}

/* ---- the judge ----------------------------------------------------------------------------------- */

/* What a feature adds: to the score, or, where there is a gradient, amount * value to that. */
struct tally {
    const double *w;
    double *gradient, amount, score;
};

static void count(struct tally *tally, size_t feature, double value)
{
    tally->score += tally->w[feature] * value;
    if (tally->gradient) {
        tally->gradient[feature] += tally->amount * value;
    }
}

static void count_attributes(struct tally *tally, const struct tr_rows *rows, size_t base,
                             const struct tr_occurrences *occurrences, size_t token,
                             uint32_t outcome)
{
    for (uint32_t k = occurrences->begin.at[token]; k < occurrences->begin.at[token + 1]; k++) {
        uint32_t a = occurrences->attribute.at[k];
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            if (rows->outcome[i] == outcome) {
                count(tally, base + i,
                      occurrences->value.size ? (double)occurrences->value.at[k] : 1);
            }
        }
    }
}

static double walk(const struct problem *p, size_t first, const uint16_t *labels, size_t n,
                   struct tally tally)
{
    const struct tr_training *t = &p->training;
    uint16_t written[LONGEST + 2] = {LABELS}; // the start, the labels, the end
    uint32_t width = tr_row_width(LABELS);
    memcpy(written + 1, labels, n * sizeof *labels);
    written[n + 1] = LABELS + 1;
    for (size_t i = 0; i < n; i++) {
        count_attributes(&tally, t->vocabulary.node.rows, 0, &t->data.node, first + i, labels[i]);
        if (i > 0) {
            count_attributes(&tally, t->vocabulary.edge.rows, p->node, &t->data.edge, first + i,
                             labels[i - 1] * width + labels[i]);
        }
    }
    for (size_t g = 0; g < t->plan.gram_count; g++) {
        size_t length = t->plan.grams[g].length;
        for (size_t i = 0; i + length <= n + 2; i++) {
            if (memcmp(written + i, t->plan.grams[g].label, length * sizeof *written) == 0) {
                count(&tally, p->node + p->edge + g, 1);
            }
        }
    }
    return tally.score;
}

/* Whether the labels are among those that the words may have, and agree with what is known. */
static bool agrees(const struct tr_training *t, size_t first, const uint16_t *labels, size_t n,
                   bool known)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t entry = t->data.entry.size ? t->data.entry.at[first + i] : TR_NONE;
        const uint16_t *open;
        size_t listed = tr_dataset_open(&t->data, first + i, &open);
        bool among = listed == 0;
        for (size_t k = 0; k < listed; k++) {
            among = among || open[k] == labels[i];
        }
        if ((entry != TR_NONE && !tr_lexicon_allows(&t->lexicon, entry, labels[i])) ||
            (known && !among)) {
            return false;
        }
    }
    return true;
}

static bool next_labels(uint16_t *labels, size_t n)
{
    for (size_t i = n; i-- > 0; labels[i] = 0) {
        if (++labels[i] < LABELS) {
            return true;
        }
    }
    return false;
}

/* log Z of a sequence, over all labels or those that agree; adds amount * E[Phi] to the gradient. */
static double judge_sequence(const struct problem *p, size_t s, bool known, double amount,
                             const double *w, double *gradient)
{
    const struct tr_dataset *data = &p->training.data;
    size_t first = data->sequence.at[s], n = data->sequence.at[s + 1] - first;
    double log_z = -INFINITY;
    for (int round = 0; round < 2; round++) {
        uint16_t labels[LONGEST] = {0};
        do {
            if (agrees(&p->training, first, labels, n, known)) {
                double score = walk(p, first, labels, n, (struct tally){.w = w});
                double most = fmax(log_z, score);
                if (round == 0) {
                    log_z = most + log(exp(log_z - most) + exp(score - most));
                } else {
                    walk(p, first, labels, n,
                         (struct tally){w, gradient, amount * exp(score - log_z), 0});
                }
            }
        } while (next_labels(labels, n));
    }
    return log_z;
}

static double judge(const struct problem *p, double l2, const double *w, double *gradient)
{
    const struct tr_dataset *data = &p->training.data;
    double value = 0;
    for (size_t j = 0; j < p->size; j++) {
        value += l2 * w[j] * w[j];
        gradient[j] = 2 * l2 * w[j];
    }
    for (size_t s = 0; s < data->sequences; s++) {
        double weight = data->weight.size ? (double)data->weight.at[s] : 1;
        value += weight * (judge_sequence(p, s, false, weight, w, gradient) -
                           judge_sequence(p, s, true, -weight, w, gradient));
    }
    return value;
}

/* f and its gradient as the library has them. */
static double evaluate(struct problem *p, unsigned threads, double l2, const double *w,
                       double *gradient)
{
    struct tr_likelihood *likelihood;
    trellis_error error = {0};
    double value;
    check(tr_pool_create(threads, &p->training.pool, &error), &error);
    check(tr_likelihood_create(&p->training, l2, &likelihood, &error), &error);
    assert_int_equal(tr_likelihood_size(likelihood), p->size);
    check(tr_likelihood_evaluate(likelihood, w, gradient, &value, &error), &error);
    tr_likelihood_destroy(likelihood);
    tr_pool_destroy(p->training.pool);
    p->training.pool = NULL;
    return value;
}

static void compare(struct problem *p, const char *name, double size, struct tr_random *random)
{
    double *w = tr_alloc(p->size, sizeof *w), *wanted = tr_alloc(p->size, sizeof *w);
    double *got = tr_alloc(p->size, sizeof *w), *other = tr_alloc(p->size, sizeof *w), most = 0;
    assert_true(w && wanted && got && other);
    for (size_t j = 0; j < p->size; j++) {
        w[j] = floor((2 * tr_random_real(random) - 1) * size * 16) / 16;
    }
    double value = judge(p, 0.25, w, wanted), found = evaluate(p, 1, 0.25, w, got);
    double again = evaluate(p, 3, 0.25, w, other);
    for (size_t j = 0; j < p->size; j++) {
        most = fmax(most, fabs(wanted[j]));
    }
    if (!(fabs(found - value) <= 1e-5 * fabs(value) + 1e-6)) {
        fail_msg("%s, weights to %g: f is %.9g and should be %.9g", name, size, found, value);
    }
    for (size_t j = 0; j < p->size; j++) {
        if (!(fabs(got[j] - wanted[j]) <= 1e-4 * most)) {
            fail_msg(
                "%s, weights to %g: df/dw[%zu] is %.9g and should be %.9g (%zu node, %zu edge)",
                name, size, j, got[j], wanted[j], p->node, p->edge);
        }
    }
    assert_true(found == again); // whatever the number of threads
    assert_memory_equal(got, other, p->size * sizeof *got);
    free(w);
    free(wanted);
    free(got);
    free(other);
}

static void test_gradient(void **state)
{
    (void)state;
    for (size_t k = 0; k < TR_COUNT(kinds); k++) {
        for (int dictionary = 0; dictionary < 2; dictionary++) {
            struct tr_random random;
            tr_random_seed(&random, 7 + k);
            struct problem *p = make_problem(&kinds[k], write_corpus(&random, dictionary ? 40 : 4),
                                             dictionary);
            assert_int_equal(p->training.data.label_count, LABELS);
            assert_true(p->training.data.open.size > 0);
            assert_true(!dictionary || p->training.lexicon.words > 0);
            compare(p, kinds[k].name, 0, &random);
            compare(p, kinds[k].name, 1, &random);
            compare(p, kinds[k].name, 20, &random);
            problem_free(p);
        }
    }
}

/* ---- features ------------------------------------------------------------------------------------ */

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
                     TR_SHOW(tr_dictionary_text(&attributes->dictionary, a)), rows->outcome[i]);
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
        struct kind kind = kinds[k];
        kind.templates = "columns word\nnode word\nnode word[-1]\nedge word\nstep start end\n";
        struct problem *one = make_problem(&kind, put_text("choices", choices), false);
        struct problem *all = make_problem(&kind, put_text("written", written_out), false);
        struct tr_training *a = &one->training, *b = &all->training;
        assert_int_equal(a->plan.gram_count, b->plan.gram_count);
        assert_memory_equal(a->grams, b->grams, a->plan.gram_count * sizeof *a->grams);
        for (int edge = 0; edge < 2; edge++) {
            struct tr_buffer x = {0}, y = {0};
            list_pairs(edge ? &a->vocabulary.edge : &a->vocabulary.node, &x);
            list_pairs(edge ? &b->vocabulary.edge : &b->vocabulary.node, &y);
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
    struct kind kind = kinds[1];
    kind.templates = "columns word\nnode word\nstep\n";
    const char *path = put_text("unknown", "w0 A\nw1 _\n\nw2 B|B\nw1 _\nw3 B\n");
    struct problem *p = make_problem(&kind, path, false);
    const struct tr_dataset *data = &p->training.data;
    assert_int_equal(data->label_count, 2);
    assert_int_equal(data->gold.at[1], TR_UNKNOWN);
    assert_int_equal(data->gold.at[2], 1);
    assert_int_equal(data->open.size, 0);
    assert_true(tr_dataset_is_partial(data, 0) && tr_dataset_is_partial(data, 1));
    assert_int_equal(p->training.vocabulary.node.rows->attributes, 3); // w1 has no feature
    assert_int_equal(data->node.attribute.size, 3);
    problem_free(p);
}

/* ---- whole trainings ----------------------------------------------------------------------------- */

static trellis_model *train_file(const char *path, const char *options_text)
{
    trellis_options *options = make_options(options_text);
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_train(options, &path, 1, NULL, NULL, &model, &error), error);
    trellis_options_destroy(options);
    return model;
}

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

static double accuracy_of(const trellis_model *model, const char *path)
{
    trellis_options *options = make_options("label=2");
    trellis_tagger *tagger;
    trellis_reader *reader;
    trellis_evaluation *evaluation;
    const trellis_sequence *sequence;
    const trellis_text *labels;
    trellis_error error = {0};
    assert_ok(trellis_tagger_create(model, options, &tagger, &error), error);
    assert_ok(trellis_reader_open(path, options, &reader, &error), error);
    assert_ok(trellis_evaluation_create(options, &evaluation, &error), error);
    while (trellis_reader_next(reader, &sequence, &error) == TRELLIS_OK) {
        assert_ok(trellis_tagger_tag(tagger, sequence, &labels, &error), error);
        assert_ok(
            trellis_evaluation_add(evaluation, sequence->labels, labels, sequence->length, &error),
            error);
    }
    double accuracy = trellis_evaluation_scores(evaluation).accuracy;
    trellis_evaluation_destroy(evaluation);
    trellis_reader_close(reader);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(options);
    return accuracy;
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
    static const char templates[] = "columns word\nnode word\nedge word\nstep start end\n";
    char options[700];
    snprintf(options, sizeof options,
             "type=crf partial=yes l2=0.5 epsilon=1e-8 delta=0 features=%s",
             put_text("t.tpl", templates));
    trellis_model *exact = train_on(data, options);
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
    assert_int_equal(model->lexicon.words, 2); // a: A, b: B or C; c has but one label
    assert_non_null(trellis_model_note(model, "dev-accuracy"));
    assert_string_equal(trellis_model_note(model, "dev-accuracy"), "0.750000");
    assert_string_equal(trellis_model_note(model, "open-labels"), "5");
    trellis_model_close(model);
    /* Without --partial the same cells are labels like any other. */
    model = train_on("a A\nb B|C\nb _\n", "features=id epochs=1");
    assert_int_equal(model->label_count, 3);
    trellis_model_close(model);
}

static void test_mistakes(void **state)
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
         "--partial does not go with"},
        {"a A\nb _\n\na B\n", constrained, "sequence 1 of the training data can have no labels"},
        {"a A|B\nb A\n\na A|C\n", listed, "sequence 2 of the training data gives its token 1"},
        {"a A\nb _\n", "features=id type=ssvm", "does not learn from labels that are not known"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char text[800];
        snprintf(text, sizeof text, "partial=yes %s", cases[i].options);
        trellis_options *options = make_options(text);
        const char *path = put_text("corpus.txt", cases[i].corpus);
        trellis_error error = {0};
        trellis_model *model;
        assert_int_not_equal(trellis_train(options, &path, 1, NULL, NULL, &model, &error),
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
        cmocka_unit_test(test_together),      cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

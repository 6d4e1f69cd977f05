/* test_memm.c - maximum-entropy Markov models from a corpus to a tagger.
 *
 * A second implementation reads the weights from the text of a model and multiplies the
 * probabilities of the decisions, label by label. The gradient is judged by test_likelihood.c, the
 * lattice by tests/lattice.
 */
#include "model/model.h"
#include "model/test_model.h"
#include "support/near.h"

#include <math.h>

enum { LABELS = 3, LENGTH = 4, PATHS = 81, MAX_WEIGHTS = 400, MAX_FIELDS = 8 };

static const char corpus[] = "a A\nb B\nc C\n\na A\nb C\nc C\nd B\n\nd C\na A\nb B\n\n"
                             "c B\nd C\na B\n\nb B\nb C\nd A\n\nd B\nd A\nc A\n\nc C\nc C\n";
static const char *const sentence[LENGTH] = {"d", "b", "unseen", "a"};

/* ---- the second implementation --------------------------------------------------------------- */

/* A line "kind weight field field ..." of a model as text. */
struct item {
    char *fields[MAX_FIELDS];
    size_t count;
    double weight;
};

struct judge {
    char *text;
    struct item items[MAX_WEIGHTS];
    size_t count;
    /* the place whose label is given, which goes before the dictionary; -1 where there is none */
    int given;
};

static struct judge *make_judge(const trellis_model *model)
{
    struct judge *judge = tr_alloc(1, sizeof *judge);
    assert_non_null(judge);
    judge->given = -1;
    judge->text = say(model, EXPORT);
    for (char *rest = judge->text, *line; (line = strsep(&rest, "\n"));) {
        struct item item = {.count = 0};
        for (char *field; item.count < MAX_FIELDS && (field = strsep(&line, "\t"));) {
            item.fields[item.count++] = field;
        }
        if (strcmp(item.fields[0], "step") == 0 || strcmp(item.fields[0], "node") == 0 ||
            strcmp(item.fields[0], "edge") == 0 || strcmp(item.fields[0], "allow") == 0) {
            assert_true(judge->count < MAX_WEIGHTS);
            item.weight = atof(item.fields[1]);
            judge->items[judge->count++] = item;
        }
    }
    return judge;
}

static void judge_free(struct judge *judge)
{
    free(judge->text);
    free(judge);
}

/* The label at a place of the sequence; -1 is the start, LENGTH the end. */
static const char *label_at(const unsigned *labels, int place)
{
    static const char *const names[LABELS] = {"A", "B", "C"};
    return place < 0 ? "\\start" : place == LENGTH ? "\\end" : names[labels[place]];
}

/* Whether a gram, the fields from 2 on, ends at a place. */
static bool gram_ends_at(const struct item *item, const unsigned *labels, int place)
{
    int length = (int)item->count - 2, first = place - length + 1;
    bool same = first >= -1;
    for (int k = 0; same && k < length; k++) {
        same = strcmp(item->fields[k + 2], label_at(labels, first + k)) == 0;
    }
    return same;
}

static bool sees(const char *attribute, int place)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, "word[0]=%s", sentence[place]);
    return strcmp(attribute, wanted) == 0;
}

/* exp of what the label at a place scores behind the others, the end with the last; 0 where the
 * dictionary does not have it. */
static double factor(const struct judge *judge, const unsigned *labels, int place)
{
    double score = 0;
    bool listed = false, allowed = false;
    for (size_t i = 0; i < judge->count; i++) {
        const struct item *item = &judge->items[i];
        char *const *fields = item->fields;
        if (strcmp(fields[0], "step") == 0) {
            score += gram_ends_at(item, labels, place) ? item->weight : 0;
            score += place + 1 == LENGTH && gram_ends_at(item, labels, LENGTH) ? item->weight : 0;
        } else if (strcmp(fields[0], "node") == 0) {
            bool fires = sees(fields[4], place) && strcmp(fields[2], label_at(labels, place)) == 0;
            score += fires ? item->weight : 0;
        } else if (strcmp(fields[0], "edge") == 0) {
            bool fires = place > 0 && sees(fields[5], place) &&
                         strcmp(fields[2], label_at(labels, place - 1)) == 0 &&
                         strcmp(fields[3], label_at(labels, place)) == 0;
            score += fires ? item->weight : 0;
        } else if (strcmp(fields[1], sentence[place]) == 0 && place != judge->given) {
            listed = true;
            for (size_t k = 2; k < item->count; k++) {
                allowed = allowed || strcmp(fields[k], label_at(labels, place)) == 0;
            }
        }
    }
    return listed && !allowed ? 0 : exp(score);
}

/* P(labels | X) = product over places of P(label | labels before) */
static double probability_of(const struct judge *judge, const unsigned *labels)
{
    double p = 1;
    for (int place = 0; place < LENGTH; place++) {
        unsigned other[LENGTH];
        double sum = 0;
        memcpy(other, labels, sizeof other);
        for (other[place] = 0; other[place] < LABELS; other[place]++) {
            sum += factor(judge, other, place);
        }
        p *= factor(judge, labels, place) / sum;
    }
    return p;
}

static void labels_of(unsigned path, unsigned *labels)
{
    for (size_t i = 0; i < LENGTH; i++, path /= LABELS) {
        labels[i] = path % LABELS;
    }
}

/* ---- tagging --------------------------------------------------------------------------------- */

/* What a model is asked for, by label: all paths, their probabilities, and P(label at place). */
struct answers {
    double probability[PATHS], marginal[LENGTH][LABELS], sum, best;
};

static void solve(const struct judge *judge, bool (*holds)(const unsigned *labels),
                  struct answers *answers)
{
    *answers = (struct answers){.sum = 0};
    for (unsigned path = 0; path < PATHS; path++) {
        unsigned labels[LENGTH];
        labels_of(path, labels);
        double p = !holds || holds(labels) ? probability_of(judge, labels) : 0;
        answers->probability[path] = p;
        answers->sum += p;
        answers->best = fmax(answers->best, p);
        for (size_t i = 0; i < LENGTH; i++) {
            answers->marginal[i][labels[i]] += p;
        }
    }
}

static unsigned path_of_labels(const trellis_text *labels)
{
    unsigned path = 0;
    for (size_t i = LENGTH; i-- > 0;) {
        path = path * LABELS + (unsigned)(labels[i].data[0] - 'A');
    }
    return path;
}

static bool second_is_c(const unsigned *labels)
{
    return labels[1] == 2;
}

/* Everything that a tagger tells, against the judge. With `given` it is told the second label,
 * which changes what is known and not what was decided: P(Z | X, z_2) = P(Z | X) / P(z_2 | X). */
static void check_tagger(const trellis_model *model, struct judge *judge, const char *settings,
                         bool given)
{
    static const trellis_text c = {"C", 1};
    struct answers answers;
    trellis_text words[LENGTH];
    for (size_t i = 0; i < LENGTH; i++) {
        words[i] = tr_text(sentence[i]);
    }
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = LENGTH,
                                 .columns = 1,
                                 .cells = words,
                                 .weight = 1,
                                 .line = 1};
    trellis_options *options = make_options(settings);
    trellis_tagger *tagger;
    trellis_error error = {0};
    const trellis_text *labels;
    const float *marginals;
    size_t count;
    judge->given = given ? 1 : -1;
    solve(judge, given ? second_is_c : NULL, &answers);
    assert_ok(trellis_tagger_create(model, options, &tagger, &error), error);
    if (given) {
        assert_ok(trellis_tagger_allow(tagger, 1, &c, 1, &error), error);
    }
    assert_ok(trellis_tagger_tag(tagger, &sequence, &labels, &error), error);
    if (strstr(settings, "posterior")) {
        for (size_t i = 0; i < LENGTH; i++) {
            const double *p = answers.marginal[i];
            double found = p[labels[i].data[0] - 'A'];
            assert_true(found >= fmax(p[0], fmax(p[1], p[2])) - 1e-6);
        }
    } else {
        assert_near(answers.probability[path_of_labels(labels)], answers.best, 1e-6);
        assert_near(exp(trellis_tagger_score(tagger)), answers.best, 1e-5);
    }
    if (given) {
        assert_ok(trellis_tagger_allow(tagger, 1, &c, 1, &error), error);
    }
    assert_ok(trellis_tagger_nbest(tagger, &sequence, PATHS + 1, &count, &error), error);
    assert_true(count == (given ? PATHS / LABELS : PATHS) || model->tag_dictionary.words);
    double sum = 0;
    for (size_t rank = 0; rank < count; rank++) {
        labels = trellis_tagger_nth_labels(tagger, rank);
        double p = answers.probability[path_of_labels(labels)];
        double found = trellis_tagger_nth_probability(tagger, rank);
        assert_near(exp(trellis_tagger_nth_score(tagger, rank)), p, 1e-5);
        assert_near(found, p / answers.sum, 1e-5);
        assert_ok(trellis_tagger_nth_marginals(tagger, rank, &marginals, &error), error);
        for (size_t i = 0; i < LENGTH; i++) {
            double marginal = answers.marginal[i][labels[i].data[0] - 'A'] / answers.sum;
            assert_near((double)marginals[i], marginal, 1e-5);
        }
        sum += found;
    }
    assert_near(sum, 1, 1e-5);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(options);
}

static const char edge_templates[] = "columns word\nnode word\nedge word\nstep start end\n";
static const char node_templates[] = "columns word\nnode word\nstep start end\n";

static trellis_model *train_memm(const char *seen, const char *settings)
{
    char options[900];
    snprintf(options, sizeof options, "type=memm l2=0.1 features=%s %s", put_text("t.tpl", seen),
             settings);
    return train_on(corpus, options);
}

static void test_decoding(void **state)
{
    (void)state;
    static const char *const trainings[] = {
        "order=1",
        "order=2",
        "order=3",
        "order=2 observed-states=yes",
        "counted=2",
        "order=1 dictionary=learn dictionary-count=3",
        "order=2 dictionary=learn dictionary-count=3",
    };
    static const char *const decodings[] = {"", "decode=posterior", "decode=beam beam=1000"};
    for (size_t t = 0; t < 2 * TR_COUNT(trainings); t++) {
        trellis_model *model = train_memm(t % 2 ? edge_templates : node_templates,
                                          trainings[t / 2]);
        struct judge *judge = make_judge(model);
        struct answers all;
        solve(judge, NULL, &all);
        assert_near(all.sum, 1, 1e-9);
        for (size_t d = 0; d < TR_COUNT(decodings); d++) {
            check_tagger(model, judge, decodings[d], false);
            check_tagger(model, judge, decodings[d], true);
        }
        judge_free(judge);
        trellis_model_close(model);
    }
}

/* ---- learning -------------------------------------------------------------------------------- */

static double objective_of(const trellis_model *model)
{
    const char *note = trellis_model_note(model, "objective");
    assert_non_null(note);
    return atof(note);
}

/* -log P of the corpus + l2 |w|^2, as the second implementation has it, for one sentence of it; and
 * all optimisers end at the same objective. */
static void test_optimisers_agree(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        static const char *const algorithms[] = {"algorithm=cg", "algorithm=gd epochs=2000",
                                                 "algorithm=lbfgs warm-up=0", "threads=3"};
        char settings[200];
        snprintf(settings, sizeof settings, "order=%d epsilon=1e-7 delta=0", order);
        trellis_model *model = train_memm(edge_templates, settings);
        double exact = objective_of(model);
        trellis_model_close(model);
        for (size_t i = 0; i < TR_COUNT(algorithms); i++) {
            snprintf(settings, sizeof settings, "order=%d epsilon=1e-7 delta=0 %s", order,
                     algorithms[i]);
            model = train_memm(edge_templates, settings);
            assert_near(objective_of(model), exact, 1e-3 * exact);
            trellis_model_close(model);
        }
        snprintf(settings, sizeof settings, "order=%d algorithm=sgd epochs=2000 rate=0.1", order);
        model = train_memm(edge_templates, settings);
        assert_near(objective_of(model), exact, 0.02 * exact);
        trellis_model_close(model);
    }
}

/* The more l1, the fewer weights. */
static void test_l1(void **state)
{
    (void)state;
    static const char *const settings[] = {"type=memm features=id l1=0.01",
                                           "type=memm features=id l1=0.3",
                                           "type=memm features=id l1=100"};
    size_t before = SIZE_MAX;
    for (size_t k = 0; k < TR_COUNT(settings); k++) {
        trellis_model *model = train_on(corpus, settings[k]);
        size_t count = 0;
        for (size_t i = 0; i < model->plan.gram_count; i++) {
            count += model->step_weights[i] != 0;
        }
        count += model->node.record_count;
        assert_true(count < before);
        before = count;
        trellis_model_close(model);
    }
    assert_int_equal(before, 0);
}

/* Where the first decision is a matter of a coin and the second is certain, a lone weight is the
 * logarithm of odds: P(A | a) = 3/4 without a penalty. */
static void test_counts(void **state)
{
    (void)state;
    trellis_model *model = train_on("a A\n\na A\n\na A\n\na B\n",
                                    "type=memm features=id l2=0 epsilon=1e-9 delta=0");
    double score;
    char *labels = tag_by(model, "a", &score);
    assert_string_equal(labels, "A");
    assert_near(exp(score), 0.75, 1e-4);
    free(labels);
    trellis_model_close(model);
}

static void test_dev_and_warm_start(void **state)
{
    (void)state;
    char options[1500];
    trellis_error error = {0};
    trellis_model *model = train_on(corpus, "type=crf features=id");
    const char *from = path_of("crf.model");
    assert_ok(trellis_model_save(model, from, &error), error);
    trellis_model_close(model);
    snprintf(options, sizeof options,
             "type=memm features=id order=1 dictionary=learn dev=%s from=%s",
             put_text("dev.txt", "a A\nb B\nc C\n\nq A\n"), from);
    model = train_on(corpus, options);
    assert_non_null(trellis_model_note(model, "dev-accuracy"));
    assert_true(atof(trellis_model_note(model, "dev-accuracy")) > 0.5);
    trellis_model_close(model);
}

/* The dev data is labelled as a tagger would. */
static void test_dev_is_tagged(void **state)
{
    (void)state;
    trellis_model *model = train_file("data/english/train.conll",
                                      "type=memm features=id label=2 dev=data/english/test.conll");
    double accuracy = accuracy_of(model, "data/english/test.conll");
    assert_near(atof(trellis_model_note(model, "dev-accuracy")), accuracy, 1e-6);
    trellis_model_close(model);
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* A model says that it is locally normalised, in its file and as text; what says something else is
 * refused. */
static void test_note(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = train_memm(edge_templates, "order=2"), *other;
    struct judge *judge = make_judge(model);
    assert_true(model->local);
    assert_ok(trellis_model_save(model, path_of("memm.model"), &error), error);
    other = open_model(path_of("memm.model"));
    assert_true(other->local);
    check_tagger(other, judge, "", false);
    trellis_model_close(other);
    char *text = say(model, EXPORT);
    other = import_model(put_text("memm.txt", text));
    assert_true(other->local);
    check_tagger(other, judge, "decode=posterior", true);
    trellis_model_close(other);
    char *note = strstr(text, "\tlocally\n");
    assert_non_null(note);
    memcpy(note, "\tglobal\n\n", strlen("\tlocally\n"));
    assert_int_equal(trellis_model_import(put_text("wrong.txt", text), &other, &error),
                     TRELLIS_MODEL);
    assert_non_null(strstr(error.message, "'normalised'"));
    free(text);
    judge_free(judge);
    trellis_model_close(model);
    model = train_on(corpus, "type=crf features=id");
    assert_false(model->local);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_optimisers_agree),
        cmocka_unit_test(test_l1),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_dev_and_warm_start),
        cmocka_unit_test(test_dev_is_tagged),
        cmocka_unit_test(test_note),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

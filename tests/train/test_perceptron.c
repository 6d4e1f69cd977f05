/* test_perceptron.c - the perceptron against a second one that is too simple to be wrong.
 *
 * The second one keeps every weight in one dense table, tries all label sequences of a sentence,
 * adds and subtracts whole feature vectors, and averages by summing up all weights after each
 * sequence. Weights are whole numbers until they are averaged, so both compute exactly, and ties,
 * which are common then, are broken by the same rule: Viterbi's way back takes the lowest label, so
 * of equal sequences the one wins that is the lowest read from its end.
 */
#include <math.h>

#include "base/random.h"
#include "model/test_model.h"

enum { LABELS = 3, WORDS = 5, LONGEST = 5, SENTENCES = 24, START = LABELS, END = LABELS + 1 };

/* The features of templates "node word", "edge word" and "step start end". */
struct weights {
    double node[WORDS][LABELS], edge[WORDS][LABELS][LABELS], step[LABELS + 1][LABELS + 2];
};

struct sentence {
    size_t n;
    int words[LONGEST], labels[LONGEST];
};

/* Which beginning of what a beam finds is learned from. */
enum update { STANDARD, EARLY, MAX_VIOLATION };

struct naive {
    enum update update;
    size_t beam; // 0: all label sequences are tried
    struct sentence sentences[SENTENCES];
    struct weights seen; // 1 where a feature occurs in the data: the others have no weight
    struct weights w, sum;
    size_t iterates;
    bool edges;
};

/* weights += amount * Phi(X, Z), as far as those are features, of the first `prefix` labels */
static void add_features(struct weights *weights, const struct naive *naive,
                         const struct sentence *s, const int *labels, size_t prefix, double amount)
{
    for (size_t i = 0; i < prefix; i++) {
        int x = s->words[i], z = labels[i], before = i ? labels[i - 1] : START;
        weights->node[x][z] += amount * naive->seen.node[x][z];
        weights->step[before][z] += amount;
        if (i > 0 && naive->edges) {
            weights->edge[x][before][z] += amount * naive->seen.edge[x][before][z];
        }
    }
    if (prefix == s->n) {
        weights->step[labels[s->n - 1]][END] += amount;
    }
}

/* The score of the first `prefix` labels. */
static double score(const struct naive *naive, const struct sentence *s, const int *labels,
                    size_t prefix)
{
    const struct weights *w = &naive->w;
    double sum = prefix == s->n ? w->step[labels[s->n - 1]][END] : 0;
    for (size_t i = 0; i < prefix; i++) {
        int before = i ? labels[i - 1] : START;
        sum += w->node[s->words[i]][labels[i]] + w->step[before][labels[i]];
        sum += i > 0 ? w->edge[s->words[i]][before][labels[i]] : 0;
    }
    return sum;
}

/* All label sequences, the lowest read from the end first; the first of the best is kept. */
static void best_labels(const struct naive *naive, const struct sentence *s, int *best)
{
    double largest = -INFINITY;
    size_t paths = 1;
    for (size_t i = 0; i < s->n; i++) {
        paths *= LABELS;
    }
    for (size_t code = 0; code < paths; code++) {
        int labels[LONGEST];
        size_t rest = code;
        for (size_t i = 0; i < s->n; i++, rest /= LABELS) {
            labels[i] = (int)(rest % LABELS); // the last label is the highest digit
        }
        double this_score = score(naive, s, labels, s->n);
        if (this_score > largest) {
            largest = this_score;
            memcpy(best, labels, s->n * sizeof *best);
        }
    }
}

/* ---- beams ----------------------------------------------------------------------------------- */

struct way {
    int labels[LONGEST];
    double score; // with the end where it is whole
};

/* Moves the best of the ways with `length` labels to the front: of equal ones the lowest last
 * label. */
static void sort_ways(struct way *ways, size_t count, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            int a = ways[i].labels[length - 1], b = ways[j].labels[length - 1];
            if (ways[j].score > ways[i].score || (ways[j].score == ways[i].score && b < a)) {
                struct way other = ways[i];
                ways[i] = ways[j];
                ways[j] = other;
            }
        }
    }
}

/* kept, of i labels each, becomes the best of i + 1 labels; how many. */
static size_t go_on(const struct naive *naive, const struct sentence *s, struct way *kept,
                    size_t count, size_t i)
{
    struct way next[LABELS];
    for (int z = 0; z < LABELS; z++) {
        next[z].score = -INFINITY;
        for (size_t k = 0; k < count; k++) {
            struct way way = kept[k];
            way.labels[i] = z;
            way.score = score(naive, s, way.labels, i + 1);
            bool lower = i > 0 && way.labels[i - 1] < next[z].labels[i - 1];
            if (way.score > next[z].score || (way.score == next[z].score && lower)) {
                next[z] = way;
            }
        }
    }
    sort_ways(next, LABELS, i + 1);
    count = naive->beam < LABELS ? naive->beam : LABELS;
    memcpy(kept, next, count * sizeof *next);
    return count;
}

/* What a beam search finds to learn from: the first labels of `found`, and how many. */
static size_t by_beam(const struct naive *naive, const struct sentence *s, int *found)
{
    struct way kept[LABELS];
    size_t count = 1, prefix = 0;
    double largest = -INFINITY;
    bool gold_kept = true;
    for (size_t i = 0; i < s->n; i++) {
        count = go_on(naive, s, kept, count, i);
        bool here = false, last = i + 1 == s->n;
        for (size_t k = 0; k < count; k++) {
            here = here || kept[k].labels[i] == s->labels[i];
        }
        gold_kept = gold_kept && here;
        const struct way *best = &kept[0];
        double ahead = best->score - score(naive, s, s->labels, i + 1);
        if (last && memcmp(best->labels, s->labels, s->n * sizeof *found) == 0) {
            memcpy(found, s->labels, s->n * sizeof *found);
            return s->n;
        }
        bool take = naive->update == STANDARD ? last
                    : naive->update == EARLY
                        ? last || !gold_kept
                        : ahead >= largest && (ahead > 0 || !gold_kept || last);
        if (take) {
            prefix = i + 1;
            largest = ahead;
            memcpy(found, best->labels, prefix * sizeof *found);
        }
        if (naive->update == EARLY && !gold_kept) {
            break;
        }
    }
    assert_true(prefix > 0);
    assert_true(naive->update == STANDARD || largest >= 0); // each update is a violation
    return prefix;
}

static void learn(struct naive *naive, int epochs, uint64_t seed)
{
    uint32_t order[SENTENCES];
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (uint32_t i = 0; i < SENTENCES; i++) {
        order[i] = i;
    }
    for (int epoch = 0; epoch < epochs; epoch++) {
        tr_random_shuffle(&random, order, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++) {
            const struct sentence *s = &naive->sentences[order[i]];
            int found[LONGEST];
            size_t prefix = s->n;
            if (naive->beam) {
                prefix = by_beam(naive, s, found);
            } else {
                best_labels(naive, s, found);
            }
            add_features(&naive->w, naive, s, s->labels, prefix, 1);
            add_features(&naive->w, naive, s, found, prefix, -1);
            double *sum = (double *)&naive->sum, *w = (double *)&naive->w;
            for (size_t k = 0; k < sizeof naive->w / sizeof *w; k++) {
                sum[k] += w[k];
            }
            naive->iterates++;
        }
    }
}

/* Random sentences that no weights can label without a mistake. The first one shows the labels in
 * their order, which is the order of their numbers. */
static void make_sentences(struct naive *naive, uint64_t seed, struct tr_buffer *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t k = 0; k < SENTENCES; k++) {
        struct sentence *s = &naive->sentences[k];
        s->n = k ? 1 + tr_random_below(&random, LONGEST) : LABELS;
        for (size_t i = 0; i < s->n; i++) {
            s->words[i] = (int)tr_random_below(&random, WORDS);
            s->labels[i] = k == 0                          ? (int)i
                           : tr_random_real(&random) < 0.6 ? s->words[i] % LABELS
                                                           : (int)tr_random_below(&random, LABELS);
            naive->seen.node[s->words[i]][s->labels[i]] = 1;
            if (i > 0) {
                naive->seen.edge[s->words[i]][s->labels[i - 1]][s->labels[i]] = 1;
            }
            tr_buffer_format(corpus, "w%d L%d\n", s->words[i], s->labels[i]);
        }
        tr_buffer_char(corpus, '\n');
    }
    tr_buffer_char(corpus, 0);
}

/* ---- the weights of a model ------------------------------------------------------------------ */

static int label_of(const char *text)
{
    return strcmp(text, "\\start") == 0 ? START : strcmp(text, "\\end") == 0 ? END : atoi(text + 1);
}

/* The word of "word[0]=w3". */
static int word_of(const char *text)
{
    const char *equals = strchr(text, '=');
    assert_non_null(equals);
    return atoi(equals + 2);
}

static struct weights read_weights(const trellis_model *model)
{
    struct weights found = {0};
    char *text = say(model, EXPORT), *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *fields[8] = {0}, *left = line;
        for (size_t i = 0; i < 8 && left; i++) {
            fields[i] = strsep(&left, "\t");
        }
        if (strcmp(fields[0], "node") == 0) {
            found.node[word_of(fields[4])][label_of(fields[2])] = atof(fields[1]);
        } else if (strcmp(fields[0], "edge") == 0) {
            found.edge[word_of(fields[5])][label_of(fields[2])][label_of(fields[3])] = atof(
                fields[1]);
        } else if (strcmp(fields[0], "step") == 0) {
            found.step[label_of(fields[2])][label_of(fields[3])] = atof(fields[1]);
        }
    }
    free(text);
    return found;
}

static void assert_weights(const struct weights *found, const struct weights *expected,
                           double scale)
{
    const double *a = (const double *)found, *b = (const double *)expected;
    size_t other_than_0 = 0;
    for (size_t k = 0; k < sizeof *found / sizeof *a; k++) {
        if (!(fabs(a[k] - scale * b[k]) <= 1e-5)) {
            fail_msg("weight %zu is %.9g, not %.9g", k, a[k], scale * b[k]);
        }
        other_than_0 += b[k] != 0;
    }
    assert_true(other_than_0 > 10);
}

/* The tagger finds the best of all label sequences, edges and all, and its score. */
static void assert_tagging(const trellis_model *model, const struct naive *naive)
{
    for (size_t k = 0; k < SENTENCES; k++) {
        const struct sentence *s = &naive->sentences[k];
        struct tr_buffer words = {0};
        int best[LONGEST];
        double found;
        for (size_t i = 0; i < s->n; i++) {
            tr_buffer_format(&words, "w%d ", s->words[i]);
        }
        tr_buffer_char(&words, 0);
        best_labels(naive, s, best);
        char *labels = tag_by(model, words.data, &found);
        assert_true(fabs(found - score(naive, s, best, s->n)) < 1e-4);
        free(labels);
        tr_buffer_free(&words);
    }
}

static void compare(uint64_t seed, int epochs, bool edges, size_t beam, enum update update)
{
    static const char *const updates[] = {"standard", "early", "max-violation"};
    struct naive naive = {.edges = edges, .beam = beam, .update = update};
    struct tr_buffer corpus = {0};
    char options[800], search[60] = "";
    if (beam) {
        snprintf(search, sizeof search, "beam=%zu update=%s", beam, updates[update]);
    }
    const char *templates = put_text("t.tpl",
                                     edges ? "columns word\nnode word\nedge word\nstep start end\n"
                                           : "columns word\nnode word\nstep start end\n");
    make_sentences(&naive, seed + 100, &corpus);
    learn(&naive, epochs, seed);

    static const char *const algorithms[] = {"plain", "averaged"};
    for (int averaged = 0; averaged < 2; averaged++) {
        snprintf(options, sizeof options,
                 "type=perceptron algorithm=%s epochs=%d seed=%d features=%s %s",
                 algorithms[averaged], epochs, (int)seed, templates, search);
        trellis_model *model = train_on(corpus.data, options);
        struct weights found = read_weights(model);
        assert_weights(&found, averaged ? &naive.sum : &naive.w,
                       averaged ? 1 / (double)naive.iterates : 1);
        struct naive tagging = naive;
        tagging.w = found;
        assert_tagging(model, &tagging);
        trellis_model_close(model);
    }
    tr_buffer_free(&corpus);
}

static void test_against_naive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        compare(seed, 1, false, 0, STANDARD);
        compare(seed, 1, true, 0, STANDARD);
        compare(seed, 7, false, 0, STANDARD);
        compare(seed, 7, true, 0, STANDARD);
    }
}

static void test_beams_against_naive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (size_t beam = 1; beam <= LABELS; beam++) {
            for (enum update update = STANDARD; update <= MAX_VIOLATION; update++) {
                compare(seed, 5, seed % 2, beam, update);
            }
        }
    }
}

/* ---- beams ----------------------------------------------------------------------------------- */

/* A beam as wide as there are states is the exact search: the same weights. */
static void test_wide_beam_is_exact(void **state)
{
    (void)state;
    struct naive naive = {.edges = true};
    struct tr_buffer corpus = {0};
    make_sentences(&naive, 4, &corpus);
    /* Learners whose weights are whole numbers: the beam sums in double precision, Viterbi in
     * single. */
    static const char *const ways[] = {"", "algorithm=plain", "order=2", "counted=2"};
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        char exact[200], wide[200];
        snprintf(exact, sizeof exact, "epochs=4 features=id %s", ways[i]);
        snprintf(wide, sizeof wide, "epochs=4 features=id beam=1000 %s", ways[i]);
        trellis_model *one = train_on(corpus.data, exact), *two = train_on(corpus.data, wide);
        char *first = say(one, EXPORT), *second = say(two, EXPORT);
        char *first_weights = strstr(first, "\nnode"), *second_weights = strstr(second, "\nnode");
        assert_true(first_weights && second_weights);
        assert_string_equal(first_weights, second_weights);
        free(first);
        free(second);
        trellis_model_close(one);
        trellis_model_close(two);
    }
    tr_buffer_free(&corpus);
}

static double accuracy_with(const char *more)
{
    char text[300];
    const char *path = "data/english/dev.conll";
    trellis_error error = {0};
    trellis_model *model;
    snprintf(text, sizeof text,
             "type=perceptron epochs=5 label=2 features=pos dev=data/english/test.conll %s", more);
    trellis_options *options = make_options(text);
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error), error);
    double accuracy = atof(trellis_model_note(model, "dev-accuracy"));
    trellis_model_close(model);
    trellis_options_destroy(options);
    return accuracy;
}

/* A narrow beam learns parts of speech of real text about as well as the exact search. */
static void test_beams_learn(void **state)
{
    (void)state;
    static const char *const ways[] = {"beam=2", "update=early", "beam=2 update=max-violation",
                                       "update=max-violation algorithm=pa1",
                                       "beam=3 update=max-violation algorithm=arow order=2"};
    double exact = accuracy_with("");
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        double found = accuracy_with(ways[i]);
        if (!(found > exact - 0.02)) {
            fail_msg("%s: accuracy %.4f, exact %.4f", ways[i], found, exact);
        }
    }
}

/* ---- the same again -------------------------------------------------------------------------- */

static char *train_bytes(const char *options_text, size_t *ret_size)
{
    trellis_options *options = make_options(options_text);
    const char *path = "data/english/dev.conll";
    trellis_error error = {0};
    trellis_model *model;
    assert_ok(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error), error);
    assert_ok(trellis_model_save(model, path_of("again.model"), &error), error);
    trellis_model_close(model);
    trellis_options_destroy(options);
    return get_file(path_of("again.model"), ret_size);
}

static bool same_bytes(const char *options, const char *other_options)
{
    size_t size, other_size;
    char *bytes = train_bytes(options, &size), *other = train_bytes(other_options, &other_size);
    bool same = size == other_size && memcmp(bytes, other, size) == 0;
    free(bytes);
    free(other);
    return same;
}

static void test_determinism(void **state)
{
    (void)state;
    assert_true(
        same_bytes("epochs=2 label=2 seed=7 threads=1", "epochs=2 label=2 seed=7 threads=1"));
    assert_true(
        same_bytes("epochs=2 label=2 seed=7 threads=1", "epochs=2 label=2 seed=7 threads=4"));
    assert_true(same_bytes("epochs=2 label=2 threads=2 features=pos order=2",
                           "epochs=2 label=2 threads=3 features=pos order=2"));
    assert_false(same_bytes("epochs=2 label=2 seed=7", "epochs=2 label=2 seed=8"));
    assert_false(same_bytes("epochs=1 label=2", "epochs=2 label=2"));
}

/* Another seed gives other weights, not just another note of the seed. */
static void test_seeds_matter(void **state)
{
    (void)state;
    struct naive naive = {0};
    struct tr_buffer corpus = {0};
    make_sentences(&naive, 5, &corpus);
    size_t different = 0;
    struct weights first = {0};
    for (int seed = 1; seed <= 5; seed++) {
        char options[60];
        snprintf(options, sizeof options, "epochs=2 features=id seed=%d", seed);
        trellis_model *model = train_on(corpus.data, options);
        struct weights found = read_weights(model);
        first = seed == 1 ? found : first;
        different += memcmp(&first, &found, sizeof found) != 0;
        trellis_model_close(model);
    }
    assert_true(different >= 3);
    tr_buffer_free(&corpus);
}

/* ---- progress -------------------------------------------------------------------------------- */

struct watch {
    uint64_t epochs, stop_after;
    double last_error_rate;
};

static bool watch(void *user, const trellis_progress *progress)
{
    struct watch *w = user;
    if (progress->phase == TRELLIS_PHASE_TRAINING && progress->fraction == 1) {
        assert_int_equal(progress->iteration, w->epochs + 1);
        assert_true(isnan(progress->objective));
        w->epochs = progress->iteration;
        w->last_error_rate = progress->error_rate;
        return w->epochs != w->stop_after;
    }
    return true;
}

static void test_progress(void **state)
{
    (void)state;
    /* What can be learned is learned: no mistakes in the end. */
    const char *path = put_text("easy.txt", "a X\nb Y\nc X\n\nb Y\na X\n\nc X\nc X\nb Y\n");
    trellis_options *options = make_options("epochs=10 features=id");
    trellis_model *model;
    trellis_error error = {0};
    struct watch all = {0};
    assert_ok(trellis_train_files(options, &path, 1, watch, &all, &model, &error), error);
    assert_int_equal(all.epochs, 10);
    assert_true(all.last_error_rate == 0);
    assert_tags(model, "c b a", "X Y X");
    trellis_model_close(model);

    struct watch some = {.stop_after = 3};
    assert_int_equal(trellis_train_files(options, &path, 1, watch, &some, &model, &error),
                     TRELLIS_INTERRUPTED);
    assert_int_equal(some.epochs, 3);
    assert_non_null(model); // what was learned until then
    assert_string_equal(trellis_model_note(model, "iterations"), "3");
    trellis_model_close(model);
    trellis_options_destroy(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),      cmocka_unit_test(test_beams_against_naive),
        cmocka_unit_test(test_wide_beam_is_exact), cmocka_unit_test(test_beams_learn),
        cmocka_unit_test(test_determinism),        cmocka_unit_test(test_seeds_matter),
        cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

/* test_ranks.c - several ranks, which are threads here, train a model: that of one rank, or for
 * online learners, whose weights are mixed after each epoch, that of a second implementation.
 *
 * There each of four ranks learns from one sequence of one token, so that the order of the sequences
 * does not matter. With the weights w and their average a after k - 1 epochs, epoch k is
 *
 *     w_r = what rank r makes of w,   w = mean_r w_r,   a = mean_r ((k - 1) a + w_r) / k
 */
#include <math.h>

#include "model/test_model.h"
#include "support/rank_threads.h"
#include "train/ways.h"

enum { FILES = 4, RANKS = 4, LABELS = 2, SIZE = 2 * LABELS };

/* "x A", "x B", "x B", "y A" */
static const int words[RANKS] = {0, 0, 0, 1}, gold[RANKS] = {0, 1, 1, 0};

/* ---- a second implementation ----------------------------------------------------------------- */

struct naive {
    double w[SIZE], average[SIZE]; // of each word and label
};

/* Of two labels that score the same the first is taken. */
static void learn_epoch(struct naive *naive, int epoch)
{
    double w[SIZE] = {0}, average[SIZE] = {0};
    for (int r = 0; r < RANKS; r++) {
        double mine[SIZE], *row = mine + words[r] * LABELS;
        memcpy(mine, naive->w, sizeof mine);
        int best = row[1] > row[0];
        row[gold[r]]++;
        row[best]--;
        for (int j = 0; j < SIZE; j++) {
            w[j] += mine[j] / RANKS;
            average[j] += ((epoch - 1) * naive->average[j] + mine[j]) / epoch / RANKS;
        }
    }
    memcpy(naive->w, w, sizeof w);
    memcpy(naive->average, average, sizeof average);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The model of rank 0. */
static trellis_model *train_from(const trellis_source *sources, size_t source_count, unsigned count,
                                 const char *templates, const char *settings)
{
    struct world world = {.count = count};
    struct rank_training ranks[MOST];
    pthread_t threads[MOST];
    trellis_options *options = make_options(settings);
    pthread_barrier_init(&world.barrier, NULL, count);
    for (unsigned r = 0; r < count; r++) {
        ranks[r] = (struct rank_training){.member = {.world = &world, .rank = r},
                                          .options = options,
                                          .sources = sources,
                                          .source_count = source_count,
                                          .templates = templates};
        assert_int_equal(pthread_create(&threads[r], NULL, train_on_rank, &ranks[r]), 0);
    }
    for (unsigned r = 0; r < count; r++) {
        pthread_join(threads[r], NULL);
    }
    for (unsigned r = 0; r < count; r++) {
        assert_ok(ranks[r].status, ranks[r].error);
    }
    for (unsigned r = 1; r < count; r++) {
        trellis_model_close(ranks[r].model);
    }
    pthread_barrier_destroy(&world.barrier);
    trellis_options_destroy(options);
    return ranks[0].model;
}

static trellis_model *train_on_ranks(unsigned count, const char *corpus, const char *templates,
                                     const char *settings)
{
    trellis_source source = {
        .struct_size = sizeof source, .data = corpus, .data_size = strlen(corpus)};
    return train_from(&source, 1, count, templates, settings);
}

/* All numbers of ranks up to `most` give the model of one; returns how many labels it has. */
static size_t same_model(const trellis_source *sources, size_t source_count, unsigned most,
                         const char *templates, const char *settings)
{
    trellis_model *alone = train_from(sources, source_count, 1, templates, settings);
    size_t labels = trellis_model_label_count(alone);
    char *wanted = say(alone, EXPORT);
    for (unsigned count = 2; count <= most; count++) {
        trellis_model *model = train_from(sources, source_count, count, templates, settings);
        char *found = say(model, EXPORT);
        assert_string_equal(found, wanted);
        free(found);
        trellis_model_close(model);
    }
    free(wanted);
    trellis_model_close(alone);
    return labels;
}

static size_t same_model_of_text(const char *corpus, unsigned most, const char *templates,
                                 const char *settings)
{
    trellis_source source = {
        .struct_size = sizeof source, .data = corpus, .data_size = strlen(corpus)};
    return same_model(&source, 1, most, templates, settings);
}

/* ---- the model of one rank ------------------------------------------------------------------- */

static void the_model_is_that_of_one_rank(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "type=crf epochs=6 threads=1", "type=crf warm-up=0 l1=0.1 epochs=6 threads=2",
        "type=crf algorithm=sgd batch=4 epochs=2 threads=2", "type=memm epochs=6 threads=1"};
    static const char templates[] = "columns word\nnode word[-1..1]\nedge word\nstep start end\n";
    struct tr_buffer corpus = {0};
    ways_corpus(3, 25, &corpus);
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        same_model_of_text(corpus.data, 3, templates, ways[i]);
    }
    tr_buffer_free(&corpus);
}

/* Each third has words and labels that the others have not, beside common ones; the names of labels
 * are of all lengths up to 12 bytes. With `partial`, one label in six is '_' or a choice of two. */
static void thirds_corpus(bool partial, struct tr_buffer *corpus)
{
    struct tr_random random;
    tr_random_seed(&random, 5);
    for (size_t i = 0; i < 240; i++) {
        size_t third = tr_random_below(&random, 3) ? i / 80 : 3, name = tr_random_below(&random, 4);
        const char *open = i % 12 == 5 ? "_" : i % 12 == 11 ? "|A" : "";
        tr_buffer_format(corpus, "w%zu.%zu ", third, name);
        if (!partial || *open != '_') {
            tr_buffer_format(corpus, "%c%.*s", (int)('A' + third), (int)(3 * name + third),
                             "abcdefghijkl");
        }
        tr_buffer_format(corpus, "%s\n%s", partial ? open : "",
                         tr_random_below(&random, 4) ? "" : "\n");
    }
}

/* Of a file each rank reads its own part alone. */
static void each_rank_reads_its_part_of_a_file(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=crf warm-up=0 epochs=4 threads=1 dictionary=learn",
                                       "type=memm algorithm=sgd batch=4 epochs=2 threads=1",
                                       "type=crf warm-up=0 partial=yes epochs=4 threads=1"};
    static const char templates[] = "columns word\nnode word[-1..1]\nstep start end\n";
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        struct tr_buffer corpus = {0};
        thirds_corpus(strstr(ways[i], "partial"), &corpus);
        trellis_source source = {.struct_size = sizeof source,
                                 .path = put_file("ranks.txt", corpus.data, corpus.size)};
        assert_int_equal(same_model(&source, 1, 3, templates, ways[i]), 16);
        tr_buffer_free(&corpus);
    }
}

/* The parts of several files, of which some ranks have nothing to read: one has a single sequence, and
 * one ends in the middle of a third. */
static void each_rank_reads_its_parts_of_several_files(void **state)
{
    (void)state;
    static const char settings[] = "type=crf warm-up=0 epochs=3 threads=1";
    static const char templates[] = "columns word\nnode word[-1..1]\nstep start end\n";
    static const char *const names[FILES] = {"a.txt", "b.txt", "c.txt", "d.txt"};
    struct tr_buffer corpus = {0};
    char paths[FILES][600];
    trellis_source sources[FILES];
    thirds_corpus(false, &corpus);
    tr_buffer_char(&corpus, 0);
    const char *at = corpus.data, *end = corpus.data + corpus.size - 1;
    for (size_t f = 0; f < FILES; f++) {
        const char *to = f == 0 ? at + corpus.size / 4 : f == 2 ? at + corpus.size / 3 : at;
        to = f + 1 < FILES ? strstr(to, "\n\n") + 2 : end;
        snprintf(paths[f], sizeof paths[f], "%s", put_file(names[f], at, (size_t)(to - at)));
        sources[f] = (trellis_source){.struct_size = sizeof *sources, .path = paths[f]};
        at = to;
    }
    same_model(sources, FILES, MOST, templates, settings);
    tr_buffer_free(&corpus);
}

/* Words that imply their class, so that its rows are summed through bundles, of which each rank has
 * some: all words are frequent, but those of a third are met by one rank only. */
static void bundles_are_summed_by_all(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=crf warm-up=0 epochs=4 threads=1",
                                       "type=memm warm-up=0 epochs=4 threads=2"};
    static const char templates[] =
        "columns word class\nnode word\nnode class[-1..1]\nnode class & word\nstep\n";
    struct tr_random random;
    struct tr_buffer corpus = {0};
    tr_random_seed(&random, 7);
    for (size_t i = 0; i < 1500; i++) {
        size_t word = tr_random_below(&random, 6) + (i % 3 ? 0 : 6 + i / 500 * 6);
        tr_buffer_format(&corpus, "w%zu c%zu %c\n%s", word, word % 3,
                         (int)('A' + (word + tr_random_below(&random, 2)) % 4),
                         tr_random_below(&random, 4) ? "" : "\n");
    }
    tr_buffer_char(&corpus, 0);
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        same_model_of_text(corpus.data, MOST, templates, ways[i]);
    }
    tr_buffer_free(&corpus);
}

/* Ranks own slices of the weights. There are so many weights here that slices begin among those of
 * nodes, and that of the last rank has those of nodes, edges and transitions. */
static void slices_have_weights_of_every_kind(void **state)
{
    (void)state;
    static const char settings[] = "type=crf warm-up=0 all-features=yes epochs=2 threads=1";
    static const char templates[] = "columns word\nnode word[-2..2] & word\nedge word\nstep\n";
    struct tr_buffer corpus = {0};
    thirds_corpus(false, &corpus);
    tr_buffer_char(&corpus, 0);
    same_model_of_text(corpus.data, 3, templates, settings);
    tr_buffer_free(&corpus);
}

/* ---- mixing ---------------------------------------------------------------------------------- */

static double weight_of(const trellis_model *model, int word, int label)
{
    trellis_text text = word ? TR_TEXT("word[0]=y") : TR_TEXT("word[0]=x");
    int32_t number = (int32_t)trellis_model_find_label(model, (trellis_text){&"AB"[label], 1});
    size_t attribute = trellis_model_find_attribute(model, false, text);
    return attribute == SIZE_MAX ? 0 : trellis_model_weight(model, attribute, &number, 1);
}

static void check(bool averaged)
{
    struct naive naive = {0};
    const double *wanted = averaged ? naive.average : naive.w;
    size_t others = 0;
    for (int epoch = 1; epoch <= 6; epoch++) {
        char settings[200];
        snprintf(settings, sizeof settings,
                 "type=perceptron algorithm=%s order=0 epochs=%d threads=1",
                 averaged ? "averaged" : "plain", epoch);
        trellis_model *model = train_on_ranks(RANKS, "x A\n\nx B\n\nx B\n\ny A\n",
                                              "columns word\nnode word\n", settings);
        learn_epoch(&naive, epoch);
        for (int j = 0; j < SIZE; j++) {
            double found = weight_of(model, j / LABELS, j % LABELS);
            if (!(fabs(found - wanted[j]) < 1e-6)) {
                fail_msg("epoch %d, weight %d: %g, not %g", epoch, j, found, wanted[j]);
            }
            others += wanted[j] != 0;
        }
        trellis_model_close(model);
    }
    assert_true(others > 6);
}

static void the_average_is_the_mean_of_all(void **state)
{
    (void)state;
    check(true);
}

static void weights_are_the_mean_of_all(void **state)
{
    (void)state;
    check(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_that_of_one_rank),
        cmocka_unit_test(each_rank_reads_its_part_of_a_file),
        cmocka_unit_test(each_rank_reads_its_parts_of_several_files),
        cmocka_unit_test(bundles_are_summed_by_all),
        cmocka_unit_test(slices_have_weights_of_every_kind),
        cmocka_unit_test(the_average_is_the_mean_of_all),
        cmocka_unit_test(weights_are_the_mean_of_all),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

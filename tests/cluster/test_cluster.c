/* test_cluster.c - Brown clusters against their definition: for every merge, the average mutual
 * information is computed from scratch for all candidate pairs, and none may be better than the
 * pair that was merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "cluster/cluster.h"
#include "support/temporary.h"

enum { MAX_WORDS = 24, MAX_TOKENS = 400 };

/* ---- the judge ------------------------------------------------------------------------------- */

/* A text of words 0 .. words-1 as letters, and the cluster of each word, -1 where it is not in the
 * window. */
struct judge {
    int text[MAX_TOKENS];
    size_t tokens;
    int cluster[MAX_WORDS];
};

/* I = sum of p(a,b) log2(p(a,b) / (p(a) p(b))) over the clusters in the window, with first and
 * second taken as one. */
static double information(const struct judge *judge, int first, int second)
{
    enum { MAX_NODES = 2 * MAX_WORDS };
    double single[MAX_NODES] = {0}, pair[MAX_NODES][MAX_NODES] = {{0}}, sum = 0;
    int before = -1;
    for (size_t i = 0; i < judge->tokens; i++) {
        int word = judge->text[i], now = word < 0 ? -1 : judge->cluster[word];
        now = now == second ? first : now;
        if (now >= 0) {
            single[now]++;
        }
        if (now >= 0 && before >= 0 && i > 0) {
            pair[before][now]++;
        }
        before = now;
    }
    double tokens = (double)judge->tokens;
    for (int a = 0; a < MAX_NODES; a++) {
        for (int b = 0; b < MAX_NODES; b++) {
            if (pair[a][b] > 0) {
                double p = pair[a][b] / (tokens - 1);
                sum += p * log2(p / (single[a] / tokens * single[b] / tokens));
            }
        }
    }
    return sum;
}

static bool is_cluster(const struct judge *judge, int node, int words)
{
    for (int word = 0; word < words; word++) {
        if (judge->cluster[word] == node) {
            return true;
        }
    }
    return false;
}

/* No merge of two clusters keeps more information than this one; then makes it. */
static void check_merge(struct judge *judge, struct tr_merge merge, int node, int words)
{
    int first = (int)merge.first, second = (int)merge.second;
    assert_true(is_cluster(judge, first, words) && is_cluster(judge, second, words));
    double chosen = information(judge, first, second);
    for (int a = 0; a < node; a++) {
        for (int b = a + 1; b < node && is_cluster(judge, a, words); b++) {
            if (is_cluster(judge, b, words) && information(judge, a, b) > chosen + 1e-9) {
                fail_msg("merge of %d and %d keeps %.12f, of %d and %d %.12f", first, second,
                         chosen, a, b, information(judge, a, b));
            }
        }
    }
    for (int word = 0; word < words; word++) {
        if (judge->cluster[word] == first || judge->cluster[word] == second) {
            judge->cluster[word] = node;
        }
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Words 'a', 'b', ... drawn so that early letters are frequent and what comes next depends on what
 * was. */
static void draw(struct judge *judge, struct tr_random *random, int types, size_t tokens)
{
    int word = 0;
    judge->tokens = tokens;
    for (size_t i = 0; i < tokens; i++) {
        int step = (int)tr_random_below(random, (uint64_t)types);
        int other = (int)tr_random_below(random, (uint64_t)types);
        word = tr_random_below(random, 3) ? (word * 5 + step % 3) % types
                                          : (step < other ? step : other);
        judge->text[i] = word;
    }
}

/* The text as lines of words, in a file. */
static char *text_file(const struct judge *judge, struct tr_random *random)
{
    char text[2 * MAX_TOKENS + 1];
    for (size_t i = 0; i < judge->tokens; i++) {
        text[2 * i] = (char)('a' + judge->text[i]);
        text[2 * i + 1] = tr_random_below(random, 10) ? ' ' : '\n';
    }
    text[2 * judge->tokens] = '\0';
    return temporary_file(text);
}

/* Renumbers the words by falling frequency, of equals the one that comes first; returns how many
 * occur at least `least` times. Those that do not are -1. */
static int rank(struct judge *judge, int least)
{
    int count[MAX_WORDS] = {0}, seen[MAX_WORDS], number[MAX_WORDS], types = 0, kept = 0;
    for (size_t i = 0; i < judge->tokens; i++) {
        if (count[judge->text[i]]++ == 0) {
            seen[types++] = judge->text[i];
        }
    }
    for (int word = 0; word < MAX_WORDS; word++) {
        number[word] = -1;
    }
    for (int most = (int)judge->tokens; most >= least; most--) {
        for (int k = 0; k < types; k++) {
            if (count[seen[k]] == most) {
                number[seen[k]] = kept++;
            }
        }
    }
    for (size_t i = 0; i < judge->tokens; i++) {
        judge->text[i] = number[judge->text[i]];
    }
    return kept;
}

static trellis_options *options_for(const char *threads, const char *min_count)
{
    trellis_options *options = NULL;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "format", "wordtag", NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "label", "none", NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "threads", threads, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "min-count", min_count, NULL), TRELLIS_OK);
    return options;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Words have the same path where and only where they are in one cluster, and no path goes on from
 * another. */
static void check_paths(const trellis_clusters *clusters, const struct judge *judge, int words)
{
    const struct tr_bigrams *bigrams = tr_clusters_bigrams(clusters);
    trellis_text path[MAX_WORDS];
    trellis_clustered_word word = {.struct_size = sizeof word}, before = {0};
    for (int i = 0; i < words; i++) {
        assert_true(trellis_clusters_word(clusters, (size_t)i, &word));
        int order = tr_text_compare(before.path, word.path);
        assert_true(order < 0 || (order == 0 && before.count >= word.count));
        before = word;
        uint32_t number = tr_intern_find(&bigrams->texts, word.word);
        for (uint32_t k = 0; k < bigrams->words; k++) {
            if (bigrams->text[k] == number) {
                path[k] = word.path;
                assert_int_equal(bigrams->count[k], word.count);
            }
        }
    }
    assert_false(trellis_clusters_word(clusters, (size_t)words, &word));
    for (int a = 0; a < words; a++) {
        for (int b = 0; b < words; b++) {
            bool same = judge->cluster[a] == judge->cluster[b];
            assert_int_equal(same, tr_text_equal(path[a], path[b]));
            assert_true(same || path[a].size > path[b].size ||
                        memcmp(path[a].data, path[b].data, path[a].size) != 0);
        }
    }
}

static void check_text(struct tr_random *random, int types, size_t tokens, int limit, int least)
{
    struct judge judge;
    char min_count[16];
    trellis_clusters *clusters = NULL;
    trellis_error error = {0};
    draw(&judge, random, types, tokens);
    char *path = text_file(&judge, random);
    int words = rank(&judge, least);
    snprintf(min_count, sizeof min_count, "%d", least);
    trellis_options *options = options_for("1", min_count);
    trellis_status status = trellis_cluster(options, (size_t)limit, (const char *const *)&path, 1,
                                            NULL, NULL, &clusters, &error);
    if (words < 2) {
        assert_int_equal(status, TRELLIS_DATA);
        assert_null(clusters);
    } else {
        assert_int_equal(status, TRELLIS_OK);
        trellis_clusters_info info = {.struct_size = sizeof info};
        trellis_clusters_describe(clusters, &info);
        int left = limit < words ? limit : words;
        assert_int_equal(info.words, words);
        assert_int_equal(info.clusters, left);
        assert_int_equal(info.tokens, tokens);
        for (int word = 0; word < words; word++) {
            judge.cluster[word] = word < left ? word : -1;
        }
        for (int k = 0; k < words - 1; k++) {
            if (left + k < words) {
                judge.cluster[left + k] = left + k; // comes into the window
            }
            if (k == words - left) {
                check_paths(clusters, &judge, words);
                assert_true(fabs(info.information - information(&judge, -2, -2)) < 1e-9);
            }
            check_merge(&judge, tr_clusters_merges(clusters)[k], words + k, words);
        }
    }
    trellis_clusters_destroy(clusters);
    trellis_options_destroy(options);
    temporary_drop(path);
}

static void test_merges_are_the_best(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 21);
    for (int round = 0; round < 120; round++) {
        int types = 2 + (int)tr_random_below(&random, MAX_WORDS - 2);
        size_t tokens = 2 + tr_random_below(&random, MAX_TOKENS - 2);
        int limit = 2 + (int)tr_random_below(&random, 12);
        check_text(&random, types, tokens, limit, 1 + (int)tr_random_below(&random, 3));
    }
}

static trellis_status append(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

/* Enough words for the threads to share the work. */
static char *large_text(void)
{
    struct tr_random random;
    struct tr_buffer text = {0};
    tr_random_seed(&random, 5);
    unsigned word = 1;
    for (int i = 0; i < 60000; i++) {
        unsigned next = (unsigned)(1200 * pow(tr_random_real(&random), 3));
        word = tr_random_below(&random, 4) ? next : (word * 7 + 3) % 1200;
        tr_buffer_format(&text, "w%u%c", word, i % 17 ? ' ' : '\n');
    }
    char *path = temporary_bytes(text.data, text.size);
    tr_buffer_free(&text);
    return path;
}

static void test_threads_make_no_difference(void **state)
{
    (void)state;
    static const char *const threads[] = {"1", "3"};
    struct tr_buffer written[2] = {{0}, {0}};
    char *path = large_text();
    for (int k = 0; k < 2; k++) {
        trellis_options *options = options_for(threads[k], "1");
        trellis_clusters *clusters = NULL;
        assert_int_equal(trellis_cluster(options, 400, (const char *const *)&path, 1, NULL, NULL,
                                         &clusters, NULL),
                         TRELLIS_OK);
        assert_int_equal(trellis_clusters_write(clusters, append, &written[k], NULL), TRELLIS_OK);
        trellis_clusters_destroy(clusters);
        trellis_options_destroy(options);
    }
    assert_int_equal(written[0].size, written[1].size);
    assert_memory_equal(written[0].data, written[1].data, written[0].size);
    tr_buffer_free(&written[0]);
    tr_buffer_free(&written[1]);
    temporary_drop(path);
}

static bool stop_when_clustering(void *user, const trellis_progress *progress)
{
    ++*(int *)user;
    return progress->phase != TRELLIS_PHASE_CLUSTERING;
}

static bool stop_at_once(void *user, const trellis_progress *progress)
{
    (void)progress;
    ++*(int *)user;
    return false;
}

static void test_progress_can_stop_it(void **state)
{
    (void)state;
    trellis_progress_function stops[] = {stop_when_clustering, stop_at_once};
    char *path = temporary_file("a b a c a b\n");
    trellis_options *options = options_for("1", "1");
    for (int k = 0; k < 2; k++) {
        int calls = 0;
        trellis_clusters *clusters = NULL;
        assert_int_equal(trellis_cluster(options, 2, (const char *const *)&path, 1, stops[k],
                                         &calls, &clusters, NULL),
                         TRELLIS_INTERRUPTED);
        assert_null(clusters);
        assert_int_equal(calls, 2 - k);
    }
    trellis_options_destroy(options);
    temporary_drop(path);
}

/* Words that a line of the output cannot hold are left out, and break the stream. */
static void test_words_that_fit_no_line(void **state)
{
    (void)state;
    char *path = temporary_file(
        "{\"tokens\": [\"a\", \"x\\ty\", \"b\", \"\", \"a\", \"x\\ny\", \"b\"]}\n");
    trellis_options *options = NULL;
    trellis_clusters *clusters = NULL;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "format", "jsonl", NULL), TRELLIS_OK);
    assert_int_equal(trellis_options_set(options, "label", "none", NULL), TRELLIS_OK);
    assert_int_equal(
        trellis_cluster(options, 2, (const char *const *)&path, 1, NULL, NULL, &clusters, NULL),
        TRELLIS_OK);
    trellis_clusters_info info = {.struct_size = sizeof info};
    trellis_clusters_describe(clusters, &info);
    assert_int_equal(info.words, 2);
    assert_int_equal(info.tokens, 7);
    assert_true(info.information == 0); // no two words that are left stand side by side
    trellis_clusters_destroy(clusters);
    trellis_options_destroy(options);
    temporary_drop(path);
}

static void test_numbers_of_clusters(void **state)
{
    (void)state;
    static const size_t wrong[] = {0, 1, 20001, SIZE_MAX};
    for (size_t i = 0; i < TR_COUNT(wrong); i++) {
        trellis_clusters *clusters = NULL;
        trellis_error error = {0};
        assert_int_equal(trellis_cluster(NULL, wrong[i], NULL, 0, NULL, NULL, &clusters, &error),
                         TRELLIS_OPTION);
        assert_non_null(strstr(error.message, "clusters"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges_are_the_best),
        cmocka_unit_test(test_threads_make_no_difference),
        cmocka_unit_test(test_progress_can_stop_it),
        cmocka_unit_test(test_words_that_fit_no_line),
        cmocka_unit_test(test_numbers_of_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

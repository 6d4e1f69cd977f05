/* cluster.c - Brown clusters: a binary tree of words by what stands next to them.
 *
 * Brown, Della Pietra, deSouza, Lai and Mercer: Class-based n-gram models of natural language
 * (1992), with a window of C clusters. The C most frequent words start as clusters. The next word
 * by frequency is added as a cluster of its own, the two clusters are merged whose merge loses the
 * least average mutual information
 *
 *     I = sum over v, w of p(v,w) log2(p(v,w) / (p(v) p(w)))
 *
 * and so on for all words. The remaining C clusters are then merged into one in the same way. These
 * merges are a binary tree; the path of a cluster from its root has a 0 for the more frequent child
 * and a 1 for the other.
 */
#include <math.h>
#include <time.h>

#include "base/options.h"
#include "base/structs.h"
#include "cluster/bigrams.h"
#include "cluster/cluster.h"
#include "cluster/window.h"

enum { MERGES_BETWEEN_WATCHES = 128, MAX_CLUSTERS = 20000 };

struct trellis_clusters {
    struct tr_bigrams bigrams;
    size_t clusters;
    struct tr_merge
        *merges; // [words - 1] nodes below words are words, word + k is the result of merge k
    double information;
    struct tr_buffer paths; // of the clusters, one after the other
    uint32_t *order;        // [words] by path, then by frequency
    size_t *path_begin;     // [words] in paths, by word
    size_t *path_size;      // [words]
};

/* State that is needed for merging only. */
struct work {
    struct trellis_clusters *result;
    struct tr_window window;
    uint32_t *node;   // [slots] the tree of the cluster in a slot
    uint32_t *parent; // [words] a word of the same cluster; itself at its head
    uint32_t *slot; // [words] of a word that is the head of its cluster; TR_NONE before it came in
    uint32_t *head; // [slots]
    uint32_t *right, *left; // [slots] counts of a word that comes in
    size_t merged;
    trellis_progress_function progress;
    void *user;
    struct timespec begun;
};

/* ---- progress -------------------------------------------------------------------------------- */

static bool report(const struct work *work, trellis_phase phase)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - work->begun.tv_sec) +
                     1e-9 * (double)(now.tv_nsec - work->begun.tv_nsec);
    uint32_t words = work->result->bigrams.words;
    trellis_progress progress = {
        .phase = phase,
        .iteration = work->merged,
        .max_iterations = phase == TRELLIS_PHASE_CLUSTERING && words ? words - 1 : 0,
        .objective = NAN,
        .gradient_norm = NAN,
        .error_rate = NAN,
        .dev_accuracy = NAN,
        .dev_f1 = NAN,
        .likelihood = NAN,
        .dev_likelihood = NAN,
        .seconds = seconds,
        .tokens_per_second = NAN,
    };
    return !work->progress || work->progress(work->user, &progress);
}

static bool report_reading(void *user)
{
    return report(user, TRELLIS_PHASE_READING);
}

/* ---- merging --------------------------------------------------------------------------------- */

static uint32_t head_of(struct work *work, uint32_t word)
{
    while (work->parent[word] != word) {
        work->parent[word] = work->parent[work->parent[word]];
        word = work->parent[word];
    }
    return word;
}

static void count_neighbours(struct work *work, const struct tr_neighbours *neighbours,
                             uint32_t word, uint32_t *counts)
{
    memset(counts, 0, work->window.limit * sizeof *counts);
    for (size_t k = neighbours->begin[word]; k < neighbours->begin[word + 1]; k++) {
        uint32_t slot = work->slot[head_of(work, neighbours->at[k].word)];
        if (slot != TR_NONE) {
            counts[slot] += neighbours->at[k].count;
        }
    }
}

static void add_word(struct work *work, uint32_t word, size_t slot)
{
    const struct tr_bigrams *bigrams = &work->result->bigrams;
    work->slot[word] = (uint32_t)slot;
    work->node[slot] = work->head[slot] = word;
    count_neighbours(work, &bigrams->right, word, work->right);
    count_neighbours(work, &bigrams->left, word, work->left);
    tr_window_add(&work->window, slot, bigrams->count[word], work->right, work->left);
}

/* Merges the best pair; returns the slot that it leaves empty. */
static size_t merge_best(struct work *work)
{
    struct tr_window *window = &work->window;
    size_t pair[2];
    tr_window_best(window, &pair[0], &pair[1]);
    bool swapped = window->count[pair[1]] > window->count[pair[0]];
    struct tr_merge merge = {work->node[pair[swapped]], work->node[pair[!swapped]]};
    size_t kept = tr_window_merge(window, pair[0], pair[1]);
    size_t gone = pair[kept == pair[0]];
    work->parent[work->head[gone]] = work->head[kept];
    work->result->merges[work->merged] = merge;
    work->node[kept] = work->result->bigrams.words + (uint32_t)work->merged++;
    return gone;
}

static void close_slot(struct work *work, size_t slot)
{
    size_t last = work->window.used - 1;
    tr_window_close(&work->window, slot);
    work->node[slot] = work->node[last];
    work->head[slot] = work->head[last];
    work->slot[work->head[slot]] = (uint32_t)slot;
}

/* I, when all clusters are in the window. */
static double information(const struct work *work)
{
    const struct tr_window *window = &work->window;
    double tokens = (double)work->result->bigrams.tokens, bigrams = tokens - 1, sum = 0;
    for (size_t v = 0; v < window->used; v++) {
        for (size_t w = 0; w < window->used; w++) {
            double n = window->right[v * window->stride + w];
            double expected = window->count[v] * window->count[w];
            if (n > 0) {
                sum += n / bigrams * log2(n / bigrams * tokens * tokens / expected);
            }
        }
    }
    return sum;
}

static bool is_watched(const struct work *work, size_t step)
{
    return step % MERGES_BETWEEN_WATCHES != 0 || report(work, TRELLIS_PHASE_CLUSTERING);
}

static trellis_status merge_all(struct work *work, trellis_error *error)
{
    struct trellis_clusters *result = work->result;
    size_t empty = 0;
    bool go_on = true;
    for (uint32_t word = 0; go_on && word < result->bigrams.words; word++) {
        bool full = word > result->clusters;
        add_word(work, word, full ? empty : word);
        if (word >= result->clusters) {
            empty = merge_best(work);
        }
        go_on = is_watched(work, word);
    }
    if (go_on && result->bigrams.words > result->clusters) {
        close_slot(work, empty);
    }
    if (go_on) {
        result->information = information(work);
    }
    for (size_t left = result->clusters; go_on && left > 1; left--) {
        close_slot(work, merge_best(work));
        go_on = is_watched(work, left);
    }
    return go_on ? TRELLIS_OK : tr_fail(error, TRELLIS_INTERRUPTED, "interrupted");
}

static trellis_status work_create(struct work *work, struct tr_pool *pool, trellis_error *error)
{
    const struct tr_bigrams *bigrams = &work->result->bigrams;
    size_t words = bigrams->words, slots = work->result->clusters + 1;
    work->node = tr_alloc(slots, sizeof *work->node);
    work->head = tr_alloc(slots, sizeof *work->head);
    work->right = tr_alloc(slots, sizeof *work->right);
    work->left = tr_alloc(slots, sizeof *work->left);
    work->parent = tr_alloc(words, sizeof *work->parent);
    work->slot = tr_alloc(words, sizeof *work->slot);
    work->result->merges = tr_alloc(words, sizeof *work->result->merges);
    if (!work->node || !work->head || !work->right || !work->left || !work->parent || !work->slot ||
        !work->result->merges) {
        return tr_fail_memory(error);
    }
    for (uint32_t word = 0; word < words; word++) {
        work->parent[word] = word;
        work->slot[word] = TR_NONE;
    }
    return tr_window_create(&work->window, slots, bigrams->tokens, pool, error);
}

static void work_free(struct work *work)
{
    tr_window_free(&work->window);
    free(work->node);
    free(work->head);
    free(work->right);
    free(work->left);
    free(work->parent);
    free(work->slot);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* A node of the tree, and its path. */
struct visit {
    uint32_t node;
    size_t begin, size;
};

/* Visits the tree depth first, the child 0 first, so that words are listed in the order of their
 * paths. */
static trellis_status set_paths(struct trellis_clusters *clusters, trellis_error *error)
{
    uint32_t words = clusters->bigrams.words;
    size_t first_inner = words + (words - clusters->clusters); // nodes below are in one cluster
    TR_ARRAY(struct visit) stack = {0};
    size_t listed = 0;
    bool done = tr_push(&stack, ((struct visit){2 * words - 2, 0, 0}));
    while (done && stack.size) {
        struct visit at = stack.at[--stack.size];
        if (at.node < words) {
            clusters->order[listed++] = at.node;
            clusters->path_begin[at.node] = at.begin;
            clusters->path_size[at.node] = at.size;
            continue;
        }
        struct visit child[2] = {at, at};
        const struct tr_merge *merge = &clusters->merges[at.node - words];
        child[0].node = merge->first;
        child[1].node = merge->second;
        for (size_t k = 0; k < 2 && at.node >= first_inner; k++) {
            child[k].begin = clusters->paths.size;
            child[k].size = at.size + 1;
            for (size_t i = 0; i < at.size && !clusters->paths.failed; i++) {
                tr_buffer_char(&clusters->paths, clusters->paths.data[at.begin + i]);
            }
            tr_buffer_char(&clusters->paths, k ? '1' : '0');
        }
        done = !clusters->paths.failed && tr_push(&stack, child[1]) && tr_push(&stack, child[0]);
    }
    free(stack.at);
    return done ? TRELLIS_OK : tr_fail_memory(error);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the words of each cluster by decreasing frequency, which is the order of their numbers. */
static void sort_words(struct trellis_clusters *clusters)
{
    size_t words = clusters->bigrams.words;
    for (size_t begin = 0, end; begin < words; begin = end) {
        size_t path = clusters->path_begin[clusters->order[begin]];
        for (end = begin; end < words && clusters->path_begin[clusters->order[end]] == path;
             end++) {}
        qsort(clusters->order + begin, end - begin, sizeof *clusters->order, by_number);
    }
}

static trellis_status make_paths(struct trellis_clusters *clusters, trellis_error *error)
{
    size_t words = clusters->bigrams.words;
    clusters->order = tr_alloc(words, sizeof *clusters->order);
    clusters->path_begin = tr_alloc(words, sizeof *clusters->path_begin);
    clusters->path_size = tr_alloc(words, sizeof *clusters->path_size);
    if (!clusters->order || !clusters->path_begin || !clusters->path_size) {
        return tr_fail_memory(error);
    }
    trellis_status status = set_paths(clusters, error);
    if (!status) {
        sort_words(clusters);
    }
    return status;
}

/* ---- the public interface -------------------------------------------------------------------- */

static trellis_status check_words(const struct tr_bigrams *bigrams, const trellis_options *options,
                                  trellis_error *error)
{
    if (bigrams->words < 2) {
        return tr_fail(error, TRELLIS_DATA,
                       "there is nothing to cluster: the text has %llu tokens and %u word%s that "
                       "occur%s at least %lld times",
                       (unsigned long long)bigrams->tokens, bigrams->words,
                       bigrams->words == 1 ? "" : "s", bigrams->words == 1 ? "s" : "",
                       (long long)tr_option_integer(options, "min-count"));
    }
    if (bigrams->words > UINT32_MAX / 2) {
        return tr_fail(error, TRELLIS_LIMIT, "there are more than %u words to cluster",
                       UINT32_MAX / 2);
    }
    return TRELLIS_OK;
}

trellis_status trellis_cluster(const trellis_options *options, size_t clusters,
                               const char *const *paths, size_t path_count,
                               trellis_progress_function progress, void *user,
                               trellis_clusters **ret_clusters, trellis_error *error)
{
    if (!TR_CLEAR(ret_clusters) || (!paths && path_count > 0)) {
        return tr_fail_null(error, __func__);
    }
    if (clusters < 2 || clusters > MAX_CLUSTERS) {
        return tr_fail(error, TRELLIS_OPTION,
                       "the number of clusters is %zu, but must be from 2 to %d", clusters,
                       MAX_CLUSTERS);
    }
    struct tr_pool *pool = NULL;
    struct trellis_clusters *result = tr_alloc(1, sizeof *result);
    struct work work = {.result = result, .progress = progress, .user = user};
    clock_gettime(CLOCK_MONOTONIC, &work.begun);
    trellis_status status = result ? tr_pool_create_for(options, &pool, error)
                                   : tr_fail_memory(error);
    if (!status) {
        status = tr_bigrams_read(&result->bigrams, options, paths, path_count, report_reading,
                                 &work, error);
    }
    if (!status) {
        status = check_words(&result->bigrams, options, error);
    }
    if (!status) {
        result->clusters = clusters < result->bigrams.words ? clusters : result->bigrams.words;
        status = work_create(&work, pool, error);
    }
    if (!status) {
        status = merge_all(&work, error);
    }
    if (!status) {
        status = make_paths(result, error);
    }
    work_free(&work);
    tr_pool_destroy(pool);
    if (status) {
        trellis_clusters_destroy(result);
    } else {
        *ret_clusters = result;
    }
    return status;
}

void trellis_clusters_destroy(trellis_clusters *clusters)
{
    if (clusters) {
        tr_bigrams_free(&clusters->bigrams);
        tr_buffer_free(&clusters->paths);
        free(clusters->merges);
        free(clusters->order);
        free(clusters->path_begin);
        free(clusters->path_size);
    }
    free(clusters);
}

void trellis_clusters_describe(const trellis_clusters *clusters, trellis_clusters_info *ret_info)
{
    if (!clusters || !ret_info) {
        return;
    }
    const trellis_clusters_info info = {
        .tokens = clusters->bigrams.tokens,
        .words = clusters->bigrams.words,
        .clusters = clusters->clusters,
        .information = clusters->information,
    };
    tr_struct_give(&info, sizeof info, ret_info);
}

bool trellis_clusters_word(const trellis_clusters *clusters, size_t index,
                           trellis_clustered_word *ret_word)
{
    if (!clusters || !ret_word) {
        return false;
    }
    if (index >= clusters->bigrams.words) {
        return false;
    }
    uint32_t word = clusters->order[index];
    const trellis_clustered_word found = {
        .word = tr_intern_text(&clusters->bigrams.texts, clusters->bigrams.text[word]),
        .path = {clusters->paths.data + clusters->path_begin[word], clusters->path_size[word]},
        .count = clusters->bigrams.count[word],
    };
    return tr_struct_give(&found, sizeof found, ret_word);
}

trellis_status trellis_clusters_write(const trellis_clusters *clusters, trellis_sink sink,
                                      void *user, trellis_error *error)
{
    if (!clusters || !sink) {
        return tr_fail_null(error, __func__);
    }
    enum { ENOUGH = 1 << 16 };
    struct tr_buffer buffer = {0};
    trellis_clustered_word word = {.struct_size = sizeof word};
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && trellis_clusters_word(clusters, i, &word); i++) {
        tr_buffer_text(&buffer, word.path);
        tr_buffer_char(&buffer, '\t');
        tr_buffer_text(&buffer, word.word);
        tr_buffer_format(&buffer, "\t%llu\n", (unsigned long long)word.count);
        if (buffer.size > ENOUGH) {
            status = tr_buffer_flush(&buffer, sink, user, error);
        }
    }
    if (!status) {
        status = tr_buffer_flush(&buffer, sink, user, error);
    }
    tr_buffer_free(&buffer);
    return status;
}

const struct tr_merge *tr_clusters_merges(const trellis_clusters *clusters)
{
    return clusters->merges;
}

const struct tr_bigrams *tr_clusters_bigrams(const trellis_clusters *clusters)
{
    return &clusters->bigrams;
}

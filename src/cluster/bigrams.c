/* bigrams.c - the words of a text by decreasing frequency, and their bigrams. */
#include "cluster/bigrams.h"

#include "base/options.h"
#include "corpus/corpus.h"

enum { SEQUENCES_BETWEEN_WATCHES = 1024 };

struct stream {
    TR_ARRAY(uint32_t) words; // of the text in order: numbers in texts, later ranks; TR_NONE
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool fits_in_a_line(trellis_text word)
{
    return word.size && !memchr(word.data, '\t', word.size) && !memchr(word.data, '\n', word.size);
}

static trellis_status add_words(struct tr_bigrams *bigrams, struct stream *stream,
                                const trellis_sequence *sequence, size_t column,
                                trellis_error *error)
{
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + column];
        uint32_t number = TR_NONE;
        if (stream->words.size >= UINT32_MAX) {
            return tr_fail(error, TRELLIS_LIMIT, "the text has more than %u words", UINT32_MAX);
        }
        if (fits_in_a_line(word)) {
            number = tr_intern_add(&bigrams->texts, word);
            if (number == TR_NONE) {
                return tr_fail_memory(error);
            }
        }
        if (!tr_push(&stream->words, number)) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

/* The column of the words. A single column has words, whatever --label says. */
static size_t word_column(const trellis_reader *reader, const trellis_sequence *sequence)
{
    size_t column = tr_reader_word_column(reader, trellis_reader_label_column(reader));
    return column == SIZE_MAX && sequence->columns == 1 ? 0 : column;
}

static trellis_status read_file(struct tr_bigrams *bigrams, struct stream *stream,
                                const trellis_options *options, const char *path,
                                bool (*watch)(void *user), void *user, trellis_error *error)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    size_t sequences = 0;
    trellis_status status = trellis_reader_open(path, options, &reader, error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        size_t column = word_column(reader, sequence);
        if (sequence->length && column >= sequence->columns) {
            status = tr_fail_at(error, TRELLIS_DATA, (struct tr_place){path, sequence->line, 0},
                                "there is no column of words");
        } else if (sequences++ % SEQUENCES_BETWEEN_WATCHES == 0 && !watch(user)) {
            status = tr_fail(error, TRELLIS_INTERRUPTED, "interrupted");
        } else {
            status = add_words(bigrams, stream, sequence, column, error);
        }
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct ranked {
    uint32_t number, count;
};

static int by_decreasing_count(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Renumbers the words by decreasing frequency; ties in the order of the text. */
static trellis_status rank_words(struct tr_bigrams *bigrams, struct stream *stream,
                                 uint64_t min_count, trellis_error *error)
{
    size_t types = tr_intern_count(&bigrams->texts);
    struct ranked *ranked = tr_alloc(types, sizeof *ranked);
    uint32_t *rank = tr_alloc(types, sizeof *rank);
    bigrams->text = tr_alloc(types, sizeof *bigrams->text);
    bigrams->count = tr_alloc(types, sizeof *bigrams->count);
    trellis_status status = ranked && rank && bigrams->text && bigrams->count
                                ? TRELLIS_OK
                                : tr_fail_memory(error);
    if (!status) {
        for (uint32_t i = 0; i < types; i++) {
            ranked[i].number = i;
            rank[i] = TR_NONE;
        }
        for (size_t i = 0; i < stream->words.size; i++) {
            if (stream->words.at[i] != TR_NONE) {
                ranked[stream->words.at[i]].count++;
            }
        }
        qsort(ranked, types, sizeof *ranked, by_decreasing_count);
        for (uint32_t i = 0; i < types && ranked[i].count >= min_count; i++) {
            bigrams->text[i] = ranked[i].number;
            bigrams->count[i] = ranked[i].count;
            rank[ranked[i].number] = i;
            bigrams->words = i + 1;
        }
        for (size_t i = 0; i < stream->words.size; i++) {
            if (stream->words.at[i] != TR_NONE) {
                stream->words.at[i] = rank[stream->words.at[i]];
            }
        }
    }
    free(ranked);
    free(rank);
    return status;
}

/* ---- neighbours ------------------------------------------------------------------------------ */

/* Turns the sizes of groups in begin[1 ..] into their starts, shifted by one: once group g has been
 * filled at begin[g + 1]++, its bounds are begin[g] and begin[g + 1]. */
static void starts_of_groups(size_t *begin, size_t groups)
{
    size_t sum = 0;
    for (size_t g = 0; g < groups; g++) {
        size_t size = begin[g + 1];
        begin[g + 1] = sum;
        sum += size;
    }
}

/* The words that follow each word, with repetitions, by increasing number: a radix sort of the
 * bigrams by their second word, then by their first. */
static uint32_t *followers(const struct tr_bigrams *bigrams, const struct stream *stream,
                           size_t *begin)
{
    size_t words = bigrams->words, bigram_count = 0;
    const uint32_t *text = stream->words.at;
    size_t *second_begin = tr_alloc(words + 1, sizeof *second_begin);
    uint32_t *first = NULL, *result = NULL;
    for (size_t i = 0; second_begin && i + 1 < stream->words.size; i++) {
        if (text[i] != TR_NONE && text[i + 1] != TR_NONE) {
            begin[text[i] + 1]++;
            second_begin[text[i + 1] + 1]++;
            bigram_count++;
        }
    }
    if (second_begin) {
        first = tr_alloc(bigram_count, sizeof *first);
        result = tr_alloc(bigram_count, sizeof *result);
    }
    if (first && result) {
        starts_of_groups(begin, words);
        starts_of_groups(second_begin, words);
        for (size_t i = 0; i + 1 < stream->words.size; i++) {
            if (text[i] != TR_NONE && text[i + 1] != TR_NONE) {
                first[second_begin[text[i + 1] + 1]++] = text[i];
            }
        }
        for (uint32_t second = 0; second < words; second++) {
            for (size_t k = second_begin[second]; k < second_begin[second + 1]; k++) {
                result[begin[first[k] + 1]++] = second;
            }
        }
    } else {
        free(result);
        result = NULL;
    }
    free(second_begin);
    free(first);
    return result;
}

/* Counts runs of the same follower; updates `begin`. */
static bool count_runs(struct tr_neighbours *right, const uint32_t *followers, size_t words)
{
    size_t runs = 0;
    for (size_t w = 0; w < words; w++) {
        for (size_t k = right->begin[w]; k < right->begin[w + 1]; k++) {
            runs += k == right->begin[w] || followers[k] != followers[k - 1];
        }
    }
    right->at = tr_alloc(runs, sizeof *right->at);
    if (!right->at) {
        return false;
    }
    size_t used = 0, from = 0;
    for (size_t w = 0; w < words; w++) {
        size_t end = right->begin[w + 1], start = used;
        for (size_t k = from; k < end; k++) {
            if (used == start || right->at[used - 1].word != followers[k]) {
                right->at[used++] = (struct tr_neighbour){followers[k], 0};
            }
            right->at[used - 1].count++;
        }
        from = end;
        right->begin[w] = start;
    }
    right->begin[words] = used;
    return true;
}

static bool transpose(const struct tr_neighbours *right, struct tr_neighbours *left, size_t words)
{
    size_t count = right->begin[words];
    left->begin = tr_alloc(words + 1, sizeof *left->begin);
    left->at = tr_alloc(count, sizeof *left->at);
    if (!left->begin || !left->at) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        left->begin[right->at[k].word + 1]++;
    }
    starts_of_groups(left->begin, words);
    for (uint32_t w = 0; w < words; w++) {
        for (size_t k = right->begin[w]; k < right->begin[w + 1]; k++) {
            left->at[left->begin[right->at[k].word + 1]++] = (struct tr_neighbour){
                w, right->at[k].count};
        }
    }
    return true;
}

static trellis_status count_bigrams(struct tr_bigrams *bigrams, const struct stream *stream,
                                    trellis_error *error)
{
    size_t words = bigrams->words;
    uint32_t *behind = NULL;
    bigrams->right.begin = tr_alloc(words + 1, sizeof *bigrams->right.begin);
    if (bigrams->right.begin) {
        behind = followers(bigrams, stream, bigrams->right.begin);
    }
    bool done = behind && count_runs(&bigrams->right, behind, words) &&
                transpose(&bigrams->right, &bigrams->left, words);
    free(behind);
    return done ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_bigrams_read(struct tr_bigrams *bigrams, const trellis_options *options,
                               const char *const *paths, size_t path_count,
                               bool (*watch)(void *user), void *user, trellis_error *error)
{
    struct stream stream = {0};
    trellis_status status = TRELLIS_OK;
    *bigrams = (struct tr_bigrams){0};
    for (size_t i = 0; !status && i < path_count; i++) {
        status = read_file(bigrams, &stream, options, paths[i], watch, user, error);
    }
    bigrams->tokens = stream.words.size;
    if (!status) {
        status = rank_words(bigrams, &stream, (uint64_t)tr_option_integer(options, "min-count"),
                            error);
    }
    if (!status) {
        status = count_bigrams(bigrams, &stream, error);
    }
    free(stream.words.at);
    return status;
}

void tr_bigrams_free(struct tr_bigrams *bigrams)
{
    tr_intern_free(&bigrams->texts);
    free(bigrams->text);
    free(bigrams->count);
    free(bigrams->right.begin);
    free(bigrams->right.at);
    free(bigrams->left.begin);
    free(bigrams->left.at);
}

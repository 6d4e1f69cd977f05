/* tag_dictionary.c - a tag dictionary: the labels that a word may have. */
#include "dataset/tag_dictionary.h"

#include "base/hash.h"
#include "base/input.h"
#include "base/ranks.h"
#include "dataset/dataset.h"

enum { HEAD = 16 };

static uint64_t hash_of(trellis_text word)
{
    return tr_hash64(word.data, word.size);
}

/* ---- lookup ---------------------------------------------------------------------------------- */

trellis_text tr_tag_dictionary_text(const struct tr_tag_dictionary *dictionary, uint32_t entry)
{
    uint32_t begin = dictionary->text_begin[entry];
    return (trellis_text){dictionary->texts + begin, dictionary->text_begin[entry + 1] - begin};
}

size_t tr_tag_dictionary_labels(const struct tr_tag_dictionary *dictionary, uint32_t entry,
                                const uint16_t **ret_labels)
{
    uint32_t begin = dictionary->label_begin[entry];
    *ret_labels = dictionary->labels + begin;
    return dictionary->label_begin[entry + 1] - begin;
}

bool tr_tag_dictionary_allows(const struct tr_tag_dictionary *dictionary, uint32_t entry,
                              uint16_t label)
{
    const uint16_t *labels;
    size_t count = tr_tag_dictionary_labels(dictionary, entry, &labels);
    for (size_t i = 0; i < count; i++) {
        if (labels[i] == label) {
            return true;
        }
    }
    return false;
}

uint32_t tr_tag_dictionary_find(const struct tr_tag_dictionary *dictionary, trellis_text word)
{
    if (dictionary->words == 0) {
        return TR_NONE;
    }
    /* The first entry that is not below the hash: a binary search without a branch to
     * mispredict. */
    uint64_t hash = hash_of(word);
    const uint64_t *first = dictionary->hash;
    for (size_t n = dictionary->words; n > 1; n -= n / 2) {
        first += first[n / 2 - 1] < hash ? n / 2 : 0;
    }
    uint32_t entry = (uint32_t)(first - dictionary->hash) + (*first < hash);
    for (; entry < dictionary->words && dictionary->hash[entry] == hash; entry++) {
        if (tr_text_equal(tr_tag_dictionary_text(dictionary, entry), word)) {
            return entry;
        }
    }
    return TR_NONE;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Starts at 0, ends at `end`, and each step is at least `min_step`. */
static bool is_index(const uint32_t *begin, uint32_t count, uint32_t min_step, uint32_t end)
{
    for (uint32_t i = 0; i < count; i++) {
        if (begin[i + 1] < begin[i] || begin[i + 1] - begin[i] < min_step) {
            return false;
        }
    }
    return begin[0] == 0 && begin[count] == end;
}

static bool is_valid_entry(const struct tr_tag_dictionary *dictionary, uint32_t entry,
                           uint32_t label_count)
{
    const uint16_t *labels;
    size_t count = tr_tag_dictionary_labels(dictionary, entry, &labels);
    for (size_t i = 0; i < count; i++) {
        if (labels[i] >= label_count || (i > 0 && labels[i] <= labels[i - 1])) {
            return false;
        }
    }
    return (entry == 0 || dictionary->hash[entry] >= dictionary->hash[entry - 1]) &&
           dictionary->hash[entry] == hash_of(tr_tag_dictionary_text(dictionary, entry));
}

bool tr_tag_dictionary_read(const void *data, size_t size, uint32_t label_count,
                            struct tr_tag_dictionary *ret_dictionary)
{
    uint32_t head[4];
    *ret_dictionary = (struct tr_tag_dictionary){0};
    if (size < HEAD) {
        return false;
    }
    memcpy(head, data, sizeof head);
    uint64_t words = head[0], labels = head[1], bytes = head[2];
    if (size != HEAD + 8 * words + 2 * 4 * (words + 1) + 2 * labels + bytes) {
        return false;
    }
    struct tr_tag_dictionary dictionary = {.words = head[0]};
    const char *at = (const char *)data + HEAD;
    dictionary.hash = (const uint64_t *)at;
    dictionary.label_begin = (const uint32_t *)(at += 8 * words);
    dictionary.text_begin = (const uint32_t *)(at += 4 * (words + 1));
    dictionary.labels = (const uint16_t *)(at += 4 * (words + 1));
    dictionary.texts = at + 2 * labels;
    if (!is_index(dictionary.label_begin, head[0], 1, head[1]) ||
        !is_index(dictionary.text_begin, head[0], 0, head[2])) {
        return false;
    }
    for (uint32_t entry = 0; entry < dictionary.words; entry++) {
        if (!is_valid_entry(&dictionary, entry, label_count)) {
            return false;
        }
    }
    *ret_dictionary = dictionary;
    return true;
}

/* ---- building -------------------------------------------------------------------------------- */

bool tr_tag_dictionary_add(struct tr_tag_dictionary_builder *builder, trellis_text word,
                           uint16_t label)
{
    uint32_t number = tr_intern_add(&builder->words, word);
    return number != TR_NONE && tr_push(&builder->pairs, (struct tr_word_label){number, label});
}

void tr_tag_dictionary_builder_free(struct tr_tag_dictionary_builder *builder)
{
    tr_intern_free(&builder->words);
    free(builder->pairs.at);
    *builder = (struct tr_tag_dictionary_builder){0};
}

static int by_word(const void *a, const void *b)
{
    const struct tr_word_label *x = a, *y = b;
    return x->word != y->word ? (x->word > y->word) - (x->word < y->word)
                              : (x->label > y->label) - (x->label < y->label);
}

/* A word to be written: where its labels are among the sorted pairs. */
struct dictionary_word {
    uint64_t hash;
    uint32_t word;
    size_t begin, end;
};

static int by_hash(const void *a, const void *b)
{
    const struct dictionary_word *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->word > y->word) - (x->word < y->word);
}

static void put_u32(struct tr_buffer *block, size_t number)
{
    uint32_t value = (uint32_t)number;
    tr_buffer_add(block, (const char *)&value, sizeof value);
}

/* The arrays of the block, one after the other. */
static void put_words(const struct tr_tag_dictionary_builder *builder,
                      const struct dictionary_word *words, size_t count, struct tr_buffer *block)
{
    size_t labels = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        tr_buffer_add(block, (const char *)&words[i].hash, sizeof words[i].hash);
    }
    put_u32(block, 0);
    for (size_t i = 0; i < count; i++) {
        put_u32(block, labels += words[i].end - words[i].begin);
    }
    put_u32(block, 0);
    for (size_t i = 0; i < count; i++) {
        put_u32(block, bytes += tr_intern_text(&builder->words, words[i].word).size);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = words[i].begin; k < words[i].end; k++) {
            uint16_t label = builder->pairs.at[k].label;
            tr_buffer_add(block, (const char *)&label, sizeof label);
        }
    }
    for (size_t i = 0; i < count; i++) {
        tr_buffer_text(block, tr_intern_text(&builder->words, words[i].word));
    }
}

/* Sorts the pairs and removes duplicates. */
static void sort_pairs(struct tr_tag_dictionary_builder *builder)
{
    struct tr_word_label *pairs = builder->pairs.at;
    size_t kept = 0;
    if (builder->pairs.size) {
        qsort(pairs, builder->pairs.size, sizeof *pairs, by_word);
    }
    for (size_t i = 0; i < builder->pairs.size; i++) {
        if (kept == 0 || by_word(&pairs[i], &pairs[kept - 1]) != 0) {
            pairs[kept++] = pairs[i];
        }
    }
    builder->pairs.size = kept;
}

trellis_status tr_tag_dictionary_write(struct tr_tag_dictionary_builder *builder,
                                       struct tr_buffer *block, trellis_error *error)
{
    sort_pairs(builder);
    size_t pairs = builder->pairs.size, count = 0, bytes = 0;
    struct dictionary_word *words = tr_alloc(tr_intern_count(&builder->words), sizeof *words);
    if (!words) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0, end; i < pairs; i = end) {
        uint32_t word = builder->pairs.at[i].word;
        for (end = i + 1; end < pairs && builder->pairs.at[end].word == word; end++) {}
        trellis_text text = tr_intern_text(&builder->words, word);
        words[count++] = (struct dictionary_word){hash_of(text), word, i, end};
        bytes += text.size;
    }
    if (pairs >= UINT32_MAX || bytes >= UINT32_MAX) {
        free(words);
        return tr_fail(error, TRELLIS_LIMIT, "the tag dictionary is larger than 4 GB");
    }
    if (count) {
        qsort(words, count, sizeof *words, by_hash);
    }
    put_u32(block, count);
    put_u32(block, pairs);
    put_u32(block, bytes);
    put_u32(block, 0); // reserved
    put_words(builder, words, count, block);
    free(words);
    return block->failed ? tr_fail_memory(error) : TRELLIS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The labels that a file may use; with `new` any label, which is added there. */
struct label_finder {
    const struct tr_intern *labels;
    uint32_t count;
    struct tr_intern *new;
};

static trellis_status find_label(const struct label_finder *finder, trellis_text label,
                                 trellis_text word, struct tr_place place, uint32_t *ret_number,
                                 trellis_error *error)
{
    uint32_t number = finder->new ? tr_intern_add(finder->new, label)
                                  : tr_intern_find(finder->labels, label);
    *ret_number = number;
    if (finder->new && (number == TR_NONE || number >= TR_MAX_LABELS)) {
        return number == TR_NONE ? tr_fail_memory(error)
                                 : tr_fail_at(error, TRELLIS_LIMIT, place,
                                              "more than %d different labels", TR_MAX_LABELS);
    }
    return finder->new || number < finder->count
               ? TRELLIS_OK
               : tr_fail_at(error, TRELLIS_DATA, place,
                            "the label '%.*s' of the word '%.*s' does not occur in the training "
                            "data",
                            TR_SHOW(label), TR_SHOW(word));
}

/* `word<tab>label label ...` */
static trellis_status parse_line(struct tr_tag_dictionary_builder *builder, trellis_text line,
                                 struct tr_place place, const struct label_finder *finder,
                                 trellis_error *error)
{
    const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
    trellis_text word = {line.data, tab ? (size_t)(tab - line.data) : line.size};
    trellis_text rest = {line.data + word.size, line.size - word.size};
    size_t count = 0;
    for (trellis_text label; (label = tr_text_word(&rest)).size > 0; count++) {
        uint32_t number;
        trellis_status status = find_label(finder, label, word, place, &number, error);
        if (!status && !tr_tag_dictionary_add(builder, word, (uint16_t)number)) {
            status = tr_fail_memory(error);
        }
        if (status) {
            return status;
        }
    }
    return count ? TRELLIS_OK
                 : tr_fail_at(error, TRELLIS_FORMAT, place,
                              "expected a word, a tab and the labels of the word, separated by "
                              "blanks");
}

static trellis_status parse_file(struct tr_tag_dictionary_builder *builder, const char *path,
                                 const trellis_options *options, const struct label_finder *finder,
                                 trellis_error *error)
{
    struct tr_input *input = NULL;
    trellis_text line;
    trellis_status status = tr_input_open_file(path, options, &input, error);
    while (!status && !(status = tr_input_line(input, &line, error))) {
        if (line.size) {
            status = parse_line(builder, line, tr_input_place(input), finder, error);
        }
    }
    tr_input_close(input);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

trellis_status tr_tag_dictionary_load(struct tr_tag_dictionary_builder *builder, const char *path,
                                      const trellis_options *options,
                                      const struct tr_intern *labels, uint32_t label_count,
                                      trellis_error *error)
{
    return parse_file(builder, path, options, &(struct label_finder){labels, label_count, NULL},
                      error);
}

trellis_status tr_tag_dictionary_read_labels(const char *path, const trellis_options *options,
                                             struct tr_intern *labels, trellis_error *error)
{
    struct tr_tag_dictionary_builder builder = {0};
    trellis_status status = parse_file(&builder, path, options,
                                       &(struct label_finder){.new = labels}, error);
    tr_tag_dictionary_builder_free(&builder);
    return status;
}

/* ---- corpora --------------------------------------------------------------------------------- */

/* Where the labels of each word begin in one array for all [words + 1]. A token has more than one
 * if its label is open. */
static uint64_t *word_offsets(const struct tr_dataset *dataset, size_t words)
{
    uint64_t *offset = tr_alloc(words + 1, sizeof *offset);
    for (size_t t = 0; offset && t < dataset->tokens; t++) {
        const uint16_t *labels;
        offset[dataset->entry.at[t] + 1] += tr_dataset_open(dataset, t, &labels);
    }
    for (size_t i = 0; offset && i < words; i++) {
        offset[i + 1] += offset[i];
    }
    return offset;
}

/* Adds the pairs of all ranks, which number the words alike. */
static trellis_status add_pairs_of_ranks(struct tr_tag_dictionary_builder *builder,
                                         const struct tr_intern *words, struct tr_ranks *ranks,
                                         uint32_t *pairs, size_t size, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        bool mine = r == ranks->rank;
        uint32_t *given = mine ? pairs : NULL;
        size_t count = mine ? size : 0;
        bool ok = true;
        status = tr_ranks_give(ranks, r, &given, &count, error);
        for (size_t i = 0; !status && ok && i < count; i += 2) {
            ok = tr_tag_dictionary_add(builder, tr_intern_text(words, given[i]),
                                       (uint16_t)given[i + 1]);
        }
        status = tr_ranks_agree(ranks, !status && !ok ? tr_fail_memory(error) : status, error);
        if (!mine) {
            free(given);
        }
    }
    return status;
}

trellis_status tr_tag_dictionary_learn(struct tr_tag_dictionary_builder *builder,
                                       const struct tr_dataset *dataset,
                                       const struct tr_intern *words, uint64_t min_count,
                                       struct tr_ranks *ranks, trellis_error *error)
{
    size_t count = tr_intern_count(words);
    uint64_t *offset = word_offsets(dataset, count);
    uint64_t *filled = tr_alloc(count, sizeof *filled);
    uint64_t *seen = tr_alloc(count, sizeof *seen); // tokens with a label
    TR_ARRAY(uint32_t) pairs = {0};                 // of a word and a label, where there are ranks
    uint16_t *labels = offset ? tr_alloc(offset[count], sizeof *labels) : NULL;
    uint32_t *stamp = tr_alloc(dataset->label_count, sizeof *stamp); // word + 1 that has the label
    bool ok = offset && filled && seen && labels && stamp;
    for (size_t t = 0; ok && t < dataset->tokens; t++) {
        uint32_t word = dataset->entry.at[t];
        const uint16_t *open;
        size_t n = tr_dataset_open(dataset, t, &open);
        for (size_t i = 0; i < n; i++) {
            labels[offset[word] + filled[word]++] = open[i];
        }
        seen[word] += n > 0;
    }
    ok = ok && tr_reserve(&pairs, 1);
    trellis_status status = ok ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && ranks) {
        status = tr_ranks_sum_integers(ranks, seen, count, error);
        ok = !status;
    }
    for (uint32_t word = 0; ok && word < count; word++) {
        bool enough = seen[word] >= min_count;
        for (uint64_t k = offset[word]; ok && enough && k < offset[word + 1]; k++) {
            if (stamp[labels[k]] != word + 1) {
                stamp[labels[k]] = word + 1;
                ok = ranks ? tr_push(&pairs, word) && tr_push(&pairs, labels[k])
                           : tr_tag_dictionary_add(builder, tr_intern_text(words, word), labels[k]);
            }
        }
    }
    status = status || ok ? status : tr_fail_memory(error);
    if (!status && ranks) {
        status = add_pairs_of_ranks(builder, words, ranks, pairs.at, pairs.size, error);
    }
    free(offset);
    free(filled);
    free(seen);
    free(labels);
    free(stamp);
    free(pairs.at);
    return status;
}

/* Whether a word may have one of the labels; no labels mean any. */
static bool allows_some(const struct tr_tag_dictionary *dictionary, uint32_t entry,
                        const uint16_t *labels, size_t count)
{
    bool some = count == 0 || entry == TR_NONE;
    for (size_t i = 0; !some && i < count; i++) {
        some = tr_tag_dictionary_allows(dictionary, entry, labels[i]);
    }
    return some;
}

/* The gold labels must be allowed for their words, else they have probability 0. */
static trellis_status check_gold(const struct tr_tag_dictionary *dictionary,
                                 const struct tr_dataset *dataset, trellis_error *error)
{
    for (size_t s = 0; s < dataset->sequences; s++) {
        for (size_t t = dataset->sequence.at[s]; t < dataset->sequence.at[s + 1]; t++) {
            uint32_t entry = dataset->entry.at[t];
            const uint16_t *labels;
            size_t count = tr_dataset_open(dataset, t, &labels);
            if (!allows_some(dictionary, entry, labels, count)) {
                return tr_fail(
                    error, TRELLIS_DATA,
                    "sequence %zu of the training data, token %zu, '%.*s': the tag dictionary "
                    "does not list its gold label '%.*s'",
                    dataset->first + s + 1, t - dataset->sequence.at[s] + 1,
                    TR_SHOW(tr_tag_dictionary_text(dictionary, entry)),
                    TR_SHOW(tr_intern_text(&dataset->labels, labels[0])));
            }
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_tag_dictionary_apply(const struct tr_tag_dictionary *dictionary,
                                       struct tr_dataset *dataset, const struct tr_intern *words,
                                       trellis_error *error)
{
    size_t count = tr_intern_count(words);
    uint32_t *entry = tr_alloc(count, sizeof *entry);
    if (!entry) {
        return tr_fail_memory(error);
    }
    for (uint32_t word = 0; word < count; word++) {
        entry[word] = tr_tag_dictionary_find(dictionary, tr_intern_text(words, word));
    }
    for (size_t t = 0; t < dataset->tokens; t++) {
        dataset->entry.at[t] = entry[dataset->entry.at[t]];
    }
    free(entry);
    return check_gold(dictionary, dataset, error);
}

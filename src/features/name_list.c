/* name_list.c - a list of names of several words, searched by the words they have. */
#include "features/name_list.h"

#include "base/hash.h"
#include "base/input.h"
#include "base/memory.h"
#include "features/compiled.h"
#include "features/tables.h"

/* ---- searching ------------------------------------------------------------------------------- */

struct tr_name_list tr_name_list_view(trellis_text table)
{
    const struct tr_name_list none = {0};
    if (table.size < 24) {
        return none;
    }
    uint64_t words = tr_u64_at(table.data, 0), names = tr_u64_at(table.data, 1),
             postings = tr_u64_at(table.data, 2), left = table.size - 24;
    if (words > left / 12 || postings > left / 4 || names > left / 4 ||
        words * 12 + postings * 4 + names * 4 != left) {
        return none;
    }
    struct tr_name_list view = {
        (size_t)words, (size_t)names, (size_t)postings, table.data + 24, 0, 0, 0};
    view.first = view.hash + 8 * view.words;
    view.name = view.first + 4 * view.words;
    view.size = view.name + 4 * view.postings;
    return view;
}

size_t tr_name_list_find(const struct tr_name_list *names, uint64_t hash)
{
    size_t word = tr_find_hash(names->hash, names->words, hash);
    return word < names->words ? word : SIZE_MAX;
}

size_t tr_name_list_of_word(const struct tr_name_list *names, size_t word, size_t k)
{
    size_t at = tr_u32_at(names->first, word) + k;
    size_t end = word + 1 < names->words ? tr_u32_at(names->first, word + 1) : names->postings;
    if (at >= end || at >= names->postings || k >= TR_MAX_NAMES_OF_WORD) {
        return SIZE_MAX;
    }
    size_t name = tr_u32_at(names->name, at);
    return name < names->names ? name : SIZE_MAX;
}

size_t tr_name_list_size(const struct tr_name_list *names, size_t name)
{
    size_t size = tr_u32_at(names->size, name);
    return size ? size : 1;
}

/* ---- building -------------------------------------------------------------------------------- */

/* A word of a name. */
struct posting {
    uint64_t hash;
    uint32_t name;
};

static int by_word(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    int order = (x->hash > y->hash) - (x->hash < y->hash);
    return order ? order : (x->name > y->name) - (x->name < y->name);
}

struct builder {
    TR_ARRAY(struct posting) postings;
    uint32_t names;
};

static trellis_status add_line(struct builder *builder, const struct tr_input *input,
                               trellis_text line, struct tr_buffer *lower, trellis_error *error)
{
    lower->size = 0;
    tr_lower_text(line, lower);
    trellis_text left = {lower->data, lower->size}, word;
    size_t words = 0;
    bool ok = !lower->failed && builder->postings.size < UINT32_MAX / 2;
    while (ok && words <= TR_MAX_ENTRY_WORDS && (word = tr_text_word(&left)).size) {
        words++;
        ok = tr_push(&builder->postings, (struct posting){tr_hash(word).low, builder->names});
    }
    builder->names += words > 0;
    if (words > TR_MAX_ENTRY_WORDS) {
        return tr_entry_too_long(input, error);
    }
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* Leaves each word of a name once, and no word that too many names have; counts the words. */
static size_t tidy(struct builder *builder, uint32_t *sizes)
{
    struct posting *at = builder->postings.at;
    size_t kept = 0, words = 0, count = builder->postings.size;
    for (size_t i = 0, end; i < count; i = end) {
        size_t first = kept;
        for (end = i; end < count && at[end].hash == at[i].hash; end++) {
            if (end == i || at[end].name != at[end - 1].name) {
                at[kept++] = at[end];
            }
        }
        if (kept - first > TR_MAX_NAMES_OF_WORD) {
            kept = first;
        }
        words += kept > first;
        for (size_t k = first; k < kept; k++) {
            sizes[at[k].name]++;
        }
    }
    builder->postings.size = kept;
    return words;
}

static void write_table(const struct builder *builder, size_t words, const uint32_t *sizes,
                        struct tr_buffer *table)
{
    const struct posting *at = builder->postings.at;
    size_t count = builder->postings.size;
    tr_put_u64(table, words);
    tr_put_u64(table, builder->names);
    tr_put_u64(table, count);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || at[i].hash != at[i - 1].hash) {
            tr_put_u64(table, at[i].hash);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || at[i].hash != at[i - 1].hash) {
            tr_put_u32(table, (uint32_t)i);
        }
    }
    for (size_t i = 0; i < count; i++) {
        tr_put_u32(table, at[i].name);
    }
    for (uint32_t i = 0; i < builder->names; i++) {
        tr_put_u32(table, sizes[i]);
    }
}

trellis_status tr_name_list_load(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error)
{
    struct builder builder = {0};
    struct tr_buffer lower = {0}, table = {0};
    trellis_text line;
    trellis_status status;
    while (!(status = tr_input_line(input, &line, error))) {
        status = add_line(&builder, input, line, &lower, error);
        if (status) {
            break;
        }
    }
    uint32_t *sizes = tr_alloc(builder.names, sizeof *sizes);
    if (status == TRELLIS_END && sizes) {
        if (builder.postings.size) {
            qsort(builder.postings.at, builder.postings.size, sizeof *builder.postings.at, by_word);
        }
        size_t words = tidy(&builder, sizes);
        write_table(&builder, words, sizes, &table);
        resource->owned = table.data;
        resource->data = (trellis_text){table.data, table.size};
        status = table.failed ? tr_fail_memory(error) : TRELLIS_OK;
    } else if (status == TRELLIS_END) {
        status = tr_fail_memory(error);
    }
    free(sizes);
    free(builder.postings.at);
    tr_buffer_free(&lower);
    return status;
}

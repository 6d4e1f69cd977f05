/* resources.c - word lists, clusters and counted words: reading their files, searching their
 * tables. */
#include "features/compiled.h"

#include <unistd.h>

#include "base/input.h"
#include "features/name_list.h"
#include "features/embedding.h"
#include "features/gazetteer.h"
#include "features/tables.h"

/* ---- searching ------------------------------------------------------------------------------- */

bool tr_table_has(trellis_text table, uint64_t hash)
{
    size_t count = table.size / sizeof(uint64_t);
    return tr_find_hash(table.data, count, hash) < count;
}

bool tr_table_path(trellis_text table, uint64_t hash, trellis_text *ret_path)
{
    if (table.size < 16) {
        return false;
    }
    uint64_t words = tr_u64_at(table.data, 0), paths = tr_u64_at(table.data, 1);
    size_t left = table.size - 16;
    if (words > left / 12 || paths > (left - words * 12) / 4) {
        return false;
    }
    const char *hashes = table.data + 16, *path_of = hashes + words * 8,
               *ends = path_of + words * 4;
    const char *bytes = ends + paths * 4;
    size_t byte_count = left - words * 12 - paths * 4;
    size_t word = tr_find_hash(hashes, words, hash);
    if (word == words) {
        return false;
    }
    uint32_t path = tr_u32_at(path_of, word);
    if (path >= paths) {
        return false;
    }
    uint32_t begin = path ? tr_u32_at(ends, path - 1) : 0, end = tr_u32_at(ends, path);
    if (begin > end || end > byte_count) {
        return false;
    }
    *ret_path = (trellis_text){bytes + begin, end - begin};
    return true;
}

/* ---- building -------------------------------------------------------------------------------- */

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

trellis_status tr_resource_set(struct tr_resource *resource, uint64_t *hashes, size_t count,
                               trellis_error *error)
{
    if (count) {
        qsort(hashes, count, sizeof *hashes, compare_hashes);
    }
    uint64_t *table = tr_alloc(count, sizeof *table);
    if (!table) {
        return tr_fail_memory(error);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || hashes[i] != hashes[i - 1]) {
            table[kept++] = htole64(hashes[i]);
        }
    }
    free(resource->owned);
    resource->owned = (char *)table;
    resource->data = (trellis_text){resource->owned, kept * sizeof *table};
    return TRELLIS_OK;
}

trellis_status tr_entry_too_long(const struct tr_input *input, trellis_error *error)
{
    return tr_fail_at(error, TRELLIS_LIMIT, tr_input_place(input), "an entry of more than %d words",
                      TR_MAX_ENTRY_WORDS);
}

static trellis_text trim(trellis_text line)
{
    while (line.size && (line.data[line.size - 1] == ' ' || line.data[line.size - 1] == '\t')) {
        line.size--;
    }
    return line;
}

static trellis_status load_words(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error)
{
    TR_ARRAY(uint64_t) hashes = {0};
    struct tr_buffer lower = {0};
    trellis_text line;
    trellis_status status;
    while (!(status = tr_input_line(input, &line, error))) {
        line = trim(line);
        if (resource->kind == TR_LOWER_WORDS) {
            lower.size = 0;
            tr_lower_text(line, &lower);
            line = (trellis_text){lower.data, lower.size};
        }
        if (lower.failed || (line.size && !tr_push(&hashes, tr_hash(line).low))) {
            status = tr_fail_memory(error);
            break;
        }
    }
    if (status == TRELLIS_END) {
        status = tr_resource_set(resource, hashes.at, hashes.size, error);
    }
    free(hashes.at);
    tr_buffer_free(&lower);
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    const struct tr_table_text *x = a, *y = b;
    int by_hash = (x->hash > y->hash) - (x->hash < y->hash);
    return by_hash ? by_hash : (x->order > y->order) - (x->order < y->order);
}

/* path TAB word TAB count, as Brown clustering writes it, or word TAB cluster. */
static bool split_cluster(trellis_text line, trellis_text *word, trellis_text *path)
{
    const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
    if (!tab) {
        return false;
    }
    size_t first = (size_t)(tab - line.data), left = line.size - first - 1;
    const char *second = left ? memchr(tab + 1, '\t', left) : NULL;
    trellis_text one = {line.data, first}, two = {tab + 1, left};
    if (second) {
        two.size = (size_t)(second - tab - 1);
        *path = one;
        *word = two;
    } else {
        *word = one;
        *path = two;
    }
    return word->size && path->size;
}

trellis_status tr_resource_set_texts(struct tr_resource *resource, struct tr_table_text *entries,
                                     size_t count, const struct tr_intern *texts,
                                     trellis_error *error)
{
    size_t kept = 0, bytes = 0;
    if (count) {
        qsort(entries, count, sizeof *entries, compare_texts);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || entries[i].hash != entries[kept - 1].hash) {
            entries[kept++] = entries[i];
        }
    }
    struct tr_buffer table = {0};
    tr_put_u64(&table, kept);
    tr_put_u64(&table, tr_intern_count(texts));
    for (size_t i = 0; i < kept; i++) {
        tr_put_u64(&table, entries[i].hash);
    }
    for (size_t i = 0; i < kept; i++) {
        tr_put_u32(&table, entries[i].text);
    }
    for (uint32_t i = 0; i < tr_intern_count(texts); i++) {
        bytes += tr_intern_text(texts, i).size;
        tr_put_u32(&table, (uint32_t)bytes);
    }
    for (uint32_t i = 0; i < tr_intern_count(texts); i++) {
        tr_buffer_text(&table, tr_intern_text(texts, i));
    }
    if (table.failed || bytes > UINT32_MAX) {
        tr_buffer_free(&table);
        return tr_fail_memory(error);
    }
    free(resource->owned);
    resource->owned = table.data;
    resource->data = (trellis_text){table.data, table.size};
    return TRELLIS_OK;
}

static trellis_status load_clusters(struct tr_resource *resource, struct tr_input *input,
                                    trellis_error *error)
{
    TR_ARRAY(struct tr_table_text) words = {0};
    struct tr_intern paths = {0};
    trellis_text line, word, path;
    trellis_status status;
    while (!(status = tr_input_line(input, &line, error))) {
        if (trim(line).size == 0) {
            continue;
        }
        if (!split_cluster(line, &word, &path)) {
            status = tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                                "expected path<TAB>word<TAB>count or word<TAB>cluster");
            break;
        }
        struct tr_table_text entry = {tr_hash(word).low, tr_intern_add(&paths, path),
                                      (uint32_t)words.size};
        if (entry.text == TR_NONE || words.size >= UINT32_MAX || !tr_push(&words, entry)) {
            status = tr_fail_memory(error);
            break;
        }
    }
    if (status == TRELLIS_END) {
        status = tr_resource_set_texts(resource, words.at, words.size, &paths, error);
    }
    free(words.at);
    tr_intern_free(&paths);
    return status;
}

/* A relative path is searched beside the templates, then in the current directory. */
static char *locate(const char *name, const char *folder)
{
    struct tr_buffer path = {0};
    if (name[0] != '/' && folder[0]) {
        tr_buffer_string(&path, folder);
        tr_buffer_char(&path, '/');
    }
    tr_buffer_add(&path, name, strlen(name) + 1);
    if (!path.failed && access(path.data, R_OK) == 0) {
        return path.data;
    }
    tr_buffer_free(&path);
    return tr_copy_text(name, strlen(name));
}

/* Reads the table and closes the input, which may be NULL. */
static trellis_status load_lines(struct tr_resource *resource, trellis_status opened,
                                 struct tr_input *input, trellis_error *error)
{
    trellis_status status = opened;
    bool gazetteer = resource->kind == TR_GAZETTEER || resource->kind == TR_LOWER_GAZETTEER;
    if (!status) {
        status = resource->kind == TR_CLUSTERS    ? load_clusters(resource, input, error)
                 : resource->kind == TR_NAMES     ? tr_name_list_load(resource, input, error)
                 : resource->kind == TR_EMBEDDING ? tr_embedding_load(resource, input, error)
                 : gazetteer                      ? tr_gazetteer_load(resource, input, error)
                                                  : load_words(resource, input, error);
    }
    tr_input_close(input);
    return status;
}

trellis_status tr_resource_load(struct tr_resource *resource, const char *folder,
                                const trellis_options *options, trellis_error *error)
{
    char *path = locate(resource->name, folder);
    if (!path) {
        return tr_fail_memory(error);
    }
    struct tr_input *input;
    trellis_status status = tr_input_open_file(path, options, &input, error);
    status = load_lines(resource, status, input, error);
    free(path);
    return status;
}

trellis_status tr_resource_load_bytes(struct tr_resource *resource, const trellis_resource *given,
                                      trellis_error *error)
{
    struct tr_input *input;
    trellis_status status = tr_input_open_bytes(given->data, given->size, given->name, &input,
                                                error);
    return load_lines(resource, status, input, error);
}

void tr_resource_free(struct tr_resource *resource)
{
    free(resource->name);
    free(resource->owned);
}

/* gazetteer.c - lists of names of one or more words: reading them, finding their longest matches. */
#include "features/gazetteer.h"

#include "base/hash.h"
#include "base/intern.h"
#include "features/compiled.h"
#include "features/tables.h"

/* ---- searching ------------------------------------------------------------------------------- */

static uint64_t chain(uint64_t so_far, uint64_t next)
{
    return tr_mix((struct tr_key){so_far, 0}, (struct tr_key){next, 0}).low;
}

static uint32_t end_of(const struct tr_gazetteer *gazetteer, uint32_t type)
{
    return tr_u32_at(gazetteer->ends, type);
}

bool tr_gazetteer_open(trellis_text table, struct tr_gazetteer *ret_gazetteer)
{
    struct tr_gazetteer *g = ret_gazetteer;
    *g = (struct tr_gazetteer){0};
    if (table.size < 16) {
        return false;
    }
    uint64_t types = tr_u64_at(table.data, 0);
    size_t left = table.size - 16;
    if (types == 0 || types > TR_MAX_TYPES || types > left / 4) {
        return false;
    }
    g->types = (uint32_t)types;
    g->longest = tr_u64_at(table.data, 1);
    if (g->longest > TR_MAX_ENTRY_WORDS) {
        return false;
    }
    g->ends = table.data + 16;
    left -= types * 4;
    g->names = (trellis_text){g->ends + types * 4, end_of(g, g->types - 1)};
    if (g->names.size > left) {
        return false;
    }
    g->hashes = (trellis_text){g->names.data + g->names.size, left - g->names.size};
    return true;
}

trellis_text tr_gazetteer_type(const struct tr_gazetteer *gazetteer, uint32_t type)
{
    uint32_t begin = type ? end_of(gazetteer, type - 1) : 0, end = end_of(gazetteer, type);
    return begin <= end && end <= gazetteer->names.size
               ? (trellis_text){gazetteer->names.data + begin, end - begin}
               : TR_TEXT("");
}

/* The number of words in the longest entry that begins here; 0: there is none. */
static size_t longest_match(const struct tr_gazetteer *gazetteer, uint32_t type,
                            const uint64_t *words, size_t count)
{
    size_t found = 0;
    uint64_t so_far = 0;
    for (size_t k = 0; k < count && k < gazetteer->longest && words[k]; k++) {
        so_far = chain(so_far, words[k]);
        if (tr_table_has(gazetteer->hashes, chain(so_far, 1 + (uint64_t)type))) {
            found = k + 1;
        }
        if (!tr_table_has(gazetteer->hashes, so_far)) {
            break;
        }
    }
    return found;
}

void tr_gazetteer_match(const struct tr_gazetteer *gazetteer, uint32_t type, const uint64_t *words,
                        size_t count, char *places)
{
    memset(places, 0, count);
    for (size_t i = 0; i < count;) {
        size_t size = longest_match(gazetteer, type, words + i, count - i);
        if (size == 1) {
            places[i] = 'S';
        } else if (size > 1) {
            memset(places + i, 'I', size);
            places[i] = 'B';
            places[i + size - 1] = 'E';
        }
        i += size ? size : 1;
    }
}

/* ---- building -------------------------------------------------------------------------------- */

struct building {
    TR_ARRAY(uint64_t) hashes;
    struct tr_intern types;
    struct tr_buffer lower;
    uint64_t longest;
    bool fold; // case
};

static uint64_t hash_word(struct building *building, trellis_text word)
{
    if (building->fold) {
        building->lower.size = 0;
        tr_lower_text(word, &building->lower);
        word = (trellis_text){building->lower.data, building->lower.size};
    }
    return tr_gazetteer_word(word);
}

/* The next word of an entry; false at its end. */
static bool next_word(trellis_text *left, trellis_text *ret_word)
{
    while (left->size && (*left->data == ' ' || *left->data == '\t')) {
        left->data++, left->size--;
    }
    size_t size = 0;
    while (size < left->size && left->data[size] != ' ' && left->data[size] != '\t') {
        size++;
    }
    *ret_word = (trellis_text){left->data, size};
    left->data += size;
    left->size -= size;
    return size > 0;
}

static bool add_entry(struct building *building, uint32_t type, trellis_text entry)
{
    uint64_t so_far = 0, words = 0;
    trellis_text word;
    bool ok = true;
    while (ok && words <= TR_MAX_ENTRY_WORDS && next_word(&entry, &word)) {
        ok = words == 0 || tr_push(&building->hashes, so_far);
        so_far = chain(so_far, hash_word(building, word));
        words++;
    }
    building->longest = words > building->longest ? words : building->longest;
    return ok && !building->lower.failed &&
           (words == 0 || tr_push(&building->hashes, chain(so_far, 1 + (uint64_t)type)));
}

static trellis_status add_line(struct building *building, struct tr_input *input, trellis_text line,
                               trellis_error *error)
{
    const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
    trellis_text type = {line.data, tab ? (size_t)(tab - line.data) : 0}, entry = line, rest = line;
    if (tab) {
        entry = (trellis_text){tab + 1, line.size - type.size - 1};
    }
    if (!next_word(&rest, &rest)) {
        return TRELLIS_OK; // an empty line
    }
    uint32_t number = tr_intern_add(&building->types, type);
    if (number == TR_NONE || !add_entry(building, number, entry)) {
        return tr_fail_memory(error);
    }
    if (building->longest > TR_MAX_ENTRY_WORDS) {
        return tr_entry_too_long(input, error);
    }
    return number < TR_MAX_TYPES ? TRELLIS_OK
                                 : tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input),
                                              "more than %d types of entries", TR_MAX_TYPES);
}

static trellis_status write_table(struct building *building, struct tr_resource *resource,
                                  trellis_error *error)
{
    struct tr_resource hashes = {0};
    struct tr_buffer table = {0};
    if (tr_intern_count(&building->types) == 0 &&
        tr_intern_add(&building->types, TR_TEXT("")) == TR_NONE) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_resource_set(&hashes, building->hashes.at, building->hashes.size,
                                            error);
    uint32_t types = (uint32_t)tr_intern_count(&building->types);
    uint64_t end = 0;
    tr_put_u64(&table, types);
    tr_put_u64(&table, building->longest);
    for (uint32_t i = 0; i < types; i++) {
        end += tr_intern_text(&building->types, i).size;
        tr_put_u32(&table, (uint32_t)end);
    }
    for (uint32_t i = 0; i < types; i++) {
        tr_buffer_text(&table, tr_intern_text(&building->types, i));
    }
    tr_buffer_text(&table, hashes.data);
    tr_resource_free(&hashes);
    if (status || table.failed || end > UINT32_MAX) {
        tr_buffer_free(&table);
        return status ? status : tr_fail_memory(error);
    }
    resource->owned = table.data;
    resource->data = (trellis_text){table.data, table.size};
    return TRELLIS_OK;
}

trellis_status tr_gazetteer_load(struct tr_resource *resource, struct tr_input *input,
                                 trellis_error *error)
{
    struct building building = {.fold = resource->kind == TR_LOWER_GAZETTEER};
    trellis_text line;
    trellis_status status;
    while (!(status = tr_input_line(input, &line, error))) {
        status = add_line(&building, input, line, error);
        if (status) {
            break;
        }
    }
    if (status == TRELLIS_END) {
        status = write_table(&building, resource, error);
    }
    free(building.hashes.at);
    tr_intern_free(&building.types);
    tr_buffer_free(&building.lower);
    return status;
}

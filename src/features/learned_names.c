/* learned_names.c - the names and words of the training data and their types, for learned().
 *
 * A text x is a whole segment, or a word in a role: inside a span, as its first word or as its last.
 * Its type is the one that spans with x in this role had most often, with a mark where that says
 * little:
 *
 *     T         at least half of all places where x occurs
 *     T:once    the same, but x was seen in the role only once
 *     T:rarely  less than half of them
 *
 * About the words inside there is always an answer:
 *
 *     :outside       never in a span; :outside:once and :outside:few where it was seen once or
 *                    fewer than FEW times
 *     :new           not seen at all
 *
 * A model that sees these answers for its own gold spans would learn to trust them blindly. So
 * the training data is cut into blocks of sequences that follow each other, and a sequence is told
 * what is known without its block: nothing of it leaks, nor of its neighbours, which often repeat a
 * name. When training ends, the answers become those of all the data.
 *
 * Two passes over the data collect the gold spans, and then all places with the same texts. A table
 * has the answer about each text, and under a key of its own that about a text without a block, where
 * that is another.
 */
#include "corpus/corpus.h"
#include "features/extractor.h"
#include "features/learned_names.h"

enum { MAX_BLOCK = 100, MIN_BLOCKS = 10, FEW = 5 };

static const char *const role_names[TR_LEARNED_ROLES] = {
    [TR_LEARNED_INSIDE] = "inside", [TR_LEARNED_FIRST] = "first", [TR_LEARNED_LAST] = "last"};

const char *tr_learned_role_name(enum tr_learned_role role)
{
    return role_names[role];
}

enum tr_learned_role tr_learned_role_find(trellis_text word)
{
    enum tr_learned_role role = TR_LEARNED_INSIDE;
    while (role < TR_LEARNED_ROLES && !tr_text_is(word, role_names[role])) {
        role++;
    }
    return role;
}

/* The key of a text as seen from a block of training sequences; block 0: from outside. */
static uint64_t key_from(uint64_t key, uint64_t block)
{
    return block ? tr_mix((struct tr_key){key, 0}, (struct tr_key){block, 0}).low : key;
}

bool tr_learned_answer(trellis_text table, enum tr_learned_role role, uint64_t key, uint64_t block,
                       trellis_text *ret_text)
{
    if (table.size == 0) {
        return false; // nothing has been learned
    }
    if ((block && tr_table_path(table, key_from(key, block), ret_text)) ||
        tr_table_path(table, key, ret_text)) {
        return ret_text->size > 0;
    }
    *ret_text = TR_TEXT(":new");
    return role == TR_LEARNED_INSIDE;
}

void tr_learned_names_free(struct tr_learned_names *learned)
{
    tr_intern_free(&learned->types);
    tr_intern_free(&learned->answers);
    free(learned->sightings.at);
    free(learned->names.at);
    free(learned->final.at);
    *learned = (struct tr_learned_names){
        .view = learned->view, .resource = learned->resource, .role = learned->role};
}

bool tr_features_learns(const trellis_features *features)
{
    return features->learning;
}

void tr_extractor_set_sequence(struct tr_extractor *extractor, size_t sequence)
{
    size_t size = extractor->features->block_size;
    extractor->segments.sequence = sequence;
    tr_column_views_leave_out(&extractor->rows, size ? 1 + sequence / size : 0);
}

/* ---- sightings ------------------------------------------------------------------------------- */

/* The keys of a view, of all segments or of all tokens; NULL where its column is missing. */
static const uint64_t *keys_of(const struct tr_extractor *extractor,
                               const struct tr_learned_names *learned,
                               const trellis_sequence *sequence)
{
    const struct tr_segment_values *values = &extractor->segments;
    const struct tr_column_views *rows = &extractor->rows;
    uint32_t column = extractor->features->views.at[learned->view].column;
    if (tr_binding_at(&rows->binding, column) >= sequence->columns) {
        return NULL;
    }
    if (learned->role != TR_LEARNED_SEGMENT) {
        return rows->low + tr_column_views_at(rows, learned->view, 0);
    }
    for (size_t i = 0; i < values->tables.size; i++) {
        const struct tr_span_table *table = &values->tables.at[i];
        if (table->kind == TR_SPAN_KEYS && table->view == learned->view) {
            return table->low;
        }
    }
    return NULL;
}

/* A text in its role; key 0: it has none. */
static bool add_span(struct tr_learned_names *learned, uint64_t key, size_t sequence, uint32_t type)
{
    struct tr_sighting sighting = {key, (uint32_t)sequence, type};
    return !key || (tr_push(&learned->names, key) && tr_push(&learned->sightings, sighting));
}

trellis_status tr_features_learn_segment(trellis_features *features,
                                         const struct tr_extractor *extractor,
                                         const trellis_sequence *sequence, size_t s, size_t e,
                                         trellis_text type, trellis_error *error)
{
    const struct tr_segment_values *values = &extractor->segments;
    for (size_t i = 0; i < features->learned.size; i++) {
        struct tr_learned_names *learned = &features->learned.at[i];
        const uint64_t *keys = keys_of(extractor, learned, sequence);
        bool whole = learned->role == TR_LEARNED_SEGMENT;
        if (!keys || (whole && e - s >= values->max_segment)) {
            continue;
        }
        uint32_t number = tr_intern_add(&learned->types, type);
        size_t first = whole                              ? e * values->max_segment + (e - s)
                       : learned->role == TR_LEARNED_LAST ? e
                                                          : s;
        size_t last = learned->role == TR_LEARNED_INSIDE ? e : first;
        bool ok = number != TR_NONE;
        for (size_t k = first; ok && k <= last; k++) {
            ok = add_span(learned, keys[k], values->sequence, number);
        }
        if (!ok) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void tr_features_end_segments(trellis_features *features, size_t sequences)
{
    size_t size = sequences / MIN_BLOCKS < MAX_BLOCK ? sequences / MIN_BLOCKS : MAX_BLOCK;
    features->block_size = size ? size : 1;
    for (size_t i = 0; i < features->learned.size; i++) {
        struct tr_learned_names *learned = &features->learned.at[i];
        if (learned->names.size) {
            qsort(learned->names.at, learned->names.size, sizeof(uint64_t), by_value);
        }
    }
}

/* A text wherever it occurs; words inside have an answer even if they are in no span. */
static bool add_place(struct tr_learned_names *learned, uint64_t key, size_t sequence)
{
    bool wanted = learned->role == TR_LEARNED_INSIDE ||
                  (learned->names.size && bsearch(&key, learned->names.at, learned->names.size,
                                                  sizeof(uint64_t), by_value));
    struct tr_sighting sighting = {key, (uint32_t)sequence, TR_NONE};
    return !key || !wanted || tr_push(&learned->sightings, sighting);
}

static bool add_segments(struct tr_learned_names *learned, const struct tr_segment_values *values,
                         const uint64_t *keys)
{
    bool ok = true;
    for (size_t k = 0; ok && k < values->length * values->max_segment; k++) {
        size_t e = k / values->max_segment, before = k % values->max_segment;
        ok = before > e || add_place(learned, keys[k], values->sequence);
    }
    return ok;
}

/* Words whose labels are known. */
static bool add_words(struct tr_learned_names *learned, const trellis_sequence *sequence,
                      size_t number, bool partial, const uint64_t *keys)
{
    bool ok = true;
    for (size_t i = 0; ok && sequence->labels && i < sequence->length; i++) {
        ok = (partial && tr_label_is_open(sequence->labels[i])) ||
             add_place(learned, keys[i], number);
    }
    return ok;
}

trellis_status tr_features_learn_places(trellis_features *features,
                                        const struct tr_extractor *extractor,
                                        const trellis_sequence *sequence, bool partial,
                                        trellis_error *error)
{
    const struct tr_segment_values *values = &extractor->segments;
    for (size_t i = 0; i < features->learned.size; i++) {
        struct tr_learned_names *learned = &features->learned.at[i];
        const uint64_t *keys = keys_of(extractor, learned, sequence);
        bool ok = !keys ? true
                  : learned->role == TR_LEARNED_SEGMENT
                      ? add_segments(learned, values, keys)
                      : add_words(learned, sequence, values->sequence, partial, keys);
        if (!ok) {
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* How often a text occurs, and as a segment of which type. */
struct tally {
    uint32_t *of_type; // [types]
    uint32_t places;
};

static void add(struct tally *tally, const struct tr_sighting *sighting, int amount)
{
    uint32_t *count = sighting->type == TR_NONE ? &tally->places : &tally->of_type[sighting->type];
    *count += (uint32_t)amount;
}

/* Appends the answer; nothing where there is none. */
static void add_answer(const struct tr_learned_names *learned, const struct tally *tally,
                       struct tr_buffer *text)
{
    uint32_t best = 0, types = (uint32_t)tr_intern_count(&learned->types);
    for (uint32_t t = 1; t < types; t++) {
        best = tally->of_type[t] > tally->of_type[best] ? t : best;
    }
    uint32_t count = types ? tally->of_type[best] : 0, places = tally->places;
    if (count) {
        tr_buffer_text(text, tr_intern_text(&learned->types, best));
        tr_buffer_string(text, count < places - count ? ":rarely" : count == 1 ? ":once" : "");
    } else if (learned->role == TR_LEARNED_INSIDE) {
        tr_buffer_string(text, places == 0    ? ":new"
                               : places == 1  ? ":outside:once"
                               : places < FEW ? ":outside:few"
                                              : ":outside");
    }
}

/* The number of the answer; false on allocation failure. */
static bool answer(struct tr_learned_names *learned, const struct tally *tally,
                   struct tr_buffer *text, uint32_t *ret_answer)
{
    text->size = 0;
    add_answer(learned, tally, text);
    *ret_answer = text->failed
                      ? TR_NONE
                      : tr_intern_add(&learned->answers, (trellis_text){text->data, text->size});
    return *ret_answer != TR_NONE;
}

struct tables {
    TR_ARRAY(struct tr_table_text) at; // of all blocks, and the final ones
    struct tally tally;
    struct tr_buffer text;
    size_t block_size;
};

/* The answers about one text, whose sightings [count] are sorted by sequence. */
static bool answer_text(struct tr_learned_names *learned, struct tables *tables,
                        const struct tr_sighting *at, size_t count)
{
    struct tr_table_text entry = {.hash = at->key};
    uint32_t final;
    for (size_t i = 0; i < count; i++) {
        add(&tables->tally, &at[i], 1);
    }
    bool ok = answer(learned, &tables->tally, &tables->text, &entry.text) &&
              tr_push(&learned->final, entry) && tr_push(&tables->at, entry);
    final = entry.text;
    for (size_t i = 0, end; ok && i < count; i = end) {
        size_t block = at[i].sequence / tables->block_size;
        for (end = i; end < count && at[end].sequence / tables->block_size == block; end++) {
            add(&tables->tally, &at[end], -1);
        }
        entry.hash = key_from(at->key, 1 + block);
        ok = answer(learned, &tables->tally, &tables->text, &entry.text) &&
             (entry.text == final || tr_push(&tables->at, entry));
        for (size_t k = i; k < end; k++) {
            add(&tables->tally, &at[k], 1);
        }
    }
    for (size_t i = 0; i < count; i++) {
        add(&tables->tally, &at[i], -1);
    }
    return ok;
}

static int by_key(const void *a, const void *b)
{
    const struct tr_sighting *x = a, *y = b;
    int order = (x->key > y->key) - (x->key < y->key);
    return order ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static trellis_status make_tables(trellis_features *features, struct tr_learned_names *learned,
                                  trellis_error *error)
{
    struct tables tables = {.block_size = features->block_size};
    size_t count = learned->sightings.size;
    const struct tr_sighting *at = learned->sightings.at;
    tables.tally.of_type = tr_alloc(tr_intern_count(&learned->types), sizeof(uint32_t));
    bool ok = tables.tally.of_type;
    if (ok && count) {
        qsort(learned->sightings.at, count, sizeof *at, by_key);
    }
    for (size_t i = 0, end; ok && i < count; i = end) {
        for (end = i; end < count && at[end].key == at[i].key; end++) {}
        ok = answer_text(learned, &tables, at + i, end - i);
    }
    trellis_status status = ok ? tr_resource_set_texts(&features->resources.at[learned->resource],
                                                       tables.at.at, tables.at.size,
                                                       &learned->answers, error)
                               : tr_fail_memory(error);
    free(tables.tally.of_type);
    free(tables.at.at);
    tr_buffer_free(&tables.text);
    return status;
}

trellis_status tr_features_end_places(trellis_features *features, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && i < features->learned.size; i++) {
        struct tr_learned_names *learned = &features->learned.at[i];
        status = make_tables(features, learned, error);
        free(learned->sightings.at);
        free(learned->names.at);
        memset(&learned->sightings, 0, sizeof learned->sightings);
        memset(&learned->names, 0, sizeof learned->names);
    }
    features->learning = false;
    return status;
}

/* A sighting is sorted, and becomes an entry of a table that is sorted in its turn. */
size_t tr_learned_names_bytes(const struct tr_learned_names *learned, size_t *ret_working)
{
    enum { WORKING_BYTES = 60 };
    *ret_working = WORKING_BYTES * learned->sightings.size;
    return sizeof *learned->sightings.at * learned->sightings.capacity +
           sizeof *learned->names.at * learned->names.capacity +
           sizeof *learned->final.at * learned->final.capacity;
}

trellis_status tr_learned_names_finish(trellis_features *features, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t i = 0; !status && features->block_size && i < features->learned.size; i++) {
        struct tr_learned_names *learned = &features->learned.at[i];
        status = tr_resource_set_texts(&features->resources.at[learned->resource],
                                       learned->final.at, learned->final.size, &learned->answers,
                                       error);
        tr_learned_names_free(learned);
    }
    features->block_size = 0;
    return status;
}

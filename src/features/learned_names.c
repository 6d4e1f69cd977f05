/* learned_names.c - the names of the training data and their types, for learned().
 *
 * The type of a text x is the one that segments with this text had most often, with a mark where
 * that says little:
 *
 *     T         at least half of all places where x occurs
 *     T:once    the same, but x was seen as a segment only once
 *     T:rarely  less than half of them
 *
 * A model that sees these answers for its own gold segments would learn to trust them blindly. So
 * the training data is cut into blocks of sequences that follow each other, and a sequence is told
 * what is known without its block: nothing of it leaks, nor of its neighbours, which often repeat a
 * name. When training ends, the answers become those of all the data.
 *
 * Two passes over the data collect the gold segments, and then all places with the same texts.
 */
#include "features/extractor.h"
#include "features/learned_names.h"

enum { MAX_BLOCK = 100, MIN_BLOCKS = 10 };

void tr_learned_names_free(struct tr_learned_names *learned)
{
    tr_intern_free(&learned->types);
    tr_intern_free(&learned->answers);
    free(learned->sightings.at);
    free(learned->names.at);
    free(learned->final.at);
    *learned = (struct tr_learned_names){.view = learned->view, .resource = learned->resource};
}

bool tr_features_learns(const trellis_features *features)
{
    return features->learning;
}

void tr_extractor_set_sequence(struct tr_extractor *extractor, size_t sequence)
{
    size_t size = extractor->features->block_size;
    extractor->segments.sequence = sequence;
    extractor->segments.block = size ? 1 + sequence / size : 0;
}

/* ---- sightings ------------------------------------------------------------------------------- */

/* The keys of the segments of a view, NULL where its column is missing. */
static const uint64_t *keys_of(const struct tr_extractor *extractor,
                               const struct tr_learned_names *learned,
                               const trellis_sequence *sequence)
{
    const struct tr_segment_values *values = &extractor->segments;
    uint32_t column = extractor->features->views.at[learned->view].column;
    for (size_t i = 0; i < values->tables.size; i++) {
        const struct tr_span_table *table = &values->tables.at[i];
        if (table->kind == TR_SPAN_KEYS && table->view == learned->view &&
            tr_binding_at(&extractor->rows.binding, column) < sequence->columns) {
            return table->low;
        }
    }
    return NULL;
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
        uint64_t key = keys ? keys[e * values->max_segment + (e - s)] : 0;
        struct tr_sighting sighting = {key, (uint32_t)values->sequence,
                                       tr_intern_add(&learned->types, type)};
        if (sighting.type == TR_NONE ||
            (key && (!tr_push(&learned->names, key) || !tr_push(&learned->sightings, sighting)))) {
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

trellis_status tr_features_learn_places(trellis_features *features,
                                        const struct tr_extractor *extractor,
                                        const trellis_sequence *sequence, trellis_error *error)
{
    const struct tr_segment_values *values = &extractor->segments;
    for (size_t i = 0; i < features->learned.size; i++) {
        struct tr_learned_names *learned = &features->learned.at[i];
        const uint64_t *keys = keys_of(extractor, learned, sequence);
        for (size_t k = 0; keys && k < sequence->length * values->max_segment; k++) {
            size_t e = k / values->max_segment, before = k % values->max_segment;
            bool named = before <= e && keys[k] && learned->names.size &&
                         bsearch(&keys[k], learned->names.at, learned->names.size, sizeof(uint64_t),
                                 by_value);
            if (named &&
                !tr_push(&learned->sightings,
                         (struct tr_sighting){keys[k], (uint32_t)values->sequence, TR_NONE})) {
                return tr_fail_memory(error);
            }
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

/* The number of the answer, TR_NONE where the text was no segment; false on allocation failure. */
static bool answer(struct tr_learned_names *learned, const struct tally *tally,
                   struct tr_buffer *text, uint32_t *ret_answer)
{
    uint32_t best = 0, types = (uint32_t)tr_intern_count(&learned->types);
    for (uint32_t t = 1; t < types; t++) {
        best = tally->of_type[t] > tally->of_type[best] ? t : best;
    }
    uint32_t count = tally->of_type[best];
    *ret_answer = TR_NONE;
    if (count == 0) {
        return true;
    }
    text->size = 0;
    tr_buffer_text(text, tr_intern_text(&learned->types, best));
    tr_buffer_string(text, count < tally->places - count ? ":rarely" : count == 1 ? ":once" : "");
    if (!text->failed) {
        *ret_answer = tr_intern_add(&learned->answers, (trellis_text){text->data, text->size});
    }
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
    for (size_t i = 0; i < count; i++) {
        add(&tables->tally, &at[i], 1);
    }
    bool ok = answer(learned, &tables->tally, &tables->text, &entry.text) &&
              tr_push(&learned->final, entry) && tr_push(&tables->at, entry);
    for (size_t i = 0, end; ok && i < count; i = end) {
        size_t block = at[i].sequence / tables->block_size;
        for (end = i; end < count && at[end].sequence / tables->block_size == block; end++) {
            add(&tables->tally, &at[end], -1);
        }
        entry.hash = tr_learned_key(at->key, 1 + block);
        ok = answer(learned, &tables->tally, &tables->text, &entry.text) &&
             (entry.text == TR_NONE || tr_push(&tables->at, entry));
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
        status = make_tables(features, &features->learned.at[i], error);
    }
    features->learning = false;
    return status;
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

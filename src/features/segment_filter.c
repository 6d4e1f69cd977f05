/* segment_filter.c - which segments are worth describing (--filter).
 *
 * Most segments are no candidates at a glance: few begin with a comma or with a verb. A segment of
 * tokens s .. e is described by attributes only if, with the shares of the training data,
 *
 *     P(begins | w_s) >= P,   P(ends | w_e) >= P,   P(continues | w_k) >= P for s < k < e
 *
 * where a word seen fewer than MIN_SEEN times has the shares of its class: all such words that
 * begin with the same kind of character. Other segments stay possible, scored by their tokens alone,
 * as those beyond the maximum length are, so that no labelling is lost. The table has, by the hash of
 * a word or of the name of a class, its roles: a text with the letters B, I, E of those it can have.
 */
#include "features/segment_filter.h"

#include "base/utf8.h"
#include "features/extractor.h"

enum { MIN_SEEN = 5 };

/* The name of the class of a word, which no word has: a zero byte and a letter. */
static trellis_text class_of(trellis_text word, char room[2])
{
    size_t at = 0;
    enum tr_class class = word.size ? tr_utf8_class(tr_utf8_next(word, &at)) : TR_OTHER;
    room[0] = '\0';
    room[1] = (char)('a' + (int)class);
    return (trellis_text){room, 2};
}

unsigned tr_filter_roles(trellis_text table, trellis_text word)
{
    char room[2];
    trellis_text roles = {"", 0};
    unsigned found = 0;
    if (!tr_table_path(table, tr_hash(word).low, &roles) &&
        !tr_table_path(table, tr_hash(class_of(word, room)).low, &roles)) {
        return TR_CAN_BEGIN | TR_CAN_CONTINUE | TR_CAN_END; // nothing like it was seen
    }
    for (size_t i = 0; i < roles.size; i++) {
        found |= roles.data[i] == 'B'   ? TR_CAN_BEGIN
                 : roles.data[i] == 'I' ? TR_CAN_CONTINUE
                                        : TR_CAN_END;
    }
    return found;
}

bool tr_segment_values_filter(struct tr_segment_values *values, const trellis_sequence *sequence)
{
    const trellis_features *features = values->features;
    values->filtered = features->has_filter;
    if (!values->filtered || !tr_reserve(&values->roles, sequence->length)) {
        return !values->filtered;
    }
    size_t column = tr_binding_at(&values->rows->binding, 0);
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text word = column < sequence->columns
                                ? sequence->cells[i * sequence->columns + column]
                                : (trellis_text){"", 0};
        values->roles.at[i] = (unsigned char)tr_filter_roles(
            features->resources.at[features->filter].data, word);
    }
    return true;
}

bool tr_extractor_describes(const struct tr_extractor *extractor, size_t s, size_t e)
{
    const struct tr_segment_values *values = &extractor->segments;
    bool inside = true;
    for (size_t k = s + 1; values->filtered && inside && k < e; k++) {
        inside = values->roles.at[k] & TR_CAN_CONTINUE;
    }
    return !values->filtered ||
           (inside && values->roles.at[s] & TR_CAN_BEGIN && values->roles.at[e] & TR_CAN_END);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool count_word(struct tr_role_counter *counter, trellis_text word,
                       struct tr_role_counts more)
{
    uint32_t number = tr_intern_add(&counter->words, word);
    if (number == TR_NONE || (number == counter->counts.size &&
                              !tr_push(&counter->counts, (struct tr_role_counts){0}))) {
        return false;
    }
    struct tr_role_counts *counts = &counter->counts.at[number];
    counts->seen += more.seen;
    counts->begins += more.begins;
    counts->continues += more.continues;
    counts->ends += more.ends;
    return true;
}

/* Counts the tokens first .. end-1 of a sequence, which have the same roles. */
static bool count_words(trellis_features *features, const struct tr_extractor *extractor,
                        const trellis_sequence *sequence, size_t first, size_t end,
                        struct tr_role_counts more)
{
    size_t column = tr_binding_at(&extractor->rows.binding, 0);
    bool ok = true;
    for (size_t i = first; ok && column < sequence->columns && i < end; i++) {
        ok = count_word(features->role_counter, sequence->cells[i * sequence->columns + column],
                        more);
    }
    return ok;
}

trellis_status tr_features_begin_filter(trellis_features *features, trellis_error *error)
{
    if (features->columns.size == 0) {
        return tr_fail(error, TRELLIS_OPTION,
                       "--filter looks at the first column that the templates name, and these name "
                       "none");
    }
    features->role_counter = tr_alloc(1, sizeof *features->role_counter);
    return features->role_counter ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_features_filter_sequence(trellis_features *features,
                                           const struct tr_extractor *extractor,
                                           const trellis_sequence *sequence, trellis_error *error)
{
    return !features->role_counter ||
                   count_words(features, extractor, sequence, 0, sequence->length,
                               (struct tr_role_counts){.seen = 1})
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

trellis_status tr_features_filter_segment(trellis_features *features,
                                          const struct tr_extractor *extractor,
                                          const trellis_sequence *sequence, size_t s, size_t e,
                                          trellis_error *error)
{
    const struct tr_role_counts begins = {.begins = 1}, inside = {.continues = 1},
                                ends = {.ends = 1};
    return !features->role_counter ||
                   (count_words(features, extractor, sequence, s, s + 1, begins) &&
                    count_words(features, extractor, sequence, s + 1, e, inside) &&
                    count_words(features, extractor, sequence, e, e + 1, ends))
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Adds rare words to their classes, which come behind the words; returns the number of words. */
static bool add_classes(struct tr_role_counter *counter, uint32_t words)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < words; i++) {
        char room[2];
        struct tr_role_counts counts = counter->counts.at[i];
        ok = counts.seen >= MIN_SEEN ||
             count_word(counter, class_of(tr_intern_text(&counter->words, i), room), counts);
    }
    return ok;
}

static trellis_text roles_of(const struct tr_role_counts *counts, double least, char room[3])
{
    double seen = (double)counts->seen;
    size_t size = 0;
    if (counts->begins >= least * seen) {
        room[size++] = 'B';
    }
    if (counts->continues >= least * seen) {
        room[size++] = 'I';
    }
    if (counts->ends >= least * seen) {
        room[size++] = 'E';
    }
    return (trellis_text){room, size};
}

static trellis_status make_table(struct tr_role_counter *counter, double least,
                                 struct tr_resource *resource, trellis_error *error)
{
    struct tr_intern roles = {0};
    TR_ARRAY(struct tr_table_text) entries = {0};
    uint32_t words = (uint32_t)tr_intern_count(&counter->words);
    bool ok = add_classes(counter, words);
    for (uint32_t i = 0; ok && i < tr_intern_count(&counter->words); i++) {
        char room[3];
        const struct tr_role_counts *counts = &counter->counts.at[i];
        struct tr_table_text entry = {.hash = tr_hash(tr_intern_text(&counter->words, i)).low};
        entry.text = tr_intern_add(&roles, roles_of(counts, least, room));
        ok = entry.text != TR_NONE &&
             ((i < words && counts->seen < MIN_SEEN) || tr_push(&entries, entry));
    }
    trellis_status status = ok ? tr_resource_set_texts(resource, entries.at, entries.size, &roles,
                                                       error)
                               : tr_fail_memory(error);
    tr_intern_free(&roles);
    free(entries.at);
    return status;
}

void tr_role_counter_free(trellis_features *features)
{
    if (features->role_counter) {
        tr_intern_free(&features->role_counter->words);
        free(features->role_counter->counts.at);
        free(features->role_counter);
        features->role_counter = NULL;
    }
}

trellis_status tr_features_end_filter(trellis_features *features, double least,
                                      trellis_error *error)
{
    struct tr_resource resource = {.kind = TR_FILTER, .name = tr_copy_text("filter", 6)};
    trellis_status status = resource.name
                                ? make_table(features->role_counter, least, &resource, error)
                                : tr_fail_memory(error);
    tr_role_counter_free(features);
    if (!status && !tr_features_take_filter(features, resource)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        tr_resource_free(&resource);
    }
    return status;
}

bool tr_features_take_filter(trellis_features *features, struct tr_resource resource)
{
    features->filter = (uint32_t)features->resources.size;
    features->has_filter = tr_push(&features->resources, resource);
    return features->has_filter;
}

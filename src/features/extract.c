/* extract.c - from the rows of the views to the keys of attributes.
 *
 * The key of template t at token i, with values v_1 .. v_m from its rows (column_views.c):
 *
 *     key = mix( ... mix(mix(key_t, v_1), v_2) ..., v_m)       present unless some v is 0
 *
 * and of a set keyed by strings, with the spans of base/hash.h, always present:
 *
 *     key = join( ... join(join(key_t, v_1), v_2) ..., v_m)
 *
 * Where in memory each v is found is worked out beforehand, in a plan that holds for all sequences
 * until the rows move; the loop over tokens and templates then only loads, multiplies and stores.
 */
#include "features/compiled.h"

#include <math.h>

#include "corpus/corpus.h"
#include "features/contexts.h"
#include "features/template_keys.h"

/* ---- creation -------------------------------------------------------------------------------- */

void tr_extractor_limit(struct tr_extractor *extractor, uint64_t max_steps)
{
    extractor->rows.evaluation.max_steps = max_steps;
}

trellis_status tr_extractor_create(const trellis_features *features, bool whole_keys,
                                   struct tr_extractor **ret_extractor, trellis_error *error)
{
    *ret_extractor = NULL;
    struct tr_extractor *extractor = tr_alloc(1, sizeof *extractor);
    if (!extractor) {
        return tr_fail_memory(error);
    }
    extractor->features = features;
    extractor->whole = whole_keys;
    extractor->label_column = SIZE_MAX;
    for (size_t i = 0; i < features->parts.size; i++) {
        extractor->has_absolute |= features->parts.at[i].absolute;
    }
    extractor->sources = tr_alloc(features->parts.size, sizeof *extractor->sources);
    extractor->node_plan.at = tr_alloc(features->templates.size, sizeof *extractor->node_plan.at);
    extractor->edge_plan.at = tr_alloc(features->templates.size, sizeof *extractor->edge_plan.at);
    extractor->segment_plan.at = tr_alloc(features->templates.size,
                                          sizeof *extractor->segment_plan.at);
    if (!tr_column_views_begin(&extractor->rows, features, whole_keys) || !extractor->sources ||
        !extractor->node_plan.at || !extractor->edge_plan.at || !extractor->segment_plan.at ||
        !tr_segment_values_begin(&extractor->segments, features, &extractor->rows)) {
        tr_extractor_destroy(extractor);
        return tr_fail_memory(error);
    }
    *ret_extractor = extractor;
    return TRELLIS_OK;
}

static void free_seen(struct tr_seen *seen, struct tr_seen_room *room)
{
    free(seen->begin);
    free(seen->low);
    free(seen->high);
    free(seen->template);
    free(room->value);
}

void tr_extractor_destroy(struct tr_extractor *extractor)
{
    if (!extractor) {
        return;
    }
    tr_segment_values_end(&extractor->segments);
    tr_column_views_end(&extractor->rows);
    free(extractor->node_plan.at);
    free(extractor->edge_plan.at);
    free(extractor->segment_plan.at);
    free(extractor->sources);
    free(extractor->contexts.home);
    free(extractor->contexts.planned);
    free_seen(&extractor->observation.node, &extractor->node_room);
    free_seen(&extractor->observation.edge, &extractor->edge_room);
    free_seen(&extractor->observation.segment, &extractor->segment_room);
    free(extractor);
}

void tr_extractor_set_segments(struct tr_extractor *extractor, size_t max_segment)
{
    bool wanted = extractor->features->has_segments;
    extractor->observation.max_segment = wanted ? max_segment : 0;
}

trellis_status tr_extractor_bind(struct tr_extractor *extractor, const trellis_reader *reader,
                                 size_t label_column, trellis_error *error)
{
    extractor->planned = false;
    extractor->label_column = label_column;
    return tr_binding_make(&extractor->rows.binding, extractor->features, reader, label_column,
                           error);
}

bool tr_extractor_uses(const struct tr_extractor *extractor, size_t column)
{
    const trellis_features *features = extractor->features;
    for (size_t i = 0; i < features->views.size; i++) {
        uint32_t used = features->views.at[i].column;
        if (used != TR_NONE && tr_binding_at(&extractor->rows.binding, used) == column) {
            return true;
        }
    }
    return false;
}

/* ---- the plan -------------------------------------------------------------------------------- */

bool tr_extractor_is_active(const struct tr_extractor *extractor,
                            const struct tr_template *template, size_t columns)
{
    const trellis_features *features = extractor->features;
    uint32_t count = template->mixed + template->conditions + template->factors;
    for (uint32_t k = 0; k < count; k++) {
        const struct tr_template_part *part = &features->parts.at[template->parts + k];
        uint32_t column = part->view == TR_NONE ? TR_NONE : features->views.at[part->view].column;
        if (column != TR_NONE && tr_binding_at(&extractor->rows.binding, column) >= columns) {
            return false;
        }
    }
    return true;
}

/* The token of an absolute position, cut off at the margins. */
static ptrdiff_t absolute_token(int32_t offset, size_t length, uint32_t reach)
{
    ptrdiff_t token = offset >= 0 ? offset - 1 : (ptrdiff_t)length + offset;
    ptrdiff_t first = -(ptrdiff_t)reach, last = (ptrdiff_t)length + (ptrdiff_t)reach - 1;
    return token < first ? first : token > last ? last : token;
}

static struct tr_source make_source(const struct tr_extractor *extractor,
                                    const struct tr_template_part *part, size_t length)
{
    const trellis_features *features = extractor->features;
    if (part->view == TR_NONE) {
        const struct tr_key *key = &features->literal_keys.at[part->literal];
        const struct tr_key *span = &features->literal_spans.at[part->literal];
        return (struct tr_source){&key->low, &key->high, &span->low, &span->high, NULL, 0, false};
    }
    ptrdiff_t shift = part->absolute ? absolute_token(part->offset, length, features->reach)
                                     : part->offset;
    const struct tr_column_views *rows = &extractor->rows;
    size_t at = tr_column_views_at(rows, part->view, shift);
    bool strings = features->strings;
    return (struct tr_source){rows->low + at,
                              rows->whole ? rows->high + at : NULL,
                              strings ? rows->low_span + at : NULL,
                              strings && rows->whole ? rows->high_span + at : NULL,
                              rows->has_reals ? rows->real + at : NULL,
                              part->absolute ? 0 : SIZE_MAX,
                              part->negated};
}

bool tr_extractor_is_even(const struct tr_extractor *extractor, const struct tr_template *template)
{
    bool even = !template->conditions && !template->factors;
    for (uint32_t k = 0; even && k < template->mixed; k++) {
        uint32_t view = extractor->features->parts.at[template->parts + k].view;
        even = view == TR_NONE || tr_column_views_always_present(&extractor->rows, view);
    }
    return even;
}

struct tr_planned tr_plan_template(const struct tr_extractor *extractor, uint32_t number)
{
    const struct tr_template *template = &extractor->features->templates.at[number];
    return (struct tr_planned){template->key,        number,
                               template->parts,      template->mixed,
                               template->conditions, template->factors};
}

static void make_plan(struct tr_extractor *extractor, const trellis_sequence *sequence)
{
    const trellis_features *features = extractor->features;
    extractor->node_plan.count = extractor->edge_plan.count = extractor->segment_plan.count = 0;
    extractor->node_plan.even = extractor->edge_plan.even = true;
    for (size_t i = 0; i < features->parts.size; i++) {
        if (!features->parts.at[i].span) {
            extractor->sources[i] = make_source(extractor, &features->parts.at[i],
                                                sequence->length);
        }
    }
    tr_contexts_find(extractor, sequence->columns);
    for (uint32_t i = 0; i < features->templates.size; i++) {
        const struct tr_template *template = &features->templates.at[i];
        struct tr_plan *plan = template->edge      ? &extractor->edge_plan
                               : template->segment ? &extractor->segment_plan
                                                   : &extractor->node_plan;
        if (tr_extractor_is_active(extractor, template, sequence->columns) &&
            !tr_contexts_have(&extractor->contexts, i)) {
            plan->even = plan->even && !template->segment &&
                         tr_extractor_is_even(extractor, template);
            plan->at[plan->count++] = tr_plan_template(extractor, i);
        }
    }
    extractor->planned = !extractor->has_absolute;
    extractor->planned_columns = sequence->columns;
    extractor->planned_moves = extractor->rows.moves;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The array with room for `count` elements; unchanged, and *ok false, on allocation failure. */
static void *resize(void *array, size_t count, size_t size, bool *ok)
{
    size_t bytes;
    void *memory = __builtin_mul_overflow(count, size, &bytes) ? NULL
                                                               : realloc(array, bytes ? bytes : 1);
    *ok = *ok && memory;
    return memory ? memory : array;
}

trellis_status tr_reserve_seen(struct tr_extractor *extractor, struct tr_seen *seen,
                               struct tr_seen_room *room, size_t tokens, size_t attributes,
                               trellis_error *error)
{
    bool ok = true;
    if (tokens + 1 > room->tokens) {
        size_t need = tokens + 1 + tokens / 2;
        seen->begin = resize(seen->begin, need, sizeof *seen->begin, &ok);
        room->tokens = ok ? need : room->tokens;
    }
    if (ok && attributes + 1 > room->attributes) {
        size_t need = attributes + 1 + attributes / 2;
        seen->low = resize(seen->low, need, sizeof *seen->low, &ok);
        room->value = resize(room->value, need, sizeof *room->value, &ok);
        if (extractor->whole) {
            seen->high = resize(seen->high, need, sizeof *seen->high, &ok);
            seen->template = resize(seen->template, need, sizeof *seen->template, &ok);
        }
        room->attributes = ok ? need : room->attributes;
    }
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

static trellis_status check_value(const trellis_sequence *sequence, size_t token,
                                  const trellis_attribute *attribute, trellis_error *error)
{
    if (isfinite((float)attribute->value)) {
        return TRELLIS_OK;
    }
    return tr_fail_token(error, TRELLIS_FORMAT, sequence, token,
                         "the value of '%.*s' is not a finite number", TR_SHOW(attribute->name));
}

/* The strings that the input has for a token: its ready-made attributes, or else its cells. */
static size_t given_count(const struct tr_extractor *extractor, const trellis_sequence *sequence,
                          size_t token)
{
    return sequence->attributes
               ? sequence->attribute_begin[token + 1] - sequence->attribute_begin[token]
               : sequence->columns - (extractor->label_column < sequence->columns);
}

static trellis_text given_string(const struct tr_extractor *extractor,
                                 const trellis_sequence *sequence, size_t token, size_t j)
{
    return sequence->attributes
               ? sequence->attributes[sequence->attribute_begin[token] + j].name
               : sequence->cells[token * sequence->columns + j + (j >= extractor->label_column)];
}

/* Adds the given strings of a token: of nodes all but those that begin with b, of edges all but
 * those that begin with u. */
static trellis_status see_given(struct tr_extractor *extractor, const trellis_sequence *sequence,
                                size_t token, bool edge, struct tr_seen *seen, size_t *at,
                                trellis_error *error)
{
    bool nodes = extractor->features->cells == TR_NODE_CELLS;
    size_t count = given_count(extractor, sequence, token);
    for (size_t j = 0; j < count; j++) {
        trellis_text text = given_string(extractor, sequence, token, j);
        char first = nodes ? 'u' : text.size ? text.data[0] : 0;
        if (first == (edge ? 'u' : 'b')) {
            continue;
        }
        struct tr_key key = nodes ? tr_string_key(TR_TEXT("u")).hash : (struct tr_key){0, 0};
        key = tr_string_join(key, tr_string_key(text));
        seen->low[*at] = key.low;
        if (sequence->attributes) {
            const trellis_attribute *attribute =
                &sequence->attributes[sequence->attribute_begin[token] + j];
            trellis_status status = check_value(sequence, token, attribute, error);
            if (status) {
                return status;
            }
            seen->value[*at] = (float)attribute->value;
        }
        if (extractor->whole) {
            seen->high[*at] = key.high;
            seen->template[*at] = UINT32_MAX - (uint32_t)j;
        }
        ++*at;
    }
    return TRELLIS_OK;
}

/* The low halves of the keys alone, which is what a tagger needs: with the hash inlined, nothing
 * else of it is computed. */
__attribute__((flatten)) static void hash_names(const trellis_attribute *attributes, size_t count,
                                                uint64_t *low)
{
    for (size_t j = 0; j < count; j++) {
        low[j] = tr_hash(attributes[j].name).low;
    }
}

/* Adds the attributes that came with the input. */
static trellis_status see_ready_made(const trellis_sequence *sequence, size_t token, bool whole,
                                     struct tr_seen *seen, size_t *at, trellis_error *error)
{
    const trellis_attribute *attributes = sequence->attributes + sequence->attribute_begin[token];
    size_t count = sequence->attribute_begin[token + 1] - sequence->attribute_begin[token];
    if (!whole) {
        hash_names(attributes, count, seen->low + *at);
    }
    if (!whole && !seen->value) {
        *at += count;
        return TRELLIS_OK;
    }
    for (size_t j = 0; j < count; j++, ++*at) {
        trellis_status status = check_value(sequence, token, &attributes[j], error);
        if (status) {
            return status;
        }
        if (seen->value) {
            seen->value[*at] = (float)attributes[j].value;
        }
        if (whole) {
            struct tr_key key = tr_hash(attributes[j].name);
            seen->low[*at] = key.low;
            seen->high[*at] = key.high;
            seen->template[*at] = UINT32_MAX - (uint32_t)j;
        }
    }
    return TRELLIS_OK;
}

static void see_edges(struct tr_extractor *extractor, const struct tr_plan *plan,
                      struct tr_seen *seen, size_t length)
{
    size_t at = 0;
    seen->begin[0] = 0;
    for (size_t i = 0; i < length; i++) {
        seen->begin[i] = at;
        if (i > 0 && extractor->features->strings) {
            at = tr_see_strings(plan, extractor->sources, i, extractor->whole, seen, at);
        } else if (i > 0 && extractor->whole) {
            at = tr_see_token(plan, extractor->sources, i, true, seen->value != NULL, seen, at);
        } else if (i > 0) {
            at = tr_see_token(plan, extractor->sources, i, false, seen->value != NULL, seen, at);
        }
    }
    seen->begin[length] = at;
}

/* Nodes or edges of a set that takes the strings of the input. */
static trellis_status see_all_given(struct tr_extractor *extractor,
                                    const trellis_sequence *sequence, bool edge,
                                    trellis_error *error)
{
    struct tr_seen *seen = edge ? &extractor->observation.edge : &extractor->observation.node;
    trellis_status status = TRELLIS_OK;
    size_t at = 0;
    for (size_t i = 0; !status && i < sequence->length; i++) {
        seen->begin[i] = at;
        if (i > 0 || !edge) {
            status = see_given(extractor, sequence, i, edge, seen, &at, error);
        }
    }
    seen->begin[sequence->length] = at;
    return status;
}

static trellis_status see_nodes(struct tr_extractor *extractor, const trellis_sequence *sequence,
                                trellis_error *error)
{
    struct tr_seen *seen = &extractor->observation.node;
    const struct tr_plan *plan = &extractor->node_plan;
    const struct tr_source *sources = extractor->sources;
    bool valued = seen->value != NULL;
    if (plan->even && !extractor->whole && !valued && !sequence->attributes) {
        size_t n = sequence->length;
        if (extractor->features->strings) {
            tr_see_evenly(plan, sources, true, 0, n, seen->low, plan->count);
        } else {
            tr_see_evenly(plan, sources, false, 0, n, seen->low, plan->count);
        }
        for (size_t i = 0; i <= n; i++) {
            seen->begin[i] = i * plan->count;
        }
        return TRELLIS_OK;
    }
    size_t at = 0;
    for (size_t i = 0; i < sequence->length; i++) {
        seen->begin[i] = at;
        if (extractor->features->strings) {
            at = tr_see_strings(plan, sources, i, extractor->whole, seen, at);
        } else if (extractor->whole) {
            at = tr_see_token(plan, sources, i, true, valued, seen, at);
        } else if (valued) {
            at = tr_see_token(plan, sources, i, false, true, seen, at);
        } else {
            at = tr_see_token(plan, sources, i, false, false, seen, at);
        }
        if (sequence->attributes) {
            trellis_status status = see_ready_made(sequence, i, extractor->whole, seen, &at, error);
            if (status) {
                return status;
            }
        }
    }
    seen->begin[sequence->length] = at;
    return TRELLIS_OK;
}

/* Whether the input has an attribute with another value than 1. */
static bool has_values(const trellis_sequence *sequence)
{
    if (!sequence->attributes || sequence->length == 0) {
        return false;
    }
    const double one = 1;
    uint64_t plain, bits, differ = 0;
    memcpy(&plain, &one, sizeof plain);
    for (size_t j = sequence->attribute_begin[0]; j < sequence->attribute_begin[sequence->length];
         j++) {
        memcpy(&bits, &sequence->attributes[j].value, sizeof bits);
        differ |= bits ^ plain;
    }
    return differ;
}

/* Where all values are 1 there is no array of values. */
static void drop_plain_values(struct tr_seen *seen, size_t count)
{
    if (!seen->value) {
        return;
    }
    enum { STEP = 32 }; // compared at once
    const float *value = seen->value;
    size_t i = 0;
    for (unsigned differ = 0; i + STEP <= count; i += STEP) {
        for (size_t j = 0; j < STEP; j++) {
            differ |= value[i + j] != 1;
        }
        if (differ) {
            return;
        }
    }
    while (i < count && value[i] == 1) {
        i++;
    }
    seen->value = i == count ? NULL : seen->value;
}

static trellis_status reserve(struct tr_extractor *extractor, const trellis_sequence *sequence,
                              trellis_error *error)
{
    struct tr_observation *observation = &extractor->observation;
    size_t n = sequence->length, nodes, edges;
    size_t ready_made = sequence->attributes && n
                            ? sequence->attribute_begin[n] - sequence->attribute_begin[0]
                            : 0;
    if (extractor->features->cells && !sequence->attributes &&
        __builtin_mul_overflow(n, sequence->columns, &ready_made)) {
        return tr_fail_memory(error);
    }
    size_t given = extractor->features->cells ? ready_made : 0;
    if (n > SIZE_MAX / 4 || __builtin_mul_overflow(n, extractor->node_plan.count, &nodes) ||
        __builtin_add_overflow(nodes, ready_made, &nodes) || nodes > SIZE_MAX / 16 ||
        __builtin_mul_overflow(n, extractor->edge_plan.count, &edges) ||
        __builtin_add_overflow(edges, given, &edges) || edges > SIZE_MAX / 16) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_reserve_seen(extractor, &observation->node, &extractor->node_room, n,
                                            nodes, error);
    return status ? status
                  : tr_reserve_seen(extractor, &observation->edge, &extractor->edge_room, n, edges,
                                    error);
}

trellis_status tr_extractor_run(struct tr_extractor *extractor, const trellis_sequence *sequence,
                                const struct tr_observation **ret_observation, trellis_error *error)
{
    *ret_observation = NULL;
    struct tr_observation *observation = &extractor->observation;
    trellis_status status = tr_column_views_fill(&extractor->rows, sequence, error);
    if (status) {
        return status;
    }
    if (!extractor->planned || extractor->planned_columns != sequence->columns ||
        extractor->planned_moves != extractor->rows.moves) {
        make_plan(extractor, sequence);
    }
    status = reserve(extractor, sequence, error);
    if (status) {
        return status;
    }
    observation->length = sequence->length;
    bool valued = extractor->rows.has_reals;
    bool cells = extractor->features->cells;
    observation->node.value = valued || (cells && sequence->attributes) || has_values(sequence)
                                  ? extractor->node_room.value
                                  : NULL;
    observation->edge.value = valued || (cells && sequence->attributes) ? extractor->edge_room.value
                                                                        : NULL;
    status = cells ? see_all_given(extractor, sequence, false, error)
                   : see_nodes(extractor, sequence, error);
    if (!status && cells) {
        status = see_all_given(extractor, sequence, true, error);
    } else if (!status) {
        see_edges(extractor, &extractor->edge_plan, &observation->edge, sequence->length);
    }
    if (status) {
        return status;
    }
    drop_plain_values(&observation->node, observation->node.begin[sequence->length]);
    drop_plain_values(&observation->edge, observation->edge.begin[sequence->length]);
    if (observation->max_segment) {
        status = tr_extractor_see_segments(extractor, sequence, error);
    }
    *ret_observation = status ? NULL : observation;
    return status;
}

/* ---- counting -------------------------------------------------------------------------------- */

trellis_status tr_features_count(trellis_features *features, struct tr_extractor *extractor,
                                 const trellis_sequence *sequence, trellis_error *error)
{
    if (!features->counting) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_column_views_fill(&extractor->rows, sequence, error);
    for (size_t i = 0; !status && i < features->counters.size; i++) {
        struct tr_counter *counter = &features->counters.at[i];
        uint32_t column = features->views.at[counter->view].column;
        if (tr_binding_at(&extractor->rows.binding, column) >= sequence->columns) {
            continue;
        }
        const uint64_t *row = extractor->rows.low +
                              tr_column_views_at(&extractor->rows, counter->view, 0);
        for (size_t token = 0; token < sequence->length; token++) {
            if (row[token] && !tr_counter_add(counter, row[token])) {
                return tr_fail_memory(error);
            }
        }
    }
    return status;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The text of a part's value at a token, as tr_see_token() mixes its hash; false where it ends the
 * string. */
static bool add_value(struct tr_extractor *extractor, const trellis_sequence *sequence,
                      const struct tr_template_part *part, size_t token, struct tr_buffer *buffer)
{
    uint32_t reach = extractor->features->reach;
    ptrdiff_t at = part->absolute ? absolute_token(part->offset, sequence->length, reach)
                                  : (ptrdiff_t)token + part->offset;
    trellis_text text;
    if (tr_column_views_text(&extractor->rows, sequence, part->view, at, &text)) {
        tr_buffer_text(buffer, text);
    }
    return !extractor->rows.evaluation.overrun;
}

/* Native: text=value|value. CRF++ and Wapiti: the line with its macros replaced. */
static void add_template_text(struct tr_extractor *extractor, const trellis_sequence *sequence,
                              const struct tr_template *template, size_t token,
                              struct tr_buffer *buffer)
{
    const trellis_features *features = extractor->features;
    bool native = features->dialect == TR_NATIVE;
    trellis_text text = tr_intern_text(&features->texts, template->text);
    text.data++, text.size--; // its kind
    const char *macro = native || !text.size ? NULL : memchr(text.data, '%', text.size);
    tr_buffer_add(buffer, text.data, macro ? (size_t)(macro - text.data) : text.size);
    bool more = true;
    for (uint32_t k = 0; k < template->mixed && more; k++) {
        const struct tr_template_part *part = &features->parts.at[template->parts + k];
        if (native) {
            tr_buffer_char(buffer, k ? '|' : '=');
        }
        if (part->view == TR_NONE) {
            tr_buffer_text(buffer, tr_intern_text(&features->literals, part->literal));
        } else {
            more = add_value(extractor, sequence, part, token, buffer);
        }
    }
}

void tr_extractor_text(struct tr_extractor *extractor, const trellis_sequence *sequence,
                       enum tr_attribute_kind kind, size_t token, size_t index,
                       struct tr_buffer *buffer)
{
    const struct tr_observation *observation = &extractor->observation;
    const struct tr_seen *seen = tr_observed(observation, kind);
    size_t rows = kind == TR_SEGMENT_ATTRIBUTE ? observation->max_segment : 1;
    if (!extractor->whole || token >= observation->length * rows || index < seen->begin[token] ||
        index >= seen->begin[token + 1]) {
        return;
    }
    if (kind == TR_SEGMENT_ATTRIBUTE) {
        tr_extractor_segment_text(extractor, sequence, token, index, buffer);
        return;
    }
    uint32_t number = seen->template[index];
    if (number < extractor->features->templates.size) {
        add_template_text(extractor, sequence, &extractor->features->templates.at[number], token,
                          buffer);
    } else {
        tr_buffer_string(buffer, extractor->features->cells == TR_NODE_CELLS ? "u" : "");
        tr_buffer_text(buffer, given_string(extractor, sequence, token, UINT32_MAX - number));
    }
}

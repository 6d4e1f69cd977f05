/* segment_values.c - the values of the parts of segment templates, for all segments of a sequence.
 *
 * The key of x of several tokens mixes those of x at each token, from left to right; it is computed
 * once for every segment of up to L tokens, and head(), tail() and any() look up that of a shorter
 * one:
 *
 *     key(s, e) = mix(key(s, e - 1), x_e)
 */
#include "features/segment_values.h"

#include <stdio.h>

#include "features/name_list.h"

/* ---- which tables there are ------------------------------------------------------------------ */

static bool needs_table(enum tr_span_function span, struct tr_span_table *table)
{
    switch (span) {
    case TR_SPAN_TEXT:
    case TR_SPAN_HEAD:
    case TR_SPAN_TAIL:
    case TR_SPAN_ANY:
    case TR_SPAN_LEARNED:
        table->kind = TR_SPAN_KEYS;
        return true;
    case TR_SPAN_COUNT:
    case TR_SPAN_ALL:
        table->kind = TR_SPAN_COUNTS;
        return true;
    case TR_SPAN_LISTED:
        table->kind = TR_SPAN_LISTS;
        return true;
    case TR_SPAN_FUZZY:
    case TR_SPAN_SIMILARITY:
        table->kind = TR_SPAN_NAMES;
        return true;
    default:
        return false;
    }
}

static bool assign_table(struct tr_segment_values *values, uint32_t part)
{
    const struct tr_template_part *x = &values->features->parts.at[part];
    struct tr_span_table table = {.view = x->view, .resource = x->resource};
    table.resource = x->span == TR_SPAN_LEARNED ? TR_NONE : table.resource; // keys alone
    values->table_of[part] = TR_NONE;
    if (!needs_table(x->span, &table)) {
        return true;
    }
    for (uint32_t i = 0; i < values->tables.size; i++) {
        const struct tr_span_table *known = &values->tables.at[i];
        if (known->kind == table.kind && known->view == table.view &&
            known->resource == table.resource) {
            values->table_of[part] = i;
            return true;
        }
    }
    values->table_of[part] = (uint32_t)values->tables.size;
    return tr_push(&values->tables, table);
}

bool tr_segment_values_begin(struct tr_segment_values *values, const trellis_features *features,
                             struct tr_column_views *rows)
{
    values->features = features;
    values->rows = rows;
    values->table_of = tr_alloc(features->parts.size, sizeof *values->table_of);
    bool ok = values->table_of;
    for (uint32_t i = 0; ok && i < features->parts.size; i++) {
        ok = assign_table(values, i);
    }
    return ok;
}

void tr_segment_values_end(struct tr_segment_values *values)
{
    for (size_t i = 0; i < values->tables.size; i++) {
        free(values->tables.at[i].low);
        free(values->tables.at[i].high);
        free(values->tables.at[i].real);
    }
    free(values->tables.at);
    free(values->table_of);
    free(values->roles.at);
    tr_buffer_free(&values->text);
    free(values->word.at);
    free(values->hash.at);
    free(values->shared.at);
    free(values->touched.at);
}

/* ---- filling them ---------------------------------------------------------------------------- */

/* Room for an element a segment; false on allocation failure. */
static bool make_room(const struct tr_segment_values *values, struct tr_span_table *table)
{
    size_t need = values->length * values->max_segment + values->length + 2;
    bool keys = table->kind == TR_SPAN_KEYS || table->kind == TR_SPAN_COUNTS;
    if (need <= table->room) {
        return true;
    }
    free(table->low);
    free(table->high);
    free(table->real);
    table->low = keys ? tr_alloc(need, sizeof *table->low) : NULL;
    table->high = keys ? tr_alloc(need, sizeof *table->high) : NULL;
    table->real = keys ? NULL : tr_alloc(need, sizeof *table->real);
    bool ok = keys ? table->low && table->high : table->real != NULL;
    table->room = ok ? need : 0;
    return ok;
}

static size_t place(const struct tr_segment_values *values, size_t s, size_t e)
{
    return e * values->max_segment + (e - s);
}

/* The token behind the last of the segments that begin at s. */
static size_t end_of(const struct tr_segment_values *values, size_t s)
{
    size_t left = values->length - s;
    return s + (left < values->max_segment ? left : values->max_segment);
}

static void fill_keys(const struct tr_segment_values *values, struct tr_span_table *table)
{
    const struct tr_column_views *rows = values->rows;
    size_t row = tr_column_views_at(rows, table->view, 0);
    for (size_t s = 0; s < values->length; s++) {
        struct tr_key key = {1, 1};
        bool there = true;
        for (size_t e = s; e < end_of(values, s); e++) {
            struct tr_key x = {rows->low[row + e], rows->whole ? rows->high[row + e] : 0};
            there = there && x.low != 0;
            key = tr_mix(key, x);
            table->low[place(values, s, e)] = there ? key.low : 0;
            table->high[place(values, s, e)] = key.high;
        }
    }
}

static void fill_counts(const struct tr_segment_values *values, struct tr_span_table *table)
{
    size_t row = tr_column_views_at(values->rows, table->view, 0);
    table->low[0] = 0;
    for (size_t i = 0; i < values->length; i++) {
        table->low[i + 1] = table->low[i] + (values->rows->low[row + i] != 0);
    }
}

/* Appends x of a token, in lower case or not; false where it has none. */
static bool add_word(struct tr_segment_values *values, const trellis_sequence *sequence,
                     uint32_t view, size_t i, bool lower)
{
    trellis_text text;
    if (!tr_column_views_text(values->rows, sequence, view, (ptrdiff_t)i, &text)) {
        return false;
    }
    if (lower) {
        tr_lower_text(text, &values->text);
    } else {
        tr_buffer_text(&values->text, text);
    }
    return true;
}

static void fill_listed(struct tr_segment_values *values, const trellis_sequence *sequence,
                        struct tr_span_table *table)
{
    const struct tr_resource *resource = &values->features->resources.at[table->resource];
    bool lower = resource->kind == TR_LOWER_WORDS;
    for (size_t s = 0; s < values->length; s++) {
        bool there = true;
        values->text.size = 0;
        for (size_t e = s; e < end_of(values, s); e++) {
            if (e > s) {
                tr_buffer_char(&values->text, ' ');
            }
            there = there && add_word(values, sequence, table->view, e, lower);
            trellis_text text = {values->text.data, values->text.size};
            table->real[place(values, s, e)] = there && !values->text.failed &&
                                               tr_table_has(resource->data, tr_hash(text).low);
        }
    }
}

/* Counts the words that names share with the segment that has grown by the token e. */
static bool share_word(struct tr_segment_values *values, const struct tr_name_list *names, size_t e)
{
    size_t word = values->word.at[e], name;
    for (size_t k = 0;
         word != SIZE_MAX && (name = tr_name_list_of_word(names, word, k)) != SIZE_MAX; k++) {
        if (values->shared.at[name]++ == 0 && !tr_push(&values->touched, name)) {
            return false;
        }
    }
    return true;
}

static float best_similarity(const struct tr_segment_values *values,
                             const struct tr_name_list *names, size_t words)
{
    float best = 0;
    for (size_t k = 0; k < values->touched.size; k++) {
        size_t name = values->touched.at[k];
        float dice = 2 * (float)values->shared.at[name] /
                     (float)(words + tr_name_list_size(names, name));
        best = dice > best ? dice : best;
    }
    return best > 1 ? 1 : best;
}

/* The similarities of the segments that begin at s. */
static bool fill_from(struct tr_segment_values *values, const struct tr_name_list *names,
                      struct tr_span_table *table, size_t s)
{
    size_t words = 0;
    bool ok = true;
    values->touched.size = 0;
    for (size_t e = s; ok && e < end_of(values, s); e++) {
        bool again = false;
        for (size_t k = s; k < e; k++) {
            again = again || values->hash.at[k] == values->hash.at[e];
        }
        words += !again;
        ok = again || share_word(values, names, e);
        table->real[place(values, s, e)] = best_similarity(values, names, words);
    }
    for (size_t k = 0; k < values->touched.size; k++) {
        values->shared.at[values->touched.at[k]] = 0;
    }
    return ok;
}

static bool fill_names(struct tr_segment_values *values, const trellis_sequence *sequence,
                       struct tr_span_table *table)
{
    struct tr_name_list names = tr_name_list_view(
        values->features->resources.at[table->resource].data);
    bool ok = tr_reserve(&values->word, values->length) &&
              tr_reserve(&values->hash, values->length) && tr_reserve(&values->shared, names.names);
    for (size_t i = 0; ok && i < values->length; i++) {
        values->text.size = 0;
        bool there = add_word(values, sequence, table->view, i, true);
        trellis_text text = {values->text.data, values->text.size};
        values->hash.at[i] = there ? tr_hash(text).low : 0;
        values->word.at[i] = there ? tr_name_list_find(&names, values->hash.at[i]) : SIZE_MAX;
    }
    for (size_t s = 0; ok && s < values->length; s++) {
        ok = fill_from(values, &names, table, s);
    }
    return ok && !values->text.failed;
}

trellis_status tr_segment_values_fill(struct tr_segment_values *values,
                                      const trellis_sequence *sequence, trellis_error *error)
{
    bool ok = tr_segment_values_filter(values, sequence);
    values->length = sequence->length;
    for (size_t i = 0; ok && i < values->tables.size; i++) {
        struct tr_span_table *table = &values->tables.at[i];
        uint32_t column = values->features->views.at[table->view].column;
        if (tr_binding_at(&values->rows->binding, column) >= sequence->columns) {
            continue; // an optional column: no template uses it
        }
        ok = make_room(values, table);
        if (ok && table->kind == TR_SPAN_KEYS) {
            fill_keys(values, table);
        } else if (ok && table->kind == TR_SPAN_COUNTS) {
            fill_counts(values, table);
        } else if (ok && table->kind == TR_SPAN_LISTS) {
            fill_listed(values, sequence, table);
            ok = !values->text.failed;
        } else if (ok) {
            ok = fill_names(values, sequence, table);
        }
    }
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* ---- the values ------------------------------------------------------------------------------ */

static trellis_text size_text(size_t tokens, char *room)
{
    const char *text = tokens > 12 ? "13+" : tokens > 8 ? "9-12" : tokens > 6 ? "7-8" : NULL;
    snprintf(room, 24, "%zu", tokens);
    return tr_text(text ? text : room);
}

static trellis_text count_text(const struct tr_span_table *table, size_t s, size_t e, char *room)
{
    snprintf(room, 24, "%llu", (unsigned long long)(table->low[e + 1] - table->low[s]));
    return tr_text(room);
}

/* The answer about a segment; false where there is none. */
static bool learned_text(const struct tr_segment_values *values, uint32_t number, size_t s,
                         size_t e, trellis_text *ret_text)
{
    const struct tr_template_part *part = &values->features->parts.at[number];
    uint64_t key = values->tables.at[values->table_of[number]].low[place(values, s, e)];
    return key &&
           tr_learned_answer(values->features->resources.at[part->resource].data,
                             TR_LEARNED_SEGMENT, key, values->rows->evaluation.block, ret_text);
}

/* The segment whose key is that of a part; false where there is none. */
static bool piece(const struct tr_template_part *part, size_t s, size_t e, size_t at, size_t *ret_s,
                  size_t *ret_e)
{
    size_t n = part->number;
    switch (part->span) {
    case TR_SPAN_HEAD:
        *ret_s = s, *ret_e = s + n - 1;
        return *ret_e <= e;
    case TR_SPAN_TAIL:
        *ret_s = e + 1 - n, *ret_e = e;
        return n <= e + 1 - s;
    case TR_SPAN_ANY:
        *ret_s = at, *ret_e = at + n - 1;
        return *ret_e <= e;
    default:
        *ret_s = s, *ret_e = e;
        return true;
    }
}

bool tr_segment_value(const struct tr_segment_values *values, uint32_t number, size_t s, size_t e,
                      size_t at, struct tr_key *ret_key, float *ret_real)
{
    const struct tr_template_part *part = &values->features->parts.at[number];
    const struct tr_span_table *table = values->table_of[number] == TR_NONE
                                            ? NULL
                                            : &values->tables.at[values->table_of[number]];
    char room[24];
    size_t from, to, where;
    trellis_text text;
    switch (part->span) {
    case TR_SPAN_SIZE:
        *ret_key = tr_hash(size_text(e + 1 - s, room));
        return true;
    case TR_SPAN_COUNT:
        *ret_key = tr_hash(count_text(table, s, e, room));
        return true;
    case TR_SPAN_ALL:
        return table->low[e + 1] - table->low[s] == e + 1 - s;
    case TR_SPAN_LISTED:
        return table->real[place(values, s, e)] > 0;
    case TR_SPAN_FUZZY:
        return table->real[place(values, s, e)] * 100 >= (float)part->number;
    case TR_SPAN_SIMILARITY:
        *ret_real = table->real[place(values, s, e)];
        return *ret_real > 0;
    case TR_SPAN_LEARNED:
        if (!learned_text(values, number, s, e, &text)) {
            return false;
        }
        *ret_key = tr_hash(text);
        return true;
    case TR_SPAN_BEFORE:
    case TR_SPAN_AFTER:
        where = tr_column_views_at(values->rows, part->view,
                                   (ptrdiff_t)(part->span == TR_SPAN_BEFORE ? s : e) +
                                       part->offset);
        *ret_key = (struct tr_key){values->rows->low[where],
                                   values->rows->whole ? values->rows->high[where] : 0};
        return ret_key->low != 0;
    default:
        if (!piece(part, s, e, at, &from, &to)) {
            return false;
        }
        where = place(values, from, to);
        *ret_key = (struct tr_key){table->low[where], table->high[where]};
        return ret_key->low != 0;
    }
}

void tr_segment_text(struct tr_segment_values *values, const trellis_sequence *sequence,
                     uint32_t number, size_t s, size_t e, size_t at, struct tr_buffer *buffer)
{
    const struct tr_template_part *part = &values->features->parts.at[number];
    char room[24];
    trellis_text text;
    size_t from = s, to = e;
    if (part->span == TR_SPAN_SIZE) {
        tr_buffer_text(buffer, size_text(e + 1 - s, room));
    } else if (part->span == TR_SPAN_COUNT) {
        tr_buffer_text(buffer,
                       count_text(&values->tables.at[values->table_of[number]], s, e, room));
    } else if (part->span == TR_SPAN_LEARNED) {
        if (learned_text(values, number, s, e, &text)) {
            tr_buffer_text(buffer, text);
        }
    } else if (part->span == TR_SPAN_BEFORE || part->span == TR_SPAN_AFTER) {
        ptrdiff_t token = (ptrdiff_t)(part->span == TR_SPAN_BEFORE ? s : e) + part->offset;
        if (tr_column_views_text(values->rows, sequence, part->view, token, &text)) {
            tr_buffer_text(buffer, text);
        }
    } else if (piece(part, s, e, at, &from, &to)) {
        for (size_t i = from; i <= to; i++) {
            tr_buffer_string(buffer, i > from ? " " : "");
            if (tr_column_views_text(values->rows, sequence, part->view, (ptrdiff_t)i, &text)) {
                tr_buffer_text(buffer, text);
            }
        }
    }
}

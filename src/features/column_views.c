/* column_views.c - the values of all views in a sequence, as rows of hashes.
 *
 * Every view that a template uses has a row of hashes, one for each token, with a margin on both
 * sides for offsets that reach outside the sequence:
 *
 *     row of suffix(word,3):   | pads | token 0 | token 1 | ... | token n-1 | pads |
 *                              <reach>                                      <reach>
 *
 * A hash of 0 means that the view has no value there, which is all that a template has to check.
 * The value of a function depends on the cell alone, so the results of all functions of a column
 * are kept in a direct-mapped cache by the cell's hash; for most tokens no function is called.
 */
#include "features/column_views.h"

#include <math.h>
#include <stdio.h>

#include "corpus/corpus.h"
#include "features/embedding.h"
#include "features/gazetteer.h"

/* ---- creation -------------------------------------------------------------------------------- */

static void mark_used(const trellis_features *features, bool *used)
{
    for (size_t i = 0; i < features->parts.size; i++) {
        if (features->parts.at[i].view != TR_NONE) {
            used[features->parts.at[i].view] = true;
        }
    }
    for (size_t i = 0; i < features->counters.size; i++) {
        used[features->counters.at[i].view] = true;
    }
    for (size_t i = 0; i < features->learned.size; i++) {
        used[features->learned.at[i].view] = true;
    }
}

/* 0 for the cell itself, 1 for functions of it, 2 for numbers, 3 for what depends on the cells
 * beside it, 4 for components of vectors. */
static int rank_of(enum tr_operation operation)
{
    return operation == TR_OP_COLUMN      ? 0
           : operation == TR_OP_ELSEWHERE ? 0
           : operation == TR_OP_REAL      ? 2
           : operation == TR_OP_GAZETTEER ? 3
           : operation == TR_OP_EMBEDDING ? 4
                                          : 1;
}

/* Assigns rows to the used views of a column that have this rank. */
static uint32_t assign_rows(struct tr_column_views *rows, const bool *used, uint32_t column,
                            int rank)
{
    const trellis_features *features = rows->features;
    uint32_t count = 0;
    for (uint32_t i = 0; i < features->views.size; i++) {
        const struct tr_view *view = &features->views.at[i];
        if (used[i] && view->column == column && rank_of(view->operation) == rank) {
            rows->view_of[rows->count] = i;
            rows->row_of[i] = rows->count++;
            count++;
        }
    }
    return count;
}

static bool add_group(struct tr_column_views *rows, const bool *used, uint32_t column)
{
    struct tr_view_group group = {.column = column, .first = rows->count};
    group.plain = assign_rows(rows, used, column, 0);
    group.computed = assign_rows(rows, used, column, 1);
    group.reals = assign_rows(rows, used, column, 2);
    group.matched = assign_rows(rows, used, column, 3);
    group.components = assign_rows(rows, used, column, 4);
    return rows->count == group.first || tr_push(&rows->groups, group);
}

static bool lay_out_rows(struct tr_column_views *rows)
{
    const trellis_features *features = rows->features;
    rows->row_of = tr_alloc(features->views.size, sizeof *rows->row_of);
    rows->view_of = tr_alloc(features->views.size, sizeof *rows->view_of);
    bool *used = tr_alloc(features->views.size, sizeof *used);
    bool done = rows->row_of && rows->view_of && used;
    if (done) {
        memset(rows->row_of, 0xFF, features->views.size * sizeof *rows->row_of);
        mark_used(features, used);
        for (uint32_t i = 0; done && i < features->columns.size; i++) {
            done = add_group(rows, used, i);
        }
        done = done && add_group(rows, used, TR_NONE);
    }
    free(used);
    return done;
}

static size_t cache_entry(const struct tr_column_views *rows, const struct tr_view_group *group)
{
    return 1 + (size_t)group->computed * (rows->whole ? 2 : 1) * (rows->features->strings ? 2 : 1);
}

/* The caches together take at most a few megabytes, so that they stay in the processor's cache. */
static bool make_caches(struct tr_column_views *rows)
{
    const size_t max = (size_t)4 << 20;
    size_t entries = 0;
    for (size_t i = 0; i < rows->groups.size; i++) {
        entries += cache_entry(rows, &rows->groups.at[i]);
    }
    rows->slots = 16384;
    while (rows->slots > 256 && rows->slots * entries * sizeof(uint64_t) > max) {
        rows->slots /= 2;
    }
    for (size_t i = 0; i < rows->groups.size; i++) {
        struct tr_view_group *group = &rows->groups.at[i];
        if (group->computed && group->column != TR_NONE) {
            group->cache = tr_alloc(rows->slots * cache_entry(rows, group), sizeof(uint64_t));
            if (!group->cache) {
                return false;
            }
        }
    }
    return true;
}

static void clear_caches(struct tr_column_views *rows)
{
    for (size_t i = 0; i < rows->groups.size; i++) {
        struct tr_view_group *group = &rows->groups.at[i];
        if (group->cache) {
            memset(group->cache, 0, rows->slots * cache_entry(rows, group) * sizeof(uint64_t));
        }
    }
    rows->generation = rows->features->generation;
}

void tr_column_views_leave_out(struct tr_column_views *rows, uint64_t block)
{
    if (rows->features->learns_words && block != rows->evaluation.block) {
        clear_caches(rows);
    }
    rows->evaluation.block = block;
}

/* The key of a value; never 0, which means no value, except for strings, where every view has
 * one. */
static struct tr_string_key value_key(const struct tr_column_views *rows, trellis_text text)
{
    struct tr_string_key key = tr_features_key(rows->features, text);
    if (!rows->features->strings) {
        key.hash.low += key.hash.low == 0;
    } else if (rows->evaluation.overrun) {
        key.span.low |= TR_STRING_END;
    }
    return key;
}

/* The key of a test that holds, or of any other view that has no value of its own. */
static struct tr_string_key presence_key(bool there)
{
    return (struct tr_string_key){{there, there}, {0, 0}};
}

static struct tr_string_key view_key(struct tr_column_views *rows, uint32_t view, trellis_text cell)
{
    trellis_text text;
    if (!tr_view_text(&rows->evaluation, view, cell, &text)) {
        return presence_key(false);
    }
    enum tr_operation operation = rows->features->views.at[view].operation;
    return tr_function_result(operation) == TR_GIVES_TEST ? presence_key(true)
                                                          : value_key(rows, text);
}

/* "_B-1", "_B+2", ...; Wapiti's "_x-1" stops counting at 4. `distance` is from 1. */
static trellis_text pad_text(enum tr_dialect dialect, bool before, uint32_t distance, char room[16])
{
    char sign = before ? '-' : '+';
    if (dialect == TR_WAPITI && distance >= TR_WAPITI_PADS) {
        snprintf(room, 16, "_x%c#", sign);
    } else {
        snprintf(room, 16, "_%c%c%u", dialect == TR_WAPITI ? 'x' : 'B', sign, distance);
    }
    return tr_text(room);
}

/* The value of a view outside the sequence: in Wapiti functions are applied to the pad, elsewhere
 * the pad replaces their value. */
static bool pad_value(struct tr_column_views *rows, uint32_t view, trellis_text pad,
                      trellis_text *ret_text)
{
    const trellis_features *features = rows->features;
    enum tr_operation operation = features->views.at[view].operation;
    if (features->dialect == TR_WAPITI) {
        return tr_view_text(&rows->evaluation, view, pad, ret_text);
    }
    *ret_text = pad;
    return (features->dialect == TR_CRFPP || features->pad) &&
           tr_function_result(operation) == TR_GIVES_TEXT;
}

static bool make_pads(struct tr_column_views *rows)
{
    uint32_t reach = rows->features->reach;
    rows->pad = tr_alloc((size_t)rows->count * 2 * reach, sizeof *rows->pad);
    if (!rows->pad) {
        return false;
    }
    for (uint32_t row = 0; row < rows->count; row++) {
        for (uint32_t k = 0; k < 2 * reach; k++) {
            char room[16];
            bool before = k < reach;
            trellis_text text, pad = pad_text(rows->features->dialect, before,
                                              before ? reach - k : k - reach + 1, room);
            if (pad_value(rows, rows->view_of[row], pad, &text)) {
                rows->pad[(size_t)row * 2 * reach + k] = value_key(rows, text);
            }
        }
    }
    return true;
}

bool tr_column_views_begin(struct tr_column_views *rows, const trellis_features *features,
                           bool whole)
{
    *rows = (struct tr_column_views){.features = features, .whole = whole};
    rows->generation = features->generation;
    rows->has_reals = tr_features_has_reals(features);
    return tr_evaluation_begin(&rows->evaluation, features) &&
           tr_binding_create(&rows->binding, features) && lay_out_rows(rows) && make_caches(rows) &&
           make_pads(rows);
}

void tr_column_views_end(struct tr_column_views *rows)
{
    tr_evaluation_end(&rows->evaluation);
    tr_binding_free(&rows->binding);
    for (size_t i = 0; i < rows->groups.size; i++) {
        free(rows->groups.at[i].cache);
    }
    free(rows->groups.at);
    free(rows->row_of);
    free(rows->view_of);
    free(rows->low);
    free(rows->high);
    free(rows->low_span);
    free(rows->high_span);
    free(rows->real);
    free(rows->words);
    free(rows->places);
    free(rows->pad);
}

/* ---- filling --------------------------------------------------------------------------------- */

static trellis_status make_room(struct tr_column_views *rows, size_t length, trellis_error *error)
{
    size_t margins = 2 * (size_t)rows->features->reach, need, cells;
    if (__builtin_add_overflow(length, margins, &need)) {
        return tr_fail_memory(error);
    }
    if (need <= rows->room) {
        return TRELLIS_OK;
    }
    size_t room = need < SIZE_MAX / 2 ? need + need / 2 : need;
    room = room < 128 ? 128 : room;
    rows->room = 0;
    rows->moves++;
    free(rows->low);
    free(rows->high);
    free(rows->low_span);
    free(rows->high_span);
    free(rows->real);
    free(rows->words);
    free(rows->places);
    rows->low = rows->high = rows->low_span = rows->high_span = rows->words = NULL;
    rows->real = NULL;
    rows->places = NULL;
    if (__builtin_mul_overflow(room, (size_t)rows->count, &cells)) {
        return tr_fail_memory(error);
    }
    rows->low = tr_alloc(cells, sizeof *rows->low);
    rows->high = tr_alloc(rows->whole ? cells : 0, sizeof *rows->high);
    size_t spans = rows->features->strings ? cells : 0;
    rows->low_span = tr_alloc(spans, sizeof *rows->low_span);
    rows->high_span = tr_alloc(rows->whole ? spans : 0, sizeof *rows->high_span);
    rows->real = tr_alloc(rows->has_reals ? cells : 0, sizeof *rows->real);
    rows->words = tr_alloc(room, sizeof *rows->words);
    rows->places = tr_alloc(room, sizeof *rows->places);
    if (!rows->low || !rows->high || !rows->low_span || !rows->high_span || !rows->real ||
        !rows->words || !rows->places) {
        return tr_fail_memory(error);
    }
    rows->room = room;
    return TRELLIS_OK;
}

static void put_at(struct tr_column_views *rows, size_t at, const struct tr_string_key *key)
{
    rows->low[at] = key->hash.low;
    if (rows->whole) {
        rows->high[at] = key->hash.high;
    }
    if (rows->features->strings) {
        rows->low_span[at] = key->span.low;
    }
    if (rows->whole && rows->features->strings) {
        rows->high_span[at] = key->span.high;
    }
}

static void put(struct tr_column_views *rows, uint32_t row, size_t token, struct tr_string_key key)
{
    put_at(rows, row * rows->room + rows->features->reach + token, &key);
}

static void fill_pads(struct tr_column_views *rows, size_t length)
{
    uint32_t reach = rows->features->reach;
    for (uint32_t row = 0; reach && row < rows->count; row++) {
        const struct tr_string_key *pad = rows->pad + (size_t)row * 2 * reach;
        size_t before = row * rows->room, after = before + reach + length;
        for (uint32_t k = 0; k < reach; k++) {
            put_at(rows, before + k, &pad[k]);
            put_at(rows, after + k, &pad[reach + k]);
        }
    }
}

static void compute_entry(struct tr_column_views *rows, const struct tr_view_group *group,
                          trellis_text cell, uint64_t *entry)
{
    uint32_t count = group->computed;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t view = rows->view_of[group->first + group->plain + k];
        struct tr_string_key key = view_key(rows, view, cell);
        uint64_t *next = entry + 1 + k;
        *next = key.hash.low;
        if (rows->whole) {
            *(next += count) = key.hash.high;
        }
        if (rows->features->strings) {
            *(next += count) = key.span.low;
        }
        if (rows->features->strings && rows->whole) {
            next[count] = key.span.high;
        }
    }
}

/* Copies what the cache has of one half to the rows, and returns what comes after it. */
static const uint64_t *copy_cached(const uint64_t *cached, uint32_t count, size_t room,
                                   uint64_t *row)
{
    for (uint32_t k = 0; k < count; k++) {
        row[k * room] = cached[k];
    }
    return cached + count;
}

/* Fills the rows of the functions of a cell, from the cache if possible. */
static void fill_computed(struct tr_column_views *rows, const struct tr_view_group *group,
                          trellis_text cell, uint64_t hash, size_t token)
{
    uint64_t *entry = group->cache + (hash & (rows->slots - 1)) * cache_entry(rows, group);
    if (entry[0] != hash) {
        entry[0] = hash;
        compute_entry(rows, group, cell, entry);
    }
    uint32_t count = group->computed;
    size_t room = rows->room;
    size_t at = (group->first + group->plain) * room + rows->features->reach + token;
    const uint64_t *cached = copy_cached(entry + 1, count, room, rows->low + at);
    if (rows->whole) {
        cached = copy_cached(cached, count, room, rows->high + at);
    }
    if (rows->features->strings) {
        cached = copy_cached(cached, count, room, rows->low_span + at);
    }
    if (rows->features->strings && rows->whole) {
        copy_cached(cached, count, room, rows->high_span + at);
    }
}

static trellis_status fill_reals(struct tr_column_views *rows, const struct tr_view_group *group,
                                 const trellis_sequence *sequence, trellis_text cell, size_t token,
                                 trellis_error *error)
{
    for (uint32_t k = 0; k < group->reals; k++) {
        uint32_t row = group->first + group->plain + group->computed + k;
        trellis_text text;
        bool there = tr_view_text(&rows->evaluation, rows->view_of[row], cell, &text);
        double value = 0;
        if (there && (!tr_text_real(text, &value) || !isfinite((float)value))) {
            return tr_fail_token(error, TRELLIS_FORMAT, sequence, token,
                                 "the templates expect a finite number, not '%.*s'", TR_SHOW(text));
        }
        put(rows, row, token, presence_key(there));
        rows->real[row * rows->room + rows->features->reach + token] = (float)value;
    }
    return TRELLIS_OK;
}

/* ---- gazetteers ------------------------------------------------------------------------------ */

/* The hash of what a gazetteer sees of a cell; 0 if that is nothing. */
static uint64_t gazetteer_word(struct tr_column_views *rows, const struct tr_view *view,
                               trellis_text cell)
{
    struct tr_evaluation *evaluation = &rows->evaluation;
    trellis_text word;
    if (!tr_view_text(evaluation, view->argument, cell, &word)) {
        return 0;
    }
    if (rows->features->resources.at[view->resource].kind == TR_LOWER_GAZETTEER) {
        struct tr_buffer *lower = &evaluation->scratch[view->depth];
        lower->size = 0;
        tr_lower_text(tr_seen_of_cell(evaluation, word), lower);
        word = (trellis_text){lower->data, lower->size};
    }
    return tr_gazetteer_word(word);
}

/* Fills rows->places with the places of a column's words in entries of the view's type. */
static void match_entries(struct tr_column_views *rows, const struct tr_view *view,
                          const trellis_sequence *sequence)
{
    struct tr_gazetteer gazetteer;
    size_t column = tr_binding_at(&rows->binding, view->column);
    if (!tr_gazetteer_open(rows->features->resources.at[view->resource].data, &gazetteer)) {
        memset(rows->places, 0, sequence->length);
        return;
    }
    for (size_t i = 0; i < sequence->length; i++) {
        rows->words[i] = gazetteer_word(rows, view,
                                        sequence->cells[i * sequence->columns + column]);
    }
    tr_gazetteer_match(&gazetteer, view->number - 1, rows->words, sequence->length, rows->places);
}

static void fill_matched(struct tr_column_views *rows, const struct tr_view_group *group,
                         const trellis_sequence *sequence)
{
    for (uint32_t k = 0; k < group->matched; k++) {
        uint32_t row = group->first + group->plain + group->computed + group->reals + k;
        match_entries(rows, &rows->features->views.at[rows->view_of[row]], sequence);
        for (size_t i = 0; i < sequence->length; i++) {
            trellis_text place = {&rows->places[i], 1};
            put(rows, row, i, *place.data ? value_key(rows, place) : presence_key(false));
        }
    }
}

/* ---- embeddings ------------------------------------------------------------------------------ */

/* The row of a cell's vector: of the word as it is written, else in lower case. */
static bool find_vector(struct tr_column_views *rows, const struct tr_view *view, trellis_text cell,
                        const struct tr_embedding *embedding, uint64_t *ret_row)
{
    trellis_text word;
    if (!embedding->words || !tr_view_text(&rows->evaluation, view->argument, cell, &word)) {
        return false;
    }
    if (tr_embedding_find(embedding, word, ret_row)) {
        return true;
    }
    struct tr_buffer *lower = &rows->evaluation.scratch[view->depth];
    lower->size = 0;
    tr_lower_text(tr_seen_of_cell(&rows->evaluation, word), lower);
    return tr_embedding_find(embedding, (trellis_text){lower->data, lower->size}, ret_row);
}

/* Rows of the same vector are adjacent: it is looked for once. */
static void fill_components(struct tr_column_views *rows, const struct tr_view_group *group,
                            trellis_text cell, size_t token)
{
    const struct tr_view *views = rows->features->views.at, *before = NULL;
    struct tr_embedding embedding = {0};
    uint32_t first = group->first + group->plain + group->computed + group->reals + group->matched;
    uint64_t found = 0;
    bool there = false;
    for (uint32_t row = first; row < first + group->components; row++) {
        const struct tr_view *view = &views[rows->view_of[row]];
        if (!before || before->argument != view->argument || before->resource != view->resource) {
            tr_embedding_open(rows->features->resources.at[view->resource].data, &embedding);
            there = find_vector(rows, view, cell, &embedding, &found);
        }
        before = view;
        put(rows, row, token, presence_key(there));
        rows->real[row * rows->room + rows->features->reach + token] =
            there ? tr_embedding_component(&embedding, found, view->number - 1) : 0;
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The cell of a column at other places of the word; false if there are none. */
static bool find_elsewhere(const trellis_sequence *sequence, size_t token, size_t column,
                           trellis_text *ret_cell)
{
    *ret_cell = sequence->elsewhere ? sequence->elsewhere[token * sequence->columns + column]
                                    : (trellis_text){0};
    return ret_cell->data != NULL;
}

/* The key of a cell, which no function has seen. */
static struct tr_string_key cell_key(struct tr_column_views *rows, trellis_text cell)
{
    rows->evaluation.overrun = false;
    return value_key(rows, cell);
}

/* What a column has elsewhere has no values where the context is unknown. */
static void fill_nothing(struct tr_column_views *rows, const struct tr_view_group *group,
                         size_t token)
{
    for (uint32_t k = 0; k < group->plain + group->computed; k++) {
        put(rows, group->first + k, token, presence_key(false));
    }
}

static trellis_status fill_column(struct tr_column_views *rows, const struct tr_view_group *group,
                                  const trellis_sequence *sequence, trellis_error *error)
{
    size_t column = tr_binding_at(&rows->binding, group->column);
    bool elsewhere = rows->features->columns.at[group->column].elsewhere;
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text cell = sequence->cells[i * sequence->columns + column];
        if (elsewhere && !find_elsewhere(sequence, i, column, &cell)) {
            fill_nothing(rows, group, i);
            continue;
        }
        struct tr_string_key key = cell_key(rows, cell);
        if (group->plain) {
            put(rows, group->first, i, key);
        }
        if (group->computed) {
            uint64_t hash = rows->features->strings ? ~key.hash.low : key.hash.low; // not 0
            fill_computed(rows, group, cell, hash, i);
        }
        trellis_status status = group->reals ? fill_reals(rows, group, sequence, cell, i, error)
                                             : TRELLIS_OK;
        if (status) {
            return status;
        }
        if (group->components) {
            fill_components(rows, group, cell, i);
        }
    }
    fill_matched(rows, group, sequence);
    return TRELLIS_OK;
}

static void fill_positions(struct tr_column_views *rows, const struct tr_view_group *group,
                           const trellis_sequence *sequence)
{
    for (uint32_t k = 0; k < group->computed; k++) {
        uint32_t row = group->first + k;
        enum tr_operation operation = rows->features->views.at[rows->view_of[row]].operation;
        bool test = tr_function_result(operation) == TR_GIVES_TEST;
        for (size_t i = 0; i < sequence->length; i++) {
            trellis_text text;
            struct tr_string_key key = presence_key(false);
            if (tr_place_text(operation, sequence, i, &text)) {
                key = test ? presence_key(true) : value_key(rows, text);
            }
            put(rows, row, i, key);
        }
    }
}

static trellis_status check_evaluation(struct tr_column_views *rows, struct tr_place place,
                                       trellis_error *error)
{
    bool failed = false;
    for (size_t i = 0; i < TR_COUNT(rows->evaluation.scratch); i++) {
        failed |= rows->evaluation.scratch[i].failed;
        rows->evaluation.scratch[i].failed = false;
    }
    failed |= rows->evaluation.seen.failed;
    rows->evaluation.seen.failed = false;
    bool exhausted = rows->evaluation.exhausted;
    rows->evaluation.exhausted = false;
    if (failed || exhausted) {
        clear_caches(rows); // some results in them are missing
    }
    return failed      ? tr_fail_memory(error)
           : exhausted ? tr_fail_at(error, TRELLIS_LIMIT, place,
                                    "the regular expressions of the templates take more than %llu "
                                    "steps (--max-matches)",
                                    (unsigned long long)rows->evaluation.max_steps)
                       : TRELLIS_OK;
}

/* Fails if the sequence lacks a column that is not optional. */
static trellis_status check_columns(struct tr_column_views *rows, const trellis_sequence *sequence,
                                    trellis_error *error)
{
    for (size_t i = 0; i < rows->groups.size; i++) {
        uint32_t column = rows->groups.at[i].column;
        if (column == TR_NONE || rows->features->columns.at[column].optional) {
            continue;
        }
        size_t at = tr_binding_at(&rows->binding, column);
        if (at >= sequence->columns && sequence->line == 0) {
            return tr_fail(error, TRELLIS_FORMAT,
                           "the templates need column %zu, but there are %zu columns", at + 1,
                           sequence->columns);
        }
        if (at >= sequence->columns) {
            return tr_fail_at(
                error, TRELLIS_FORMAT, (struct tr_place){.line = sequence->line},
                "line %llu: the templates need column %zu, but there %s %llu column%s",
                (unsigned long long)sequence->line, at + 1, sequence->columns == 1 ? "is" : "are",
                TR_COUNTED(sequence->columns));
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_column_views_fill(struct tr_column_views *rows, const trellis_sequence *sequence,
                                    trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (!rows->binding.made) {
        status = tr_binding_make(&rows->binding, rows->features, NULL, SIZE_MAX, error);
    }
    if (rows->generation != rows->features->generation) {
        clear_caches(rows);
    }
    rows->evaluation.steps_left = rows->evaluation.max_steps;
    status = status ? status : check_columns(rows, sequence, error);
    status = status ? status : make_room(rows, sequence->length, error);
    for (size_t i = 0; !status && i < rows->groups.size; i++) {
        const struct tr_view_group *group = &rows->groups.at[i];
        if (group->column == TR_NONE) {
            fill_positions(rows, group, sequence);
        } else if (tr_binding_at(&rows->binding, group->column) < sequence->columns) {
            status = fill_column(rows, group, sequence, error);
        }
    }
    if (status) {
        return status;
    }
    fill_pads(rows, sequence->length);
    return check_evaluation(rows, (struct tr_place){.line = sequence->line}, error);
}

bool tr_column_views_always_present(const struct tr_column_views *rows, uint32_t view)
{
    size_t margins = 2 * (size_t)rows->features->reach;
    bool always = rows->features->views.at[view].operation == TR_OP_COLUMN;
    if (rows->features->strings) {
        return !tr_view_may_end(rows->features, view);
    }
    for (size_t k = 0; always && k < margins; k++) {
        always = rows->pad[rows->row_of[view] * margins + k].hash.low != 0;
    }
    return always;
}

/* ---- texts ----------------------------------------------------------------------------------- */

bool tr_column_views_text(struct tr_column_views *rows, const trellis_sequence *sequence,
                          uint32_t number, ptrdiff_t token, trellis_text *ret_text)
{
    const trellis_features *features = rows->features;
    const struct tr_view *view = &features->views.at[number];
    ptrdiff_t length = (ptrdiff_t)sequence->length;
    if (token < 0 || token >= length) {
        uint32_t distance = (uint32_t)(token < 0 ? -token : token - length + 1);
        trellis_text pad = pad_text(features->dialect, token < 0, distance, rows->pad_text);
        return pad_value(rows, number, pad, ret_text);
    }
    if (view->column == TR_NONE) {
        return tr_place_text(view->operation, sequence, (size_t)token, ret_text);
    }
    size_t column = tr_binding_at(&rows->binding, view->column);
    if (view->operation == TR_OP_GAZETTEER && column < sequence->columns) {
        match_entries(rows, view, sequence);
        *ret_text = (trellis_text){&rows->places[token], rows->places[token] != 0};
        return ret_text->size > 0;
    }
    if (column >= sequence->columns) {
        return false;
    }
    trellis_text cell = sequence->cells[(size_t)token * sequence->columns + column];
    bool there = !features->columns.at[view->column].elsewhere ||
                 find_elsewhere(sequence, (size_t)token, column, &cell);
    return there && tr_view_text(&rows->evaluation, number, cell, ret_text);
}

/* contexts.c - finds templates that look at the same few cells, and the keys of what they see. */
#include "features/contexts.h"

#include "features/template_keys.h"

/* The cells that a template looks at. */
struct extent {
    bool loose;
    bool plain; // cells as they are written, and of one column
    uint32_t columns[TR_MAX_CONTEXT_COLUMNS];
    size_t column_count;
    int32_t first, last; // offsets of tokens
};

bool tr_extractor_use_contexts(struct tr_extractor *extractor)
{
    struct tr_contexts *contexts = &extractor->contexts;
    size_t templates = extractor->features->templates.size;
    if (extractor->has_absolute || extractor->features->cells) {
        return true; // the first would be planned anew for each sequence, the others have none
    }
    contexts->home = tr_alloc(templates, sizeof *contexts->home);
    contexts->planned = tr_alloc(templates, sizeof *contexts->planned);
    extractor->planned = false;
    return contexts->home && contexts->planned;
}

const struct tr_contexts *tr_extractor_contexts(const struct tr_extractor *extractor)
{
    return &extractor->contexts;
}

/* ---- which templates belong together --------------------------------------------------------- */

/* The view of a column as it is written, TR_NONE where no template uses it. */
static uint32_t plain_view(const struct tr_extractor *extractor, uint32_t column)
{
    const trellis_features *features = extractor->features;
    for (uint32_t i = 0; i < features->views.size; i++) {
        const struct tr_view *view = &features->views.at[i];
        if (view->operation == TR_OP_COLUMN && view->column == column &&
            extractor->rows.row_of[i] != TR_NONE) {
            return i;
        }
    }
    return TR_NONE;
}

/* Whether the value of a view depends on a cell and nothing else. */
static bool is_of_cell(const struct tr_view *view)
{
    return view->column != TR_NONE && view->operation != TR_OP_REAL &&
           view->operation != TR_OP_GAZETTEER && view->operation != TR_OP_EMBEDDING;
}

static bool has_column(const uint32_t *columns, size_t count, uint32_t column)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i] == column) {
            return true;
        }
    }
    return false;
}

static void extend(const struct tr_extractor *extractor, const struct tr_template_part *part,
                   struct extent *extent)
{
    const struct tr_view *view = &extractor->features->views.at[part->view];
    bool new = !has_column(extent->columns, extent->column_count, view->column);
    if (part->absolute || !is_of_cell(view) || part->offset > TR_MAX_CONTEXT_OFFSET ||
        part->offset < -TR_MAX_CONTEXT_OFFSET ||
        (new && extent->column_count == TR_MAX_CONTEXT_COLUMNS) ||
        (new &&plain_view(extractor, view->column) == TR_NONE)) {
        extent->loose = true;
        return;
    }
    extent->first = part->offset < extent->first ? part->offset : extent->first;
    extent->last = part->offset > extent->last ? part->offset : extent->last;
    if (new) {
        extent->columns[extent->column_count++] = view->column;
    }
    extent->plain = extent->plain && view->operation == TR_OP_COLUMN && extent->column_count == 1;
}

static struct extent find_extent(const struct tr_extractor *extractor, uint32_t number,
                                 size_t columns)
{
    const trellis_features *features = extractor->features;
    const struct tr_template *template = &features->templates.at[number];
    struct extent extent = {.plain = true, .first = INT32_MAX, .last = INT32_MIN};
    extent.loose = template->edge || template->segment || template->factors ||
                   !tr_extractor_is_active(extractor, template, columns);
    for (uint32_t k = 0; !extent.loose && k < template->mixed + template->conditions; k++) {
        const struct tr_template_part *part = &features->parts.at[template->parts + k];
        if (part->view != TR_NONE) {
            extend(extractor, part, &extent);
        }
    }
    extent.loose = extent.loose || extent.column_count == 0;
    return extent;
}

/* The number of the slot with an offset, TR_MAX_SLOTS where there is none. */
static size_t find_slot(const struct tr_context *context, ptrdiff_t offset)
{
    for (size_t i = 0; i < context->slot_count; i++) {
        if (context->slots[i].offset == offset) {
            return i;
        }
    }
    return TR_MAX_SLOTS;
}

static size_t add_slot(struct tr_context *context, ptrdiff_t offset)
{
    size_t slot = find_slot(context, offset);
    if (slot == TR_MAX_SLOTS) {
        slot = context->slot_count++;
        context->slots[slot] = (struct tr_context_slot){.offset = offset};
    }
    return slot;
}

/* The context of three cells in a row of a column, NULL where there is none. */
static struct tr_context *find_window(struct tr_contexts *contexts, uint32_t column)
{
    for (size_t i = 1; i < contexts->count; i++) {
        if (contexts->at[i].column[0] == column) {
            return &contexts->at[i];
        }
    }
    return NULL;
}

/* Makes a slot for each three cells in a row that some template looks at. */
static void make_windows(struct tr_extractor *extractor, size_t columns)
{
    struct tr_contexts *contexts = &extractor->contexts;
    for (uint32_t t = 0; t < extractor->features->templates.size; t++) {
        struct extent extent = find_extent(extractor, t, columns);
        if (extent.loose || !extent.plain || extent.last - extent.first != TR_WINDOW - 1) {
            continue;
        }
        struct tr_context *window = find_window(contexts, extent.columns[0]);
        if (!window && contexts->count < TR_MAX_CONTEXTS) {
            window = &contexts->at[contexts->count++];
            *window = (struct tr_context){
                .column = {extent.columns[0]}, .columns = 1, .span = TR_WINDOW};
        }
        if (window) {
            add_slot(window, extent.first);
        }
    }
}

/* The slot that has all cells of a template. */
static struct tr_context_home find_home(struct tr_contexts *contexts, const struct extent *extent)
{
    const struct tr_context_home loose = {TR_MAX_CONTEXTS, 0};
    struct tr_context *tokens = &contexts->at[0];
    struct tr_context *window = extent->loose || !extent->plain
                                    ? NULL
                                    : find_window(contexts, extent->columns[0]);
    for (size_t i = 0; window && i < window->slot_count; i++) {
        ptrdiff_t from = window->slots[i].offset;
        if (extent->first >= from && extent->last < from + TR_WINDOW) {
            return (struct tr_context_home){(uint8_t)(window - contexts->at), (uint8_t)i};
        }
    }
    if (extent->loose || extent->first != extent->last) {
        return loose;
    }
    for (size_t i = 0; i < extent->column_count; i++) {
        if (has_column(tokens->column, tokens->columns, extent->columns[i])) {
            continue;
        }
        if (tokens->columns == TR_MAX_CONTEXT_COLUMNS) {
            return loose;
        }
        tokens->column[tokens->columns++] = extent->columns[i];
    }
    return (struct tr_context_home){0, (uint8_t)add_slot(tokens, extent->first)};
}

/* Lists the templates slot by slot. */
static void list_templates(struct tr_extractor *extractor)
{
    struct tr_contexts *contexts = &extractor->contexts;
    struct tr_planned *next = contexts->planned;
    contexts->signature = 0;
    for (size_t c = 0; c < contexts->count; c++) {
        struct tr_context *context = &contexts->at[c];
        context->even = !extractor->features->strings;
        for (size_t s = 0; s < context->slot_count; s++) {
            struct tr_plan *plan = &context->slots[s].plan;
            plan->at = next;
            for (uint32_t t = 0; t < extractor->features->templates.size; t++) {
                if (contexts->home[t].context == c && contexts->home[t].slot == s) {
                    plan->at[plan->count++] = tr_plan_template(extractor, t);
                    context->even &= tr_extractor_is_even(extractor,
                                                          &extractor->features->templates.at[t]);
                    contexts->signature = tr_fold(contexts->signature ^ t ^ 0x9E3779B97F4A7C15u,
                                                  0xD6E8FEB86659FD93u + c * TR_MAX_SLOTS + s);
                }
            }
            next += plan->count;
            context->template_count += plan->count;
        }
    }
}

void tr_contexts_find(struct tr_extractor *extractor, size_t columns)
{
    struct tr_contexts *contexts = &extractor->contexts;
    if (!contexts->home) {
        return;
    }
    contexts->at[0] = (struct tr_context){.span = 1};
    contexts->count = 1;
    make_windows(extractor, columns);
    for (uint32_t t = 0; t < extractor->features->templates.size; t++) {
        struct extent extent = find_extent(extractor, t, columns);
        contexts->home[t] = find_home(contexts, &extent);
    }
    list_templates(extractor);
    contexts->count = contexts->signature ? contexts->count : 0; // there are no templates
    for (size_t c = 0; c < contexts->count; c++) {
        struct tr_context *context = &contexts->at[c];
        for (size_t i = 0; i < context->columns; i++) {
            size_t at = tr_column_views_at(&extractor->rows,
                                           plain_view(extractor, context->column[i]), 0);
            context->cells[i] = (struct tr_source){.low = extractor->rows.low + at};
            if (extractor->features->strings) {
                context->cells[i].low_span = extractor->rows.low_span + at;
            }
        }
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t key, uint64_t next)
{
    return tr_fold(key ^ 0x9E3779B97F4A7C15u, next ^ 0xD6E8FEB86659FD93u) + key;
}

/* How many cells lie before the sequence and after it: a pad is not a cell with the same text. */
static uint64_t outside(const struct tr_context *context, size_t n, ptrdiff_t anchor)
{
    ptrdiff_t end = anchor + (ptrdiff_t)context->span - (ptrdiff_t)n;
    return (anchor < 0 ? (uint64_t)-anchor << 32 : 0) | (end > 0 ? (uint64_t)end : 0);
}

void tr_context_keys(const struct tr_context *context, size_t n, ptrdiff_t first, size_t count,
                     uint64_t *keys)
{
    for (size_t k = 0; k < count; k++) {
        ptrdiff_t anchor = first + (ptrdiff_t)k;
        uint64_t key = outside(context, n, anchor);
        for (size_t i = 0; i < context->columns; i++) {
            const struct tr_source *cell = &context->cells[i];
            for (ptrdiff_t at = anchor; at < anchor + (ptrdiff_t)context->span; at++) {
                key = mix(key, cell->low[at]);
                key = cell->low_span ? mix(key, cell->low_span[at]) : key;
            }
        }
        keys[k] = key + (key == 0);
    }
}

size_t tr_context_attributes(const struct tr_extractor *extractor,
                             const struct tr_context_slot *slot, ptrdiff_t anchor, uint64_t *keys)
{
    struct tr_seen seen = {.low = keys};
    size_t token = (size_t)(anchor - slot->offset); // may be negative: its cells are there
    return extractor->features->strings
               ? tr_see_strings(&slot->plan, extractor->sources, token, false, &seen, 0)
               : tr_see_token(&slot->plan, extractor->sources, token, false, false, &seen, 0);
}

void tr_context_run(const struct tr_extractor *extractor, const struct tr_context *context,
                    ptrdiff_t first, size_t count, uint64_t *keys)
{
    for (size_t s = 0; s < context->slot_count; s++) {
        const struct tr_context_slot *slot = &context->slots[s];
        tr_see_evenly(&slot->plan, extractor->sources, false, (size_t)(first - slot->offset), count,
                      keys, context->template_count);
        keys += slot->plan.count;
    }
}

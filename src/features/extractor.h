/* extractor.h - the workspace of one thread that makes attributes of a sequence; for extract*.c. */
#ifndef TRELLIS_FEATURES_EXTRACTOR_H
#define TRELLIS_FEATURES_EXTRACTOR_H

#include "features/segment_values.h"

/* Where a part of a template finds its value at token i: low[i & mask]. */
struct tr_source {
    const uint64_t *low, *high;
    const uint64_t *low_span, *high_span; // of strings
    const float *real;
    size_t mask; // all ones, or 0 for a literal or an absolute position
    bool negated;
};

struct tr_planned {
    struct tr_key key;
    uint32_t number; // of the template
    uint32_t source; // its first
    uint32_t mixed, conditions, factors;
};

struct tr_plan {
    struct tr_planned *at; // [count] templates whose columns are there
    size_t count;
    bool even; // all templates have a key at all tokens, and none has a value
};

/* Contexts (contexts.h). */
enum {
    TR_MAX_CONTEXTS = 4,        // that of tokens, and of three cells in a row
    TR_MAX_CONTEXT_COLUMNS = 4, // of tokens
    TR_MAX_CONTEXT_OFFSET = 8,
    TR_MAX_SLOTS = 2 * TR_MAX_CONTEXT_OFFSET + 1,
    TR_WINDOW = 3, // cells in a row
};

struct tr_context_slot {
    ptrdiff_t offset; // of the anchor from the token
    struct tr_plan plan;
};

struct tr_context {
    uint32_t column[TR_MAX_CONTEXT_COLUMNS]; // [columns]
    size_t columns, span;
    struct tr_source cells[TR_MAX_CONTEXT_COLUMNS]; // [columns] as written, at the anchor
    struct tr_context_slot slots[TR_MAX_SLOTS];     // [slot_count]
    size_t slot_count, template_count;
    bool even; // all plans are, and keys are not those of strings
};

struct tr_contexts {
    struct tr_context at[TR_MAX_CONTEXTS]; // [count]
    size_t count;
    uint64_t signature; // of the templates in all slots
    /* NULL where contexts are not asked for: */
    struct tr_context_home {
        uint8_t context, slot;  // context: TR_MAX_CONTEXTS for a loose template
    } * home;                   // [templates]
    struct tr_planned *planned; // [templates] slot by slot
};

/* What tr_seen points into. */
struct tr_seen_room {
    size_t tokens, attributes; // capacity
    float *value;
};

struct tr_extractor {
    const trellis_features *features;
    bool whole;
    struct tr_column_views rows;

    struct tr_plan node_plan, edge_plan, segment_plan;
    struct tr_source *sources; // [parts]
    bool planned, has_absolute;
    size_t label_column;    // SIZE_MAX where there is none
    uint64_t planned_moves; // of the rows, and
    size_t planned_columns; // columns of the sequences, that the plan is for

    struct tr_observation observation;
    struct tr_seen_room node_room, edge_room, segment_room;
    struct tr_contexts contexts;
    struct tr_segment_values segments;
};

/* Room for `attributes` in all at `tokens` tokens or segments, and one more since a key is written
 * before it is known to be present. */
trellis_status tr_reserve_seen(struct tr_extractor *extractor, struct tr_seen *seen,
                               struct tr_seen_room *room, size_t tokens, size_t attributes,
                               trellis_error *error);

/* Whether all columns of a template are in sequences of so many columns. */
bool tr_extractor_is_active(const struct tr_extractor *extractor,
                            const struct tr_template *template, size_t columns);
/* Whether a template has a key at all tokens, and no value. */
bool tr_extractor_is_even(const struct tr_extractor *extractor, const struct tr_template *template);
/* A template as the loops over tokens see it. */
struct tr_planned tr_plan_template(const struct tr_extractor *extractor, uint32_t number);

/* The attributes of the segments of a sequence whose rows are filled (extract_segments.c). */
trellis_status tr_extractor_see_segments(struct tr_extractor *extractor,
                                         const trellis_sequence *sequence, trellis_error *error);
/* The text of one of them. */
void tr_extractor_segment_text(struct tr_extractor *extractor, const trellis_sequence *sequence,
                               size_t segment, size_t index, struct tr_buffer *buffer);

#endif

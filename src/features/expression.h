/* expression.h - the expressions of templates: columns at offsets, and functions of them.
 *
 * An expression with windows and ranges stands for several: `prefix(word[-1..0],1..2)` for four. So
 * reading one gives a list of *choices*, each a list of terms (a view at an offset; only ngram()
 * gives more than one). The choices of the expressions of a conjunction are then combined, each
 * with each.
 */
#ifndef TRELLIS_FEATURES_EXPRESSION_H
#define TRELLIS_FEATURES_EXPRESSION_H

#include "features/scan.h"

struct tr_expression_term {
    uint32_t view;
    int32_t offset;
    enum tr_span_function span; // and the rest: of a segment, see struct tr_template_part
    uint32_t number, resource;
};

struct tr_choices {
    TR_ARRAY(struct tr_expression_term) terms;
    TR_ARRAY(size_t) ends; // after the last term of each choice
    bool plain;            // no offset was written
};

void tr_choices_free(struct tr_choices *choices);
/* Where the terms of choice i begin. */
size_t tr_choice_begin(const struct tr_choices *choices, size_t i);

/* `depth` counts the functions around it. */
trellis_status tr_parse_expression(struct tr_parser *parser, unsigned depth,
                                   struct tr_choices *choices);

/* The same for a function of a whole segment (segment_template.c). */
trellis_status tr_parse_span(struct tr_parser *parser, struct tr_choices *choices);
/* What it gives, and its canonical text. */
enum tr_value_type tr_span_result(enum tr_span_function span);
void tr_span_name(const trellis_features *features, const struct tr_expression_term *term,
                  struct tr_buffer *buffer);
/* Adds a term and, with `end`, closes the choice it belongs to. */
trellis_status tr_add_term(struct tr_parser *parser, struct tr_choices *choices,
                           struct tr_expression_term term, bool end);

/* The number of the column of this name, TR_NONE where there is none. */
uint32_t tr_find_column(const trellis_features *features, trellis_text name);
trellis_status tr_push_column(struct tr_parser *parser, trellis_text name, size_t position,
                              bool optional);

#endif

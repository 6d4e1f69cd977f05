/* import.h - the state of reading a model in text form. */
#ifndef TRELLIS_MODEL_IMPORT_H
#define TRELLIS_MODEL_IMPORT_H

#include "base/input.h"
#include "model/import_gaussian.h"
#include "model/model.h"
#include "model/textform.h"

enum { TR_MAX_FIELDS = TR_MAX_ORDER + 4 };

/* A weight as read, before the rows are laid out. */
struct tr_loose_weight {
    uint32_t attribute, outcome;
    double weight;
    uint32_t line; // its position, for messages
};

struct tr_loose_part {
    struct tr_attribute_index index;
    TR_ARRAY(struct tr_loose_weight) weights;
    struct tr_rows *rows;
    float *values;    // [rows->size]
    float *residuals; // [rows->size] of the values
};

struct tr_import {
    struct tr_input *input;
    trellis_error *error;
    trellis_text fields[TR_MAX_FIELDS]; // of this line, escapes in place
    size_t count;
    struct tr_buffer scratch, notes, source, block;
    TR_ARRAY(uint64_t) template_lines; // the line number of each line of `source`
    uint64_t block_line;               // the line number of the last line of `block`
    trellis_features *features;
    struct tr_extractor *extractor;
    struct tr_intern labels;
    uint32_t order, count_cap;
    bool observed_states, has_segments;
    TR_ARRAY(uint32_t) segment_lengths; // [labels] by the label that begins a type; 0: no line
    struct tr_segments *segments;
    TR_ARRAY(struct tr_gram) grams;
    struct tr_intern gram_texts; // the labels of each, as bytes: no two are the same
    TR_ARRAY(float) step_weights;
    TR_ARRAY(float) step_residuals; // of the step weights
    TR_ARRAY(uint16_t) forbidden;   // pairs
    struct tr_loose_part node, edge;
    TR_ARRAY(double) unknown; // [0] or [1 + labels] as in the section UNKN; NaN: not read yet
    struct tr_normal_lines emissions;
    struct tr_tag_dictionary_builder tag_dictionary;
    struct tr_buffer tag_dictionary_block;
};

#define TR_REFUSE(import, ...)                                                                     \
    tr_fail_at((import)->error, TRELLIS_FORMAT, tr_input_place((import)->input), __VA_ARGS__)

/* ---- fields of the current line (import_fields.c) -------------------------------------------- */

/* Field i without its escapes; until the next call. */
trellis_status tr_import_text(struct tr_import *import, size_t i, trellis_text *ret_text);
/* Field i as a label; the ends of a sequence have numbers after those of all labels. */
trellis_status tr_import_label(struct tr_import *import, size_t i, bool ends, uint16_t *ret_label);
trellis_status tr_import_weight(struct tr_import *import, size_t i, double *ret_weight);
trellis_status tr_import_integer(struct tr_import *import, size_t i, int64_t max,
                                 uint32_t *ret_value);
/* The value of a hexadecimal digit, -1 where it is none. */
int tr_import_hex(char c);

/* ---- templates (import_templates.c) ---------------------------------------------------------- */

trellis_status tr_import_template(struct tr_import *import);
trellis_status tr_import_block(struct tr_import *import);
/* Compiles the templates, once, when they are first needed. */
trellis_status tr_import_features(struct tr_import *import);

/* ---- weights (import_weights.c) -------------------------------------------------------------- */

trellis_status tr_import_step(struct tr_import *import);
trellis_status tr_import_attribute(struct tr_import *import);
/* A weight for a word: its attribute is the one that the templates give for a sequence of that word
 * alone. */
trellis_status tr_import_word(struct tr_import *import);
/* Lays out the rows of a part and fills in its weights. */
trellis_status tr_import_settle(struct tr_import *import, struct tr_loose_part *part,
                                uint32_t outcomes);
void tr_import_part_free(struct tr_loose_part *part);

#endif

/* space.h - the search space: options, each with the values it may take. */
#ifndef TRELLIS_SEARCH_SPACE_H
#define TRELLIS_SEARCH_SPACE_H

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"

enum { TR_VALUE_ROOM = 256 };

/* One option: a list of values, or a range. */
struct tr_axis {
    const trellis_option *option;
    TR_ARRAY(char *) values; // of a list; empty for a range:
    double low, high;
    bool whole;       // numbers without a fraction
    bool logarithmic; // equal ratios instead of equal differences
    size_t points;    // of a grid; of a list, its values
};

struct tr_space {
    TR_ARRAY(struct tr_axis) axes;
};

/* Adds NAME=A,B,C or NAME=LOW..HIGH or NAME=LOW..HIGH/POINTS. Every value is checked. */
trellis_status tr_space_add(struct tr_space *space, const char *text, trellis_error *error);
void tr_space_free(struct tr_space *space);

/* The value of a point of the grid, or one drawn at random; text[TR_VALUE_ROOM]. */
void tr_axis_point(const struct tr_axis *axis, size_t point, char *text);
void tr_axis_draw(const struct tr_axis *axis, struct tr_random *random, char *text);

#endif

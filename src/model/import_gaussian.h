/* import_gaussian.h - the normal distributions of a model in text form, a label and a column a
 * line. */
#ifndef TRELLIS_MODEL_IMPORT_GAUSSIAN_H
#define TRELLIS_MODEL_IMPORT_GAUSSIAN_H

#include "base/intern.h"
#include "dataset/gaussian.h"

/* One line: the mean and the variance of a column under a label. */
struct tr_normal_line {
    uint32_t label, column;
    double mean, variance;
};

struct tr_normal_lines {
    struct tr_intern columns; // in the order in which they are first named
    TR_ARRAY(struct tr_normal_line) lines;
    /* What they make. */
    double *both; // [2][labels][columns] means, then variances
    struct tr_buffer names;
};

/* Builds the distributions from the lines; TRELLIS_FORMAT where a label lacks a column, or has it
 * twice. */
trellis_status tr_normal_lines_make(struct tr_normal_lines *lines, const struct tr_intern *labels,
                                    struct tr_gaussian *ret_gaussian, trellis_error *error);
void tr_normal_lines_free(struct tr_normal_lines *lines);

#endif

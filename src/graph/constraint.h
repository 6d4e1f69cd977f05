/* constraint.h - forbidden transitions: those a label scheme rules out, or a list. */
#ifndef TRELLIS_GRAPH_CONSTRAINT_H
#define TRELLIS_GRAPH_CONSTRAINT_H

#include "graph/graph.h"

/* The forbidden steps as pairs of labels, in the numbering of tr_graph_plan.forbidden. `rule` is
 * "none", "iob" (the scheme of the labels) or the path of a file with one step per line: two labels
 * separated by blanks, where "<start>" and "<end>" count as labels. The caller frees the array. */
trellis_status tr_constraint_steps(const char *rule, const trellis_options *options,
                                   const trellis_text *labels, uint32_t label_count,
                                   uint16_t (**ret_steps)[2], size_t *ret_count,
                                   trellis_error *error);

/* Whether a label may follow another in a scheme; NULL stands for the start or the end. */
bool tr_constraint_legal(trellis_scheme scheme, const trellis_text *from, const trellis_text *to);

#endif

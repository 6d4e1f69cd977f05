/* brute.h - brute force: all label sequences of a tiny chain, one by one.
 *
 * Everything is computed from the plan of a graph, not from the graph: the sequence is written with
 * the start before and the end after it, and each gram is compared at each position.
 *
 * In a locally normalised chain the score of a sequence is the logarithm of its probability: at
 * each position the exponentials of what all labels would gain there are divided by their sum.
 */
#ifndef TRELLIS_TESTS_BRUTE_H
#define TRELLIS_TESTS_BRUTE_H

#include "graph/graph.h"

#define BRUTE_LABELS 4
#define BRUTE_LENGTH 6
#define BRUTE_FEATURES 2048

struct brute_chain {
    const struct tr_graph_plan *plan;
    const float *weights;                   // [gram_count]
    size_t length;                          // at most BRUTE_LENGTH
    float node[BRUTE_LENGTH][BRUTE_LABELS]; // minus infinity: may not stand there
    float edge[BRUTE_LENGTH][BRUTE_LABELS][BRUTE_LABELS];
    bool local; // locally normalised
};

struct brute_answer {
    double log_z;        // minus infinity where there is no path
    double best, second; // scores of the best and the second best sequence
    uint16_t labels[BRUTE_LENGTH];
    double node[BRUTE_LENGTH][BRUTE_LABELS];               // marginals
    double edge[BRUTE_LENGTH][BRUTE_LABELS][BRUTE_LABELS]; // marginals, row 0 is 0
    double expected[BRUTE_FEATURES];                       // counts of step features
};

/* The gain of label i after those before it: labels[0 .. i]. In a locally normalised chain the
 * logarithm of its probability, with that of the end at the last position. */
double brute_gain(const struct brute_chain *chain, const uint16_t *labels, size_t i);
/* The score of one sequence, minus infinity where it is forbidden. */
double brute_score(const struct brute_chain *chain, const uint16_t *labels);
void brute_solve(const struct brute_chain *chain, struct brute_answer *answer);

#endif

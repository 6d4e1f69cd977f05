/* search.h - the state of a search. */
#ifndef TRELLIS_SEARCH_SEARCH_H
#define TRELLIS_SEARCH_SEARCH_H

#include "search/space.h"

enum { TR_MAX_RUNGS = 5 };

struct tr_trial {
    char (*values)[TR_VALUE_ROOM]; // [axes]
    size_t rung;                   // the last one it was scored in
    bool scored;
    double score, seconds, share; // in that rung; the score is NaN where it could not be scored
    double scores[TR_MAX_RUNGS];  // in each rung up to that one
};

/* A line of the results file. */
struct tr_result {
    char *settings; // name=value, one a line
    double share, score, seconds;
};

struct trellis_search {
    struct tr_space space;
    TR_ARRAY(struct tr_trial) trials;
    const char **names;   // [axes]
    const char **pointed; // [axes] values of the trial returned last
    uint32_t *order;      // [trials] scratch

    /* Successive halving. */
    size_t rungs, factor;
    size_t rung;
    uint32_t *remaining; // [remaining_count] trials of this rung, best first once it is done
    size_t remaining_count;
    size_t place; // the next one of them
    bool waiting; // for the score of that one

    /* The results file, where there is one. */
    int file; // -1: none
    char *path;
    TR_ARRAY(struct tr_result) results;
};

/* The share of the budget in a rung. */
double tr_search_share(const trellis_search *search, size_t rung);
/* Whether one trial is better than another: in a later rung, or with a higher score. */
bool tr_trial_better(const struct tr_trial *a, const struct tr_trial *b);

/* The score of a trial that the file of results has for a share; false where there is none
 * (results.c). */
bool tr_results_find(const trellis_search *search, const struct tr_trial *trial, double share,
                     double *ret_score, double *ret_seconds);
trellis_status tr_results_add(trellis_search *search, const struct tr_trial *trial, double share,
                              double score, double seconds, trellis_error *error);
void tr_results_free(trellis_search *search);

#endif

/* optim.h - batch minimisation of a smooth function, plus C·|w|_1 where asked for.
 *
 *     minimise F(w) = f(w) + l1 * sum_{j < l1_size} |w_j|
 *
 * An objective gives f and its gradient; a method moves w until a stopping rule holds. Which one
 * held is reported, because "why did it stop" is the first question of a person who trains a model.
 */
#ifndef TRELLIS_OPTIM_OPTIM_H
#define TRELLIS_OPTIM_OPTIM_H

#include "base/error.h"
#include "base/state_registry.h"
#include "base/pool.h"
#include "base/slices.h"

struct tr_objective {
    size_t size; // of w, or of this rank's slice of it
    /* f(w) and its gradient, which is written, not added to. Deterministic. Anything but TRELLIS_OK
     * ends the run with that status. A value or gradient that is not finite is no error: the step
     * that led there is taken shorter. */
    trellis_status (*evaluate)(void *user, const double *w, double *gradient, double *ret_value,
                               trellis_error *error);
    void *user;
};

enum tr_method {
    TR_LBFGS,              // limited-memory BFGS; OWL-QN where l1 > 0
    TR_CONJUGATE_GRADIENT, // Polak-Ribiere+ with a strong-Wolfe line search; no l1
    TR_GRADIENT_DESCENT    // Armijo's backtracking line search; no l1
};

enum tr_stop {
    TR_STOP_NONE,
    TR_STOP_GRADIENT,   // |g| / max(1, |w|) < epsilon; |g| = 0 always stops
    TR_STOP_CHANGE,     // (F of `period` iterations ago - F) / |F| < delta
    TR_STOP_ITERATIONS, // max_iterations were done
    TR_STOP_CALLER,     // the report function said so
    TR_STOP_PRECISION   // no step lowers F: as exact as the arithmetic allows
};
/* "interrupted", "converged: ...", ... */
const char *tr_stop_meaning(enum tr_stop stop);

struct tr_optim_report {
    uint64_t iteration; // from 1
    uint64_t evaluations;
    double value;         // F(w)
    double gradient_norm; // |g|, of the pseudo-gradient where l1 > 0
    double weight_norm;   // |w|
    double step;          // along the direction of the method
};

struct tr_optim_settings {
    enum tr_method method;
    double l1;
    size_t l1_size;   // the first so many weights are penalised
    unsigned history; // of L-BFGS, 6 by default (0)
    /* Of L-BFGS and gradient descent: D^{-1/2} with the diagonal D of how curved the objective is
     * along each weight, roughly, [size] above 0; NULL: all alike. A good guess saves iterations, a
     * bad one costs some. */
    const float *unit;
    struct tr_pool *pool; // threads for the work on whole vectors, or NULL
    /* Of L-BFGS without l1 and registry: the ranks that share w and all other vectors, each of which
     * is then this rank's slice. NULL: they are whole. */
    struct tr_slices *slices;
    struct tr_state_registry *registry; // to resume an earlier run, or NULL
    uint64_t max_iterations;            // 0: no limit
    double epsilon;                     // 0: this rule is off
    double delta;                       // 0: this rule is off
    unsigned period;                    // 10 by default (0)
    /* How far off F may be by rounding, as a share of it; slopes are taken to be more exact. 0: not
     * at all. */
    double noise;
    /* Called after each iteration with the w of that moment, at which the objective was evaluated
     * last; false stops. May be NULL. */
    bool (*report)(void *user, const struct tr_optim_report *report, const double *w);
    void *user;
};

/* Minimises from w, in place. On TRELLIS_OK w is the w of the last iteration, which is the best of
 * all since the value never rises from one iteration to the next, but for noise, and *ret_stop says
 * why it ended. On failure w is the best so far too, or the w it began with, and *ret_stop is
 * TR_STOP_NONE.
 *
 *     TRELLIS_OPTION  a setting is out of range, or l1 is asked of a method that has none
 *     TRELLIS_DATA    f or its gradient is not finite at the start
 *     TRELLIS_LIMIT   more weights than L-BFGS can count
 *     TRELLIS_MEMORY
 *     any other       what evaluate() said
 *
 * Keeps no state between calls; several threads may run it, each with its own arguments. */
trellis_status tr_optimise(const struct tr_objective *objective,
                           const struct tr_optim_settings *settings, double *w,
                           enum tr_stop *ret_stop, trellis_error *error);

#endif

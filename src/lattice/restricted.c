/* restricted.c - restricted sums: log Z over the paths that have given labels.
 *
 *     log Z' = log sum over paths z with z_i in allowed_i, for the positions that are restricted
 *
 * so that exp(log Z' - log Z) is exactly the probability of those labels: the same forward pass
 * computes it, with all other labels ruled out. In a pruned lattice Z and Z' are sums over the
 * survivors.
 */
#include "lattice/lattice_internal.h"

#include <string.h>

trellis_status tr_lattice_restricted_log_z(struct tr_lattice *lattice, const struct tr_steps *steps,
                                           const struct tr_restriction *restrictions, size_t count,
                                           double *ret_log_z, trellis_error *error)
{
    size_t width = lattice->graph->width;
    float *kept = tr_alloc(count, width * sizeof *kept); // [count][width] rows as they were
    trellis_status status = kept ? TRELLIS_OK : tr_fail_memory(error);
    size_t changed = 0;
    if (!status && lattice->kind->begin_restricted) {
        status = lattice->kind->begin_restricted(lattice, steps, error);
    }
    while (!status && changed < count) {
        const struct tr_restriction *r = &restrictions[changed];
        if (r->position < lattice->length) {
            memcpy(kept + changed * width, tr_node_at(lattice, r->position), width * sizeof *kept);
        }
        status = tr_lattice_restrict(lattice, r->position, r->labels, r->count, error);
        changed += status == TRELLIS_OK;
    }
    if (!status) {
        status = tr_lattice_forward_backward(lattice, steps, ret_log_z, error);
    }
    if (lattice->kind->end_restricted) {
        lattice->kind->end_restricted(lattice);
    }
    if (status == TRELLIS_DATA && changed == count) { // no path is left
        *ret_log_z = -INFINITY;
        status = TRELLIS_OK;
    }
    while (changed > 0) { // backwards, so that a position restricted twice is as it was
        changed--;
        memcpy(lattice->scores.node.at + restrictions[changed].position * width,
               kept + changed * width, width * sizeof *kept);
    }
    lattice->computed = TR_NOTHING;
    free(kept);
    return status;
}

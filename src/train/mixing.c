/* mixing.c - online learning on several ranks by iterative parameter mixing.
 *
 * In every epoch each rank learns from its share of the sequences, beginning with the same weights;
 * at the end of the epoch the weights become the mean of all ranks (McDonald, Hall and Mann 2010,
 * Distributed training strategies for the structured perceptron, NAACL). What is learned depends on
 * the number of ranks, and on nothing else: the means are summed in the order of the ranks.
 *
 * The average of the iterates is the mean of the averages of the ranks, a = mean(w_r - u_r / B_r).
 * With the largest B of all, u = B (w - a) continues it.
 */
#include "train/online.h"

/* The mean over all ranks of numbers [count]. */
static trellis_status take_mean(struct tr_ranks *ranks, double *numbers, size_t count,
                                trellis_error *error)
{
    trellis_status status = tr_ranks_sum(ranks, numbers, count, error);
    for (size_t j = 0; !status && j < count; j++) {
        numbers[j] /= ranks->count;
    }
    return status;
}

static trellis_status mix_floats(struct tr_ranks *ranks, float *numbers, size_t count, double *room,
                                 trellis_error *error)
{
    for (size_t j = 0; j < count; j++) {
        room[j] = (double)numbers[j];
    }
    trellis_status status = take_mean(ranks, room, count, error);
    for (size_t j = 0; !status && j < count; j++) {
        numbers[j] = (float)room[j];
    }
    return status;
}

/* What the epoch has come to, as sums over the ranks; how far the average has come is that of the
 * rank with most sequences. */
static trellis_status mix_counts(struct tr_online *online, size_t *tokens, trellis_error *error)
{
    double sums[] = {(double)online->wrong_in_all, online->missed, (double)*tokens};
    struct tr_ranks *ranks = &online->training->ranks;
    trellis_status status = tr_ranks_sum(ranks, sums, TR_COUNT(sums), error);
    online->wrong_in_all = (uint64_t)sums[0];
    online->missed = sums[1];
    *tokens = (size_t)sums[2];
    size_t most = 0, n = online->training->data.train.sequences;
    for (unsigned r = 0; r < ranks->count; r++) {
        size_t share = tr_ranks_share(ranks, n, r + 1) - tr_ranks_share(ranks, n, r);
        most = share > most ? share : most;
    }
    size_t mine = tr_ranks_share(ranks, n, ranks->rank + 1) - tr_ranks_share(ranks, n, ranks->rank);
    for (; mine < most; mine++) {
        tr_online_end_sequence(online);
    }
    return status;
}

trellis_status tr_online_mix(struct tr_online *online, size_t *tokens, trellis_error *error)
{
    struct tr_training *t = online->training;
    struct tr_ranks *ranks = &t->ranks;
    size_t size = t->layout.size;
    double *room = tr_alloc(size, sizeof *room);
    if (!room) {
        return tr_ranks_agree(ranks, tr_fail_memory(error), error);
    }
    for (size_t j = 0; online->u && j < size; j++) { // u is the average for a while
        online->u[j] = (double)online->now.weights[j] -
                       online->u[j] / (online->before > 0 ? online->before : 1);
    }
    trellis_status status = mix_floats(ranks, online->now.weights, size, room, error);
    if (!status && online->variance) {
        status = mix_floats(ranks, online->variance, size, room, error);
    }
    if (!status && online->u) {
        status = take_mean(ranks, online->u, size, error);
    }
    if (!status) {
        status = mix_counts(online, tokens, error);
    }
    for (size_t j = 0; online->u && j < size; j++) {
        online->u[j] = online->before * ((double)online->now.weights[j] - online->u[j]);
    }
    if (!status) {
        tr_steps_set(online->steps, online->now.weights + t->layout.step_begin);
    }
    free(room);
    return status;
}

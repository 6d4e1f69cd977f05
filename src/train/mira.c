/* mira.c - the margin-infused relaxed algorithm: the nearest weights that keep m margins.
 *
 * Crammer and Singer 2003; McDonald, Crammer, Pereira 2005; equation 15 of Pereira 2005, with
 * slack.
 *
 *     for each epoch, for each sequence (X, Z) in random order:
 *         Z_1 .. Z_m = the m best labellings by w . Phi(X, Z') + L(Z, Z')
 *         w' = argmin 1/2 |w' - w|^2 + C sum_k slack_k           (C times the weight of the sequence)
 *              such that  w' . d_k >= L(Z, Z_k) - slack_k,  slack_k >= 0,  d_k = Phi(X, Z) - Phi(X, Z_k)
 *     result: the average of all w after each sequence
 *
 * The solution is w' = w + sum_k tau_k d_k, where tau is the largest of
 *
 *     sum_k tau_k b_k - 1/2 |sum_k tau_k d_k|^2,     b_k = L(Z, Z_k) - w . d_k,     0 <= tau_k <= C
 *
 * With m = 1 this is tau = min(C, b / |d|^2), the passive-aggressive pa1.
 * With --loss root the margin is sqrt(L(Z, Z_k)), and the m best are those by w . Phi(X, Z').
 */
#include "train/mira.h"

#include <math.h>

#include "train/online.h"

struct mira {
    size_t m;
    double c;
    TR_ARRAY(uint16_t) labels; // [m][length]
    double *scores;            // [m]
    struct tr_sparse *d;       // [m]
    double *a, *b, *tau;       // [m][m] d_j . d_k, [m] b_k, [m]
};

/* tau_k <- tau_k + (b_k - sum_j A_jk tau_j) / A_kk, clipped to [0, C], repeatedly */
void tr_mira_solve(const double *a, const double *b, size_t count, double c, double *tau)
{
    enum { MAX_ROUNDS = 10000 };
    memset(tau, 0, count * sizeof *tau);
    bool moved = true;
    for (int round = 0; moved && round < MAX_ROUNDS; round++) {
        moved = false;
        for (size_t k = 0; k < count; k++) {
            double missing = b[k], square = a[k * count + k];
            for (size_t j = 0; j < count; j++) {
                missing -= a[k * count + j] * tau[j];
            }
            double best = square > 0 ? fmin(c, fmax(0, tau[k] + missing / square)) : 0;
            moved = moved || fabs(best - tau[k]) * square > 1e-10 * (1 + fabs(b[k]));
            tau[k] = best;
        }
    }
}

/* labels = the m best labellings; how many there are */
static trellis_status decode(struct tr_online *online, struct mira *mira, size_t s,
                             size_t *ret_count, trellis_error *error)
{
    size_t n;
    tr_online_gold(online, s, &n);
    if (!tr_reserve(&mira->labels, mira->m * n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_online_scores(online, s, tr_online_augmentation(online), error);
    if (!status && mira->m == 1) { // as pa1 does, with ties broken alike
        *ret_count = 1;
        status = tr_lattice_viterbi(online->lattice, online->steps, mira->labels.at, mira->scores,
                                    error);
    } else if (!status) {
        status = tr_lattice_nbest(online->lattice, online->steps, mira->m, mira->labels.at,
                                  mira->scores, ret_count, error);
    }
    if (!status) {
        tr_online_count(online, s, mira->labels.at);
    }
    return status;
}

/* d_k, b_k and A for all labellings but the gold one; how many. */
static trellis_status make_constraints(struct tr_online *online, struct mira *mira, size_t s,
                                       size_t decoded, size_t *ret_count, trellis_error *error)
{
    size_t n, count = 0;
    const uint16_t *gold = tr_online_gold(online, s, &n);
    for (size_t k = 0; k < decoded; k++) {
        const uint16_t *labels = mira->labels.at + k * n;
        if (n == 0 || memcmp(labels, gold, n * sizeof *gold) == 0) {
            continue;
        }
        trellis_status status = tr_online_difference(online, s, labels, &mira->d[count], error);
        if (status) {
            return status;
        }
        mira->b[count] = tr_online_margin(online, s, labels) -
                         tr_sparse_dot(&mira->d[count], online->now.weights);
        count++;
    }
    for (size_t j = 0; j < count; j++) {
        for (size_t k = 0; k <= j; k++) {
            mira->a[j * count + k] = mira->a[k * count + j] = tr_sparse_product(&mira->d[j],
                                                                                &mira->d[k]);
        }
    }
    *ret_count = count;
    return TRELLIS_OK;
}

static trellis_status learn_sequence(struct tr_online *online, void *user, size_t s,
                                     trellis_error *error)
{
    struct mira *mira = user;
    size_t decoded = 0, count = 0;
    trellis_status status = decode(online, mira, s, &decoded, error);
    if (!status) {
        status = make_constraints(online, mira, s, decoded, &count, error);
    }
    if (status) {
        return status;
    }
    double weight = tr_sequence_weight(&online->training->data.train, s), missed = 0;
    tr_mira_solve(mira->a, mira->b, count, mira->c * weight, mira->tau);
    for (size_t k = 0; k < count; k++) {
        missed = mira->b[k] > missed ? mira->b[k] : missed;
        if (mira->tau[k] > 0) {
            tr_online_change(online, &mira->d[k], mira->tau[k]);
        }
    }
    online->missed += weight * missed;
    return TRELLIS_OK;
}

static void end(void *user)
{
    struct mira *mira = user;
    for (size_t k = 0; mira->d && k < mira->m; k++) {
        tr_sparse_free(&mira->d[k]);
    }
    free(mira->tau);
    free(mira->b);
    free(mira->a);
    free(mira->d);
    free(mira->scores);
    free(mira->labels.at);
    free(mira);
}

static trellis_status begin(const struct tr_settings *settings, void **ret_mira,
                            trellis_error *error)
{
    struct mira *mira = *ret_mira = tr_alloc(1, sizeof *mira);
    if (!mira) {
        return tr_fail_memory(error);
    }
    mira->m = settings->mbest;
    mira->c = settings->aggressiveness;
    mira->scores = tr_alloc(mira->m, sizeof *mira->scores);
    mira->d = tr_alloc(mira->m, sizeof *mira->d);
    mira->a = tr_alloc(mira->m * mira->m, sizeof *mira->a);
    mira->b = tr_alloc(mira->m, sizeof *mira->b);
    mira->tau = tr_alloc(mira->m, sizeof *mira->tau);
    return mira->scores && mira->d && mira->a && mira->b && mira->tau ? TRELLIS_OK
                                                                      : tr_fail_memory(error);
}

const struct tr_online_method tr_mira = {TR_EVEN_AVERAGE, false, learn_sequence, begin, end};

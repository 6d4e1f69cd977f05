/* ssvm.c - the structural support vector machine: the largest margin, as a batch problem.
 *
 *     minimise  F(w) = l2 |w|^2 + sum_s weight_s max_Z' ( L(Z_s, Z') - w . psi_s(Z') )
 *               psi_s(Z') = Phi(X_s, Z_s) - Phi(X_s, Z')
 *
 * which is N times lambda / 2 |w|^2 + the mean loss, with lambda = 2 l2 / N. Two algorithms:
 *
 * bcfw: block-coordinate Frank-Wolfe (Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013). In the dual
 * each sequence has a distribution alpha_s over its labellings, which begins with all on the gold
 * one, and
 *
 *     a_s(Z) = weight_s psi_s(Z) / (2 l2),     w = sum_s sum_Z alpha_s(Z) a_s(Z)
 *     D      = sum_s sum_Z alpha_s(Z) weight_s L(Z_s, Z) - l2 |w|^2  <=  F
 *     g_s(Z) = weight_s L(Z_s, Z) - 2 l2 w . a_s(Z)                     its derivative by alpha_s(Z)
 *
 *     for each epoch, for each sequence s in random order, twice:
 *         Z* = argmax_Z g_s(Z), by loss-augmented decoding; it joins those with a share
 *         a few times, or until all with a share have the same g:
 *             Z+ = argmax g_s, Z- = argmin g_s among those with a share,  d = a_s(Z+) - a_s(Z-)
 *             gamma = (g_s(Z+) - g_s(Z-)) / (2 l2 |d|^2), at most alpha_s(Z-)
 *             alpha_s(Z+) += gamma, alpha_s(Z-) -= gamma, w += gamma d
 *     result: the average of the w since epoch 1, 2, 4, 8, ..., the k-th with weight k
 *     stop where F(result) - D <= gap F(result)
 *
 * Taking the share from one labelling rather than from all (pairwise steps) and more than one step
 * for each decoding is due to Osokin et al. (2016); it needs far fewer epochs. Averaging from 1, 2,
 * 4, ... on forgets the first iterates, which are far off. gamma is where D is largest, so D never
 * falls. A labelling is kept as what differs from gold (struct tr_update_term), not spread over
 * attributes, which would be a hundred times as much.
 *
 * subgradient: Pegasos (Shalev-Shwartz, Singer, Srebro 2007). The t-th step, w <- (1 - 1/t) w +
 * weight_s psi_s(Z*) / (lambda t), keeps w = v / (lambda t) with v the sum of all psi so far: a
 * perceptron whose margin lambda t grows. The result is the average of all w, the t-th with weight
 * t.
 */
#include <math.h>

#include "model/image.h"
#include "train/online.h"
#include "train/pass.h"

enum {
    DECODINGS = 2, // of a sequence in an epoch, at most
    STEPS = 5,     // for each of them, at most
};

/* A labelling Z of a sequence that has a share. */
struct atom {
    struct tr_update_terms psi; // sorted by place and outcome
    double loss;                // weight_s L(Z_s, Z)
    double share;               // alpha_s(Z)
};

struct block {
    TR_ARRAY(struct atom) atoms; // empty: all is on the gold labelling
};

struct ssvm {
    struct tr_online *online;
    struct tr_pass *pass; // for the objective
    double l2;
    struct block *blocks;               // [sequences]
    double loss;                        // sum_s sum_Z alpha_s(Z) weight_s L(Z_s, Z)
    TR_ARRAY(struct tr_sparse) vectors; // a_s(Z) for the atoms of the current sequence
    TR_ARRAY(double) slopes;            // g_s(Z)
    double begun;                       // subgradient: the t that the initial weights count for
};

/* ---- the objective --------------------------------------------------------------------------- */

/* max_Z' (L(Z_s, Z') - w . psi_s(Z')) */
static trellis_status margin_loss(void *user, struct tr_pass_worker *worker, size_t s,
                                  double weight, double *ret_value, trellis_error *error)
{
    (void)weight;
    const struct ssvm *ssvm = user;
    const struct tr_online *online = ssvm->online;
    const struct tr_training *t = online->training;
    const struct tr_steps *steps = tr_pass_steps(ssvm->pass);
    size_t n;
    const uint16_t *gold = tr_online_gold(online, s, &n);
    double best;
    if (!tr_reserve(&worker->path, n)) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_training_scores(t, &t->data.train, s, &online->result,
                                               worker->lattice, error);
    if (!status) {
        tr_loss_augment(online->loss, gold, n, 1, tr_lattice_nodes(worker->lattice),
                        t->layout.graph->width);
        status = tr_lattice_viterbi(worker->lattice, steps, worker->path.at, &best, error);
    }
    if (!status) {
        *ret_value = fmax(0, best - tr_lattice_path_score(worker->lattice, steps, gold));
    }
    return status;
}

static double square(const float *w, size_t size)
{
    double sum = 0;
    for (size_t j = 0; j < size; j++) {
        sum += (double)w[j] * (double)w[j];
    }
    return sum;
}

/* F(result), by all threads. */
static trellis_status objective(struct ssvm *ssvm, double *ret_value, trellis_error *error)
{
    const struct tr_training *t = ssvm->online->training;
    const float *w = ssvm->online->result.weights;
    struct tr_pass_plan plan = {.visit = margin_loss, .user = ssvm};
    double sum;
    tr_steps_set(tr_pass_steps(ssvm->pass), w + t->layout.step_begin);
    trellis_status status = tr_pass_run(ssvm->pass, &t->data.train, &plan, &sum, error);
    *ret_value = ssvm->l2 * square(w, t->layout.size) + sum;
    return status;
}

/* ---- block-coordinate Frank-Wolfe ------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct tr_update_term *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

/* Sorts terms and adds up those of the same place and outcome. */
static void sort_terms(struct tr_update_terms *terms)
{
    struct tr_update_term *at = terms->list.at;
    size_t kept = 0;
    if (terms->list.size) {
        qsort(at, terms->list.size, sizeof *at, by_place);
    }
    for (size_t i = 0; i < terms->list.size; i++) {
        if (kept && by_place(&at[kept - 1], &at[i]) == 0) {
            at[kept - 1].amount += at[i].amount;
        } else {
            kept -= kept && at[kept - 1].amount == 0;
            at[kept++] = at[i];
        }
    }
    terms->list.size = kept - (kept && at[kept - 1].amount == 0);
}

static bool same_terms(const struct tr_update_terms *x, const struct tr_update_terms *y)
{
    size_t n = x->list.size;
    return n == y->list.size &&
           (n == 0 || memcmp(x->list.at, y->list.at, n * sizeof *x->list.at) == 0);
}

/* The atom with these terms, new or old; NULL on allocation failure. */
static struct atom *find_atom(struct block *block, const struct tr_update_terms *psi, double loss)
{
    for (size_t k = 0; k < block->atoms.size; k++) {
        if (same_terms(&block->atoms.at[k].psi, psi)) {
            return &block->atoms.at[k];
        }
    }
    struct atom atom = {.loss = loss};
    size_t n = psi->list.size;
    if (!tr_reserve(&atom.psi.list, n) || !tr_push(&block->atoms, atom)) {
        free(atom.psi.list.at);
        return NULL;
    }
    if (n) {
        memcpy(atom.psi.list.at, psi->list.at, n * sizeof *psi->list.at);
    }
    struct atom *added = &block->atoms.at[block->atoms.size - 1];
    added->psi.list.size = n;
    return added;
}

/* a_s(Z) of all atoms, spread over the attributes */
static bool spread_atoms(struct ssvm *ssvm, size_t s)
{
    const struct block *block = &ssvm->blocks[s];
    double scale = tr_sequence_weight(&ssvm->online->training->data.train, s) / (2 * ssvm->l2);
    bool ok = tr_reserve(&ssvm->vectors, block->atoms.size) &&
              tr_reserve(&ssvm->slopes, block->atoms.size);
    for (size_t k = 0; ok && k < block->atoms.size; k++) {
        const struct tr_update_terms *psi = &block->atoms.at[k].psi;
        ssvm->vectors.size = k + 1 > ssvm->vectors.size ? k + 1 : ssvm->vectors.size;
        tr_sparse_clear(&ssvm->vectors.at[k]);
        tr_online_spread(ssvm->online, s, psi->list.at, psi->list.size, scale,
                         &ssvm->vectors.at[k]);
        ok = !ssvm->vectors.at[k].failed;
    }
    return ok;
}

/* Which atoms get and give a share: those of the largest and the smallest g = loss - 2 l2 w . a. */
static void choose_atoms(struct ssvm *ssvm, const struct block *block, size_t *ret_to,
                         size_t *ret_from)
{
    size_t to = 0, from = SIZE_MAX;
    double *g = ssvm->slopes.at;
    for (size_t k = 0; k < block->atoms.size; k++) {
        const struct atom *atom = &block->atoms.at[k];
        g[k] = atom->loss -
               2 * ssvm->l2 * tr_sparse_dot(&ssvm->vectors.at[k], ssvm->online->now.weights);
        to = g[k] > g[to] ? k : to;
        if (atom->share > 0 && (from == SIZE_MAX || g[k] < g[from])) {
            from = k;
        }
    }
    *ret_to = to;
    *ret_from = from;
}

/* One pairwise step; false where D cannot rise further. */
static bool step(struct ssvm *ssvm, struct block *block)
{
    size_t to, from;
    choose_atoms(ssvm, block, &to, &from);
    double rise = ssvm->slopes.at[to] - ssvm->slopes.at[from];
    if (rise <= 1e-6) {
        return false;
    }
    const struct tr_sparse *plus = &ssvm->vectors.at[to], *minus = &ssvm->vectors.at[from];
    struct atom *gets = &block->atoms.at[to], *gives = &block->atoms.at[from];
    double square_of_d = tr_sparse_square(plus) + tr_sparse_square(minus) -
                         2 * tr_sparse_product(plus, minus);
    double curvature = 2 * ssvm->l2 * square_of_d;
    double gamma = rise < gives->share * curvature ? rise / curvature : gives->share;
    tr_online_change(ssvm->online, plus, gamma);
    tr_online_change(ssvm->online, minus, -gamma);
    gets->share += gamma;
    gives->share -= gamma;
    ssvm->loss += gamma * (gets->loss - gives->loss);
    return true;
}

static void drop_empty(struct block *block)
{
    size_t kept = 0;
    for (size_t k = 0; k < block->atoms.size; k++) {
        if (block->atoms.at[k].share > 0) {
            block->atoms.at[kept++] = block->atoms.at[k];
        } else {
            free(block->atoms.at[k].psi.list.at);
        }
    }
    block->atoms.size = kept;
}

/* A block begins with all on the gold labelling, for which psi = 0. */
static bool begin_block(struct block *block)
{
    struct atom *gold = block->atoms.size ? block->atoms.at
                                          : find_atom(block, &(struct tr_update_terms){0}, 0);
    if (gold && block->atoms.size == 1 && gold->psi.list.size == 0) {
        gold->share = 1;
    }
    return gold;
}

/* terms = psi_s(Z*) for the loss-augmented best Z*, and weight_s L(Z_s, Z*) */
static trellis_status most_violated(struct tr_online *online, size_t s, double margin,
                                    double *ret_loss, trellis_error *error)
{
    size_t n;
    const uint16_t *gold = tr_online_gold(online, s, &n);
    trellis_status status = tr_online_decode(online, s, margin, error);
    if (!status) {
        status = tr_online_compare(online, s, online->predicted.at, &online->terms, error);
        *ret_loss = tr_sequence_weight(&online->training->data.train, s) *
                    tr_loss_of(online->loss, gold, online->predicted.at, n);
    }
    return status;
}

/* Z* joins the labellings with a share, and some steps are taken. */
static trellis_status improve(struct ssvm *ssvm, size_t s, trellis_error *error)
{
    struct tr_online *online = ssvm->online;
    struct block *block = &ssvm->blocks[s];
    double loss;
    trellis_status status = most_violated(online, s, 1, &loss, error);
    if (status || (online->wrong == 0 && block->atoms.size == 0)) {
        return status;
    }
    sort_terms(&online->terms);
    if (!begin_block(block) || !find_atom(block, &online->terms, loss) || !spread_atoms(ssvm, s)) {
        return tr_fail_memory(error);
    }
    for (int k = 0; k < STEPS && step(ssvm, block); k++) {}
    drop_empty(block);
    return TRELLIS_OK;
}

static trellis_status learn_block(struct tr_online *online, void *user, size_t s,
                                  trellis_error *error)
{
    trellis_status status = improve(user, s, error);
    uint64_t wrong_in_all = online->wrong_in_all;
    for (int k = 1; !status && k < DECODINGS && online->wrong > 0; k++) {
        status = improve(user, s, error);
    }
    online->wrong_in_all = wrong_in_all; // a sequence counts once
    return status;
}

/* sum += a_s(Z*), with Z* under the initial weights. */
static trellis_status start_block(struct ssvm *ssvm, size_t s, float *sum, trellis_error *error)
{
    struct tr_online *online = ssvm->online;
    struct block *block = &ssvm->blocks[s];
    double loss;
    trellis_status status = most_violated(online, s, 1, &loss, error);
    if (status || online->wrong == 0) {
        return status;
    }
    sort_terms(&online->terms);
    if (!find_atom(block, &online->terms, loss) || !spread_atoms(ssvm, s)) {
        return tr_fail_memory(error);
    }
    ssvm->loss += loss;
    for (size_t i = 0; i < ssvm->vectors.at[0].entries.size; i++) {
        const struct tr_sparse_entry *entry = &ssvm->vectors.at[0].entries.at[i];
        sum[entry->at] += (float)entry->value;
    }
    return TRELLIS_OK;
}

/* Initial weights w_0 of --from need not be a sum of any a_s. They choose the direction of one
 * Frank-Wolfe step for all sequences at once: w = theta sum_s a_s(Z*_s), Z* by w_0, with the theta
 * of the largest
 *     D(theta) = theta loss - theta^2 l2 |sum_s a_s(Z*_s)|^2
 */
static trellis_status start_from(struct ssvm *ssvm, trellis_error *error)
{
    struct tr_online *online = ssvm->online;
    struct tr_training *t = online->training;
    float *sum = tr_alloc_aligned(t->layout.size, sizeof *sum);
    trellis_status status = sum ? TRELLIS_OK : tr_fail_memory(error);
    for (size_t s = 0; !status && s < t->data.train.sequences; s++) {
        status = start_block(ssvm, s, sum, error);
    }
    double curvature = status ? 1 : 2 * ssvm->l2 * square(sum, t->layout.size);
    double theta = ssvm->loss < curvature ? ssvm->loss / curvature : 1;
    for (size_t s = 0; !status && s < t->data.train.sequences; s++) {
        struct block *block = &ssvm->blocks[s];
        struct atom *gold = block->atoms.size ? find_atom(block, &(struct tr_update_terms){0}, 0)
                                              : NULL;
        if (gold) {
            block->atoms.at[0].share = theta;
            gold->share = 1 - theta;
            drop_empty(block);
        } else if (block->atoms.size) {
            status = tr_fail_memory(error);
        }
    }
    ssvm->loss *= theta;
    for (size_t j = 0; !status && j < t->layout.size; j++) {
        online->now.weights[j] = (float)theta * sum[j];
    }
    tr_steps_set(online->steps, online->now.weights + t->layout.step_begin);
    free(sum);
    return status;
}

/* For checkpoints: for each sequence the number of its atoms, for each atom its loss, its share and
 * its terms. */
static void write_blocks(const void *at, struct tr_buffer *buffer)
{
    const struct ssvm *ssvm = at;
    for (size_t s = 0; s < ssvm->online->training->data.train.sequences; s++) {
        const struct block *block = &ssvm->blocks[s];
        tr_put_u64(buffer, block->atoms.size);
        for (size_t k = 0; k < block->atoms.size; k++) {
            const struct atom *atom = &block->atoms.at[k];
            tr_buffer_add(buffer, (const char *)&atom->loss, sizeof atom->loss);
            tr_buffer_add(buffer, (const char *)&atom->share, sizeof atom->share);
            tr_put_u64(buffer, atom->psi.list.size);
            tr_buffer_add(buffer, (const char *)atom->psi.list.at,
                          atom->psi.list.size * sizeof *atom->psi.list.at);
        }
    }
}

/* Whether a term is one that a sequence of n tokens can have. */
static bool term_fits(const struct tr_training *t, const struct tr_update_term *term, size_t n)
{
    size_t labels = t->layout.graph->labels, pairs = labels * t->layout.graph->width;
    bool step = term->place == TR_STEP, segment = !step && term->place >= TR_SEGMENT;
    bool edge = !step && !segment && term->place % 2;
    size_t outcomes = step ? t->layout.step_size : edge ? pairs : labels;
    bool there = step || (segment ? term->place - TR_SEGMENT < n * t->data.train.max_segment
                                  : term->place / 2 < n);
    return there && term->outcome < outcomes && isfinite(term->amount);
}

/* One atom that a checkpoint holds; false where it does not fit. */
static bool read_atom(const struct ssvm *ssvm, struct tr_cursor *cursor, size_t s,
                      struct atom *atom, trellis_status *status)
{
    const struct tr_training *t = ssvm->online->training;
    size_t n = t->data.train.sequence.at[s + 1] - t->data.train.sequence.at[s];
    const void *numbers = tr_cursor_bytes(cursor, 2 * sizeof(double));
    uint64_t count = tr_cursor_u64(cursor);
    size_t available = (size_t)(cursor->end - cursor->at) / sizeof(struct tr_update_term);
    if (cursor->failed || count > available) {
        return false;
    }
    memcpy(&atom->loss, numbers, sizeof atom->loss);
    memcpy(&atom->share, (const char *)numbers + sizeof atom->loss, sizeof atom->share);
    if (!tr_reserve(&atom->psi.list, count)) {
        *status = TRELLIS_MEMORY;
        return false;
    }
    const void *terms = tr_cursor_bytes(cursor, count * sizeof(struct tr_update_term));
    if (count) {
        memcpy(atom->psi.list.at, terms, count * sizeof(struct tr_update_term));
    }
    atom->psi.list.size = count;
    bool fits = isfinite(atom->loss) && atom->share > 0 && atom->share <= 1;
    for (size_t k = 0; fits && k < count; k++) {
        fits = term_fits(t, &atom->psi.list.at[k], n);
    }
    return fits;
}

static trellis_status read_blocks(void *at, trellis_text content, trellis_error *error)
{
    struct ssvm *ssvm = at;
    struct tr_cursor cursor = tr_cursor(content);
    trellis_status status = TRELLIS_OK;
    bool fits = true;
    for (size_t s = 0; fits && s < ssvm->online->training->data.train.sequences; s++) {
        uint64_t count = tr_cursor_u64(&cursor);
        for (uint64_t k = 0; fits && k < count; k++) {
            struct atom atom = {0};
            fits = read_atom(ssvm, &cursor, s, &atom, &status);
            if (fits && !tr_push(&ssvm->blocks[s].atoms, atom)) {
                status = TRELLIS_MEMORY;
                fits = false;
            }
            if (!fits) {
                free(atom.psi.list.at);
            }
        }
    }
    if (status) {
        return tr_fail_memory(error);
    }
    return fits && !cursor.failed && cursor.at == cursor.end
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_MODEL,
                         "the checkpoint is damaged: its labellings do not fit the data");
}

static const struct tr_kept_form blocks_form = {write_blocks, read_blocks};

static trellis_status run_bcfw(struct ssvm *ssvm, trellis_error *error)
{
    struct tr_online *online = ssvm->online;
    struct tr_training *t = online->training;
    double wanted = t->settings.gap;
    bool stop = false, resumed = false;
    ssvm->blocks = tr_alloc(t->data.train.sequences, sizeof *ssvm->blocks);
    tr_keep_form(t->registry, "BLOC", ssvm, &blocks_form);
    tr_keep_doubles(t->registry, "LOSS", &ssvm->loss, 1);
    trellis_status status = ssvm->blocks ? tr_online_resume(online, &resumed, error)
                                         : tr_fail_memory(error);
    trellis_progress figures = tr_training_figures(t);
    if (!status && !resumed && square(online->now.weights, t->layout.size) > 0) {
        status = start_from(ssvm, error);
    }
    while (!status && !stop && figures.iteration < figures.max_iterations) {
        status = tr_registry_save(t->registry, error);
        if (status) {
            break;
        }
        if ((figures.iteration & (figures.iteration - 1)) == 0) {
            tr_online_begin_average(online); // after 1, 2, 4, 8, ... epochs
        }
        status = tr_online_pass(online, learn_block, ssvm, &figures, error);
        tr_online_take_result(online);
        if (!status) {
            status = objective(ssvm, &figures.objective, error);
        }
        if (status) {
            break;
        }
        double dual = ssvm->loss - ssvm->l2 * square(online->now.weights, t->layout.size);
        double gap = fmax(0, figures.objective - dual);
        figures.gradient_norm = figures.objective > 0 ? gap / figures.objective : 0;
        online->result.figures = figures;
        status = tr_training_iteration(t, &online->result, &stop, error);
        bool reached = figures.gradient_norm <= wanted && wanted > 0;
        if (reached || stop || figures.iteration == figures.max_iterations) {
            tr_training_note(t, "the duality gap is %.3g, %.3g %% of the objective %.6g%s", gap,
                             100 * figures.gradient_norm, figures.objective,
                             reached ? ": done" : "");
        }
        stop = stop || reached;
    }
    return status;
}

/* ---- subgradient ----------------------------------------------------------------------------- */

static double lambda_of(const struct ssvm *ssvm)
{
    return 2 * ssvm->l2 / (double)ssvm->online->training->data.train.sequences;
}

/* v += weight_s psi_s(Z*), with Z* = argmax_Z' v . Phi(X_s, Z') + lambda t L(Z_s, Z') */
static trellis_status learn_subgradient(struct tr_online *online, void *user, size_t s,
                                        trellis_error *error)
{
    const struct ssvm *ssvm = user;
    double t = fmax(1, ssvm->begun + online->seen);
    trellis_status status = tr_online_decode(online, s, lambda_of(ssvm) * t, error);
    if (status || online->wrong == 0) {
        return status;
    }
    status = tr_online_difference(online, s, online->predicted.at, &online->change, error);
    if (!status) {
        tr_online_change(online, &online->change,
                         tr_sequence_weight(&online->training->data.train, s));
    }
    return status;
}

/* With w_t = v_t / (lambda t), t from a + 1 to b: sum_t t w_t / sum_t t = 2 (mean of v) / (lambda
 * (a + b + 1)) */
static void scale_result(struct ssvm *ssvm)
{
    struct tr_online *online = ssvm->online;
    double a = ssvm->begun, b = ssvm->begun + online->seen;
    for (size_t j = 0; j < online->training->layout.size; j++) {
        online->result.weights[j] *= (float)(2 / (lambda_of(ssvm) * (a + b + 1)));
    }
}

static trellis_status run_subgradient(struct ssvm *ssvm, trellis_error *error)
{
    struct tr_online *online = ssvm->online;
    struct tr_training *t = online->training;
    bool stop = false, resumed;
    tr_keep_doubles(t->registry, "BEGU", &ssvm->begun, 1);
    trellis_status status = tr_online_resume(online, &resumed, error);
    trellis_progress figures = tr_training_figures(t);
    if (!status && !resumed &&
        square(online->now.weights, t->layout.size) >
            0) { // those of --from count as much as an epoch
        ssvm->begun = (double)t->data.train.sequences;
        for (size_t j = 0; j < t->layout.size; j++) {
            online->now.weights[j] *= (float)(lambda_of(ssvm) * ssvm->begun);
        }
        tr_steps_set(online->steps, online->now.weights + t->layout.step_begin);
    }
    while (!status && !stop && figures.iteration < figures.max_iterations) {
        status = tr_registry_save(t->registry, error);
        if (!status) {
            status = tr_online_pass(online, learn_subgradient, ssvm, &figures, error);
        }
        tr_online_take_result(online);
        scale_result(ssvm);
        if (!status) {
            status = objective(ssvm, &figures.objective, error);
        }
        if (!status) {
            online->result.figures = figures;
            status = tr_training_iteration(t, &online->result, &stop, error);
        }
    }
    return status;
}

/* ---- the learner ----------------------------------------------------------------------------- */

static trellis_status train(struct tr_training *training, enum tr_averaging averaging,
                            trellis_status (*run)(struct ssvm *ssvm, trellis_error *error),
                            trellis_error *error)
{
    struct ssvm ssvm = {.l2 = training->settings.l2};
    struct tr_pass_room room = {.lattice = true};
    trellis_status status = tr_online_create(training, averaging, &ssvm.online, error);
    if (!status) {
        status = tr_pass_create(training, room, &ssvm.pass, error);
    }
    if (!status) {
        status = run(&ssvm, error);
    }
    for (size_t s = 0; ssvm.blocks && s < training->data.train.sequences; s++) {
        for (size_t k = 0; k < ssvm.blocks[s].atoms.size; k++) {
            free(ssvm.blocks[s].atoms.at[k].psi.list.at);
        }
        free(ssvm.blocks[s].atoms.at);
    }
    for (size_t k = 0; k < ssvm.vectors.size; k++) {
        tr_sparse_free(&ssvm.vectors.at[k]);
    }
    free(ssvm.vectors.at);
    free(ssvm.slopes.at);
    free(ssvm.blocks);
    tr_pass_destroy(ssvm.pass);
    tr_online_destroy(ssvm.online);
    return status;
}

trellis_status tr_train_bcfw(struct tr_training *training, trellis_error *error)
{
    return train(training, TR_RISING_AVERAGE, run_bcfw, error);
}

trellis_status tr_train_subgradient(struct tr_training *training, trellis_error *error)
{
    return train(training, TR_EVEN_AVERAGE, run_subgradient, error);
}

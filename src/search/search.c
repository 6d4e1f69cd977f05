/* search.c - which settings to try next: a grid or random points, and successive halving.
 *
 * Successive halving (Jamieson and Talwalkar 2016): all settings are scored with a small share of
 * the budget, the best 1/f of them with f times as much, and so on until the last few get all of
 * it. With n settings there are 1 + log_f n rungs, each of which costs about as much as the others.
 */
#include "search/search.h"

#include <math.h>

#include "base/options.h"
#include "base/structs.h"

enum { MAX_TRIALS = 100000 };

/* ---- the trials ------------------------------------------------------------------------------ */

/* Room for the values of one more trial; NULL on allocation failure. */
static struct tr_trial *add_trial(trellis_search *search)
{
    struct tr_trial trial = {.score = NAN};
    trial.values = tr_alloc(search->space.axes.size, sizeof *trial.values);
    if (!trial.values || !tr_push(&search->trials, trial)) {
        free(trial.values);
        return NULL;
    }
    return &search->trials.at[search->trials.size - 1];
}

static bool same_values(const trellis_search *search, const struct tr_trial *a,
                        const struct tr_trial *b)
{
    for (size_t i = 0; i < search->space.axes.size; i++) {
        if (strcmp(a->values[i], b->values[i]) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_repeated(const trellis_search *search, const struct tr_trial *trial)
{
    for (size_t i = 0; i + 1 < search->trials.size; i++) {
        if (same_values(search, trial, &search->trials.at[i])) {
            return true;
        }
    }
    return false;
}

/* All combinations; the last option changes fastest. */
static trellis_status make_grid(trellis_search *search, trellis_error *error)
{
    const struct tr_space *space = &search->space;
    size_t count = 1;
    for (size_t i = 0; i < space->axes.size; i++) {
        count *= space->axes.at[i].points;
        if (count > MAX_TRIALS) {
            return tr_fail(error, TRELLIS_LIMIT,
                           "more than %d settings; --trials N tries N of them at random",
                           MAX_TRIALS);
        }
    }
    for (size_t k = 0; k < count; k++) {
        struct tr_trial *trial = add_trial(search);
        if (!trial) {
            return tr_fail_memory(error);
        }
        for (size_t i = space->axes.size, left = k; i-- > 0;) {
            tr_axis_point(&space->axes.at[i], left % space->axes.at[i].points, trial->values[i]);
            left /= space->axes.at[i].points;
        }
    }
    return TRELLIS_OK;
}

/* Random points; one that was drawn before is drawn again, a few times. */
static trellis_status make_random(trellis_search *search, size_t count, uint64_t seed,
                                  trellis_error *error)
{
    struct tr_random random;
    tr_random_seed(&random, seed);
    for (size_t k = 0; k < count; k++) {
        struct tr_trial *trial = add_trial(search);
        if (!trial) {
            return tr_fail_memory(error);
        }
        bool repeated = true;
        for (int tries = 0; repeated && tries < 100; tries++) {
            for (size_t i = 0; i < search->space.axes.size; i++) {
                tr_axis_draw(&search->space.axes.at[i], &random, trial->values[i]);
            }
            repeated = is_repeated(search, trial);
        }
        if (repeated) { // there are no others
            free(trial->values);
            search->trials.size--;
            break;
        }
    }
    return TRELLIS_OK;
}

/* ---- rungs ----------------------------------------------------------------------------------- */

double tr_search_share(const trellis_search *search, size_t rung)
{
    double share = 1;
    for (size_t i = rung + 1; i < search->rungs; i++) {
        share /= (double)search->factor;
    }
    return share;
}

static void plan_rungs(trellis_search *search)
{
    search->rungs = 1;
    for (size_t left = search->trials.size;
         search->factor > 1 && left >= search->factor && search->rungs < TR_MAX_RUNGS;
         left /= search->factor) {
        search->rungs++;
    }
}

bool tr_trial_better(const struct tr_trial *a, const struct tr_trial *b)
{
    if (a->scored != b->scored) {
        return a->scored;
    }
    if (a->rung != b->rung) {
        return a->rung > b->rung;
    }
    return a->score > b->score || (isnan(b->score) && !isnan(a->score));
}

/* Sorts the trials, best first; stable. */
static void rank(trellis_search *search)
{
    uint32_t *remaining = search->remaining;
    for (size_t i = 1; i < search->remaining_count; i++) {
        uint32_t moved = remaining[i];
        size_t k = i;
        for (; k > 0 &&
               tr_trial_better(&search->trials.at[moved], &search->trials.at[remaining[k - 1]]);
             k--) {
            remaining[k] = remaining[k - 1];
        }
        remaining[k] = moved;
    }
}

/* Advances the best trials to the next rung; false after the last. */
static bool climb(trellis_search *search)
{
    rank(search);
    if (search->rung + 1 >= search->rungs) {
        return false;
    }
    size_t left = search->remaining_count / search->factor;
    search->remaining_count = left ? left : 1;
    search->rung++;
    search->place = 0;
    return true;
}

static void note_score(trellis_search *search, double score, double seconds)
{
    struct tr_trial *trial = &search->trials.at[search->remaining[search->place++]];
    trial->scored = true;
    trial->rung = search->rung;
    trial->share = tr_search_share(search, search->rung);
    trial->score = trial->scores[search->rung] = score;
    trial->seconds = seconds;
}

/* ---- the public functions -------------------------------------------------------------------- */

trellis_status trellis_search_create(const trellis_options *options, const char *const *tries,
                                     size_t try_count, trellis_search **ret_search,
                                     trellis_error *error)
{
    if (!TR_CLEAR(ret_search) || (!tries && try_count > 0)) {
        return tr_fail_null(error, __func__);
    }
    trellis_search *search = tr_alloc(1, sizeof *search);
    if (!search) {
        return tr_fail_memory(error);
    }
    search->file = -1;
    search->factor = (size_t)tr_option_integer(options, "halving");
    trellis_status status = try_count ? TRELLIS_OK
                                      : tr_fail(error, TRELLIS_OPTION, "no option to tune");
    for (size_t i = 0; !status && i < try_count; i++) {
        status = tr_space_add(&search->space, tries[i], error);
    }
    size_t axes = search->space.axes.size, trials = (size_t)tr_option_integer(options, "trials");
    if (!status) {
        status = trials ? make_random(search, trials, (uint64_t)tr_option_integer(options, "seed"),
                                      error)
                        : make_grid(search, error);
    }
    if (!status) {
        search->names = tr_alloc(axes, sizeof *search->names);
        search->pointed = tr_alloc(axes, sizeof *search->pointed);
        search->remaining = tr_alloc(search->trials.size, sizeof *search->remaining);
        search->order = tr_alloc(search->trials.size, sizeof *search->order);
        status = search->names && search->pointed && search->remaining && search->order
                     ? TRELLIS_OK
                     : tr_fail_memory(error);
    }
    for (size_t i = 0; !status && i < axes; i++) {
        search->names[i] = search->space.axes.at[i].option->name;
    }
    for (size_t i = 0; !status && i < search->trials.size; i++) {
        search->remaining[search->remaining_count++] = (uint32_t)i;
    }
    if (status) {
        trellis_search_destroy(search);
        return status;
    }
    plan_rungs(search);
    *ret_search = search;
    return TRELLIS_OK;
}

void trellis_search_destroy(trellis_search *search)
{
    if (!search) {
        return;
    }
    tr_results_free(search);
    for (size_t i = 0; i < search->trials.size; i++) {
        free(search->trials.at[i].values);
    }
    free(search->trials.at);
    free(search->names);
    free(search->pointed);
    free(search->remaining);
    free(search->order);
    tr_space_free(&search->space);
    free(search);
}

static trellis_trial show(const trellis_search *search, size_t number)
{
    const struct tr_trial *trial = &search->trials.at[number];
    for (size_t i = 0; i < search->space.axes.size; i++) {
        search->pointed[i] = trial->values[i];
    }
    return (trellis_trial){.number = number,
                           .share = trial->share,
                           .names = search->names,
                           .values = search->pointed,
                           .setting_count = search->space.axes.size,
                           .scored = trial->scored,
                           .score = trial->score,
                           .seconds = trial->seconds};
}

trellis_status trellis_search_next(trellis_search *search, trellis_trial *ret_trial)
{
    if (!search || !ret_trial) {
        return tr_fail_null(NULL, __func__);
    }
    if (ret_trial->struct_size < sizeof ret_trial->struct_size) {
        return TRELLIS_OPTION;
    }
    while (search->place < search->remaining_count || climb(search)) {
        size_t number = search->remaining[search->place];
        double score, seconds, share = tr_search_share(search, search->rung);
        if (!tr_results_find(search, &search->trials.at[number], share, &score, &seconds)) {
            trellis_trial trial = show(search, number);
            trial.share = share;
            tr_struct_give(&trial, sizeof trial, ret_trial);
            search->waiting = true;
            return TRELLIS_OK;
        }
        note_score(search, score, seconds);
    }
    return TRELLIS_END;
}

trellis_status trellis_search_tell(trellis_search *search, double score, double seconds,
                                   trellis_error *error)
{
    if (!search) {
        return tr_fail_null(error, __func__);
    }
    if (!search->waiting) {
        return tr_fail(error, TRELLIS_OPTION, "no trial is waiting for a score");
    }
    search->waiting = false;
    const struct tr_trial *trial = &search->trials.at[search->remaining[search->place]];
    trellis_status status = tr_results_add(search, trial, tr_search_share(search, search->rung),
                                           score, seconds, error);
    if (!status) {
        note_score(search, score, seconds);
    }
    return status;
}

size_t trellis_search_count(const trellis_search *search)
{
    if (!search) {
        return 0;
    }
    return search->trials.size;
}

static int by_rank(const void *a, const void *b, void *user)
{
    const trellis_search *search = user;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct tr_trial *x = &search->trials.at[i], *y = &search->trials.at[k];
    return tr_trial_better(x, y) ? -1 : tr_trial_better(y, x) ? 1 : (i > k) - (i < k);
}

trellis_status trellis_search_ranked(const trellis_search *search, size_t place,
                                     trellis_trial *ret_trial)
{
    if (!search || !ret_trial) {
        return tr_fail_null(NULL, __func__);
    }
    size_t count = search->trials.size;
    if (place >= count) {
        return TRELLIS_END;
    }
    for (size_t i = 0; i < count; i++) {
        search->order[i] = (uint32_t)i;
    }
    qsort_r(search->order, count, sizeof *search->order, by_rank, (void *)search);
    const trellis_trial trial = show(search, search->order[place]);
    return tr_struct_give(&trial, sizeof trial, ret_trial) ? TRELLIS_OK : TRELLIS_OPTION;
}

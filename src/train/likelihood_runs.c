/* likelihood_runs.c - the likelihood of many sequences at once.
 *
 * A run of sequences is scored in one go, its sequences take their turns by length, a group at a time
 * (lattice/group.h), and what they differ from gold by is collected in one go. Sequences that cannot be
 * grouped are left out of that and visited one by one: those with a weight other than 1 or labels that
 * are known in part only, long ones, the last few of a run, and groups for which single precision is
 * not enough.
 */
#include <string.h>

#include "lattice/group.h"
#include "train/likelihood.h"

bool tr_likelihood_can_run(const struct tr_likelihood *l)
{
    const struct tr_training *t = l->training;
    const struct tr_dataset *data = &t->data.train;
    return tr_lattice_can_group(t->layout.graph) && !tr_training_can(t, TR_LOCAL) && !t->loss &&
           !t->gaussian && !tr_training_has_edges(t, data) && data->max_segment == 0 &&
           data->entry.size == 0;
}

/* The sequences first .. end-1. */
struct likelihood_run {
    struct tr_likelihood *likelihood;
    struct tr_pass_worker *worker;
    size_t first, end;
    struct tr_tokens tokens; // of all
    float *rows;             // [tokens][width]
    size_t width;
    struct tr_group_member member[TR_RUN_SEQUENCES]; // those that may be grouped, longest first
    size_t count;
    size_t which[TR_RUN_SEQUENCES]; // the number of each member's sequence in the run
    bool done[TR_RUN_SEQUENCES];
    double value;
};

static const struct tr_dataset *data_of(const struct likelihood_run *run)
{
    return &run->likelihood->training->data.train;
}

static float *rows_of(const struct likelihood_run *run, size_t s)
{
    const uint32_t *sequence = data_of(run)->sequence.at;
    return run->rows + (sequence[s] - sequence[run->first]) * run->width;
}

static void begin_run(struct likelihood_run *run)
{
    struct tr_likelihood *l = run->likelihood;
    const struct tr_dataset *data = data_of(run);
    size_t first = data->sequence.at[run->first];
    run->tokens = tr_training_tokens(data, TR_NODE_ATTRIBUTE, run->first);
    run->tokens.n = data->sequence.at[run->end] - first;
    memset(run->rows, 0, run->tokens.n * run->width * sizeof *run->rows);
    tr_training_score_nodes(l->training, data, first, &run->tokens, &l->at, run->rows);
}

/* The sequences that may be grouped, longest first, of equal ones the earliest. */
static void list_members(struct likelihood_run *run)
{
    const struct tr_dataset *data = data_of(run);
    for (size_t s = run->first; s < run->end; s++) {
        size_t length = tr_sequence_length(data, s), k = run->count;
        if (length == 0 || length > TR_GROUP_LONGEST || tr_sequence_weight(data, s) != 1 ||
            tr_dataset_is_partial(data, s)) {
            continue;
        }
        for (; k > 0 && run->member[k - 1].length < length; k--) {
            run->member[k] = run->member[k - 1];
            run->which[k] = run->which[k - 1];
        }
        run->member[k] = (struct tr_group_member){
            .row = rows_of(run, s), .length = length, .gold = data->gold.at + data->sequence.at[s]};
        run->which[k] = s - run->first;
        run->count++;
    }
}

/* What a group adds; its rows become marginals minus gold labels. */
static trellis_status add_group(struct likelihood_run *run, size_t first, size_t count,
                                trellis_error *error)
{
    struct tr_group_member *member = run->member + first;
    bool done = false;
    trellis_status status = TRELLIS_OK;
    if (tr_lattice_group_pays(run->likelihood->training->layout.graph, member, count)) {
        status = tr_lattice_group(run->worker->lattice, run->likelihood->steps, member, count,
                                  &done, error);
    }
    for (size_t k = 0; !status && done && k < count; k++) {
        for (size_t i = 0; i < member[k].length; i++) {
            member[k].row[i * run->width + member[k].gold[i]] -= 1;
        }
        run->value += member[k].loss;
        run->done[run->which[first + k]] = true;
    }
    return status;
}

/* Adds what was grouped to the rows of the attributes. */
static void collect_groups(struct likelihood_run *run)
{
    const struct tr_dataset *data = data_of(run);
    for (size_t s = run->first; s < run->end; s++) {
        if (!run->done[s - run->first]) {
            memset(rows_of(run, s), 0,
                   tr_sequence_length(data, s) * run->width * sizeof *run->rows);
        }
    }
    tr_pass_collect_nodes(run->likelihood->pass, run->worker, data->sequence.at[run->first],
                          &run->tokens, run->rows);
}

static trellis_status add_others(struct likelihood_run *run, trellis_error *error)
{
    const struct tr_dataset *data = data_of(run);
    trellis_status status = TRELLIS_OK;
    for (size_t s = run->first; !status && s < run->end; s++) {
        double weight = tr_sequence_weight(data, s), value = 0;
        if (!run->done[s - run->first] && weight != 0 && tr_sequence_length(data, s) > 0) {
            status = tr_likelihood_add_sequence(run->likelihood, run->worker, s, weight, &value,
                                                error);
            run->value += weight * value;
        }
    }
    return status;
}

trellis_status tr_likelihood_add_run(void *user, struct tr_pass_worker *worker, size_t first,
                                     size_t end, double *ret_value, trellis_error *error)
{
    struct tr_likelihood *l = user;
    struct likelihood_run run = {.likelihood = l,
                                 .worker = worker,
                                 .first = first,
                                 .end = end,
                                 .rows = l->sums_of[worker->thread].rows,
                                 .width = l->training->layout.graph->width};
    trellis_status status = TRELLIS_OK;
    if (end - first > 1) { // one alone may be longer than the room for rows
        begin_run(&run);
        list_members(&run);
        for (size_t k = 0; !status && k < run.count; k += TR_GROUP_MAX) {
            size_t left = run.count - k;
            status = add_group(&run, k, left < TR_GROUP_MAX ? left : TR_GROUP_MAX, error);
        }
        collect_groups(&run);
    }
    status = status ? status : add_others(&run, error);
    *ret_value = run.value;
    return status;
}

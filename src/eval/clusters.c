/* clusters.c - agreement of states learned without labels with gold labels.
 *
 * With n(f,g) the tokens in state f whose label is g, and N of them in all,
 *
 *     many-to-one    sum_f max_g n(f,g) / N
 *     one-to-one     max over assignments pi of sum_f n(f,pi(f)) / N, no label taken twice
 *     H(G|F)         - sum_fg n(f,g)/N log2( n(f,g) / n(f) ),   H(F|G) likewise
 *     VI             H(G|F) + H(F|G): the variation of information (Meila 2003), in bits
 *     V-measure      the harmonic mean of 1 - H(G|F)/H(G) and 1 - H(F|G)/H(F)
 *
 * The best assignment is found by the Hungarian method (Kuhn 1955) with shortest augmenting paths:
 * one row at a time, potentials u and v that keep every reduced cost at 0 or above, and a path of
 * reduced cost 0 from the new row to a free column.
 */
#include "eval/clusters.h"

#include <math.h>

#include "base/structs.h"

enum { MAX_CELLS = 1 << 26 };

void tr_contingency_free(struct tr_contingency *table)
{
    free(table->state);
    free(table->label);
    free(table->count);
    free(table->state_count);
    free(table->label_count);
    *table = (struct tr_contingency){0};
}

/* Numbers what occurs; place [labels] of each as a state and as a label. */
static void number(const trellis_evaluation *evaluation, struct tr_contingency *table,
                   size_t *state_place, size_t *label_place)
{
    for (size_t i = 0; i < evaluation->labels.order.size; i++) {
        if (evaluation->labels.tallies.at[i].predicted) {
            state_place[i] = table->states;
            table->state[table->states++] = (uint32_t)i;
        }
        if (evaluation->labels.tallies.at[i].gold) {
            label_place[i] = table->labels;
            table->label[table->labels++] = (uint32_t)i;
        }
    }
}

static void fill(const trellis_evaluation *evaluation, struct tr_contingency *table,
                 const size_t *state_place, const size_t *label_place)
{
    for (size_t i = 0; i < evaluation->labels.order.size; i++) {
        uint64_t correct = evaluation->labels.tallies.at[i].correct;
        if (correct) {
            table->count[state_place[i] * table->labels + label_place[i]] = correct;
        }
    }
    for (size_t i = 0; i < evaluation->confusion_counts.size; i++) {
        uint32_t pair[2]; // gold, predicted
        memcpy(pair, tr_intern_text(&evaluation->confusions, (uint32_t)i).data, sizeof pair);
        table->count[state_place[pair[1]] * table->labels + label_place[pair[0]]] =
            evaluation->confusion_counts.at[i];
    }
    for (size_t f = 0; f < table->states; f++) {
        for (size_t g = 0; g < table->labels; g++) {
            uint64_t count = table->count[f * table->labels + g];
            table->state_count[f] += count;
            table->label_count[g] += count;
            table->tokens += count;
        }
    }
}

trellis_status tr_contingency_make(const trellis_evaluation *evaluation,
                                   struct tr_contingency *ret_table, trellis_error *error)
{
    size_t max = evaluation->labels.order.size;
    struct tr_contingency table = {.state = tr_alloc(max, sizeof *table.state),
                                   .label = tr_alloc(max, sizeof *table.label),
                                   .state_count = tr_alloc(max, sizeof *table.state_count),
                                   .label_count = tr_alloc(max, sizeof *table.label_count)};
    size_t *state_place = tr_alloc(max, sizeof *state_place);
    size_t *label_place = tr_alloc(max, sizeof *label_place);
    bool allocated = table.state && table.label && table.state_count && table.label_count &&
                     state_place && label_place;
    trellis_status status = allocated ? TRELLIS_OK : tr_fail_memory(error);
    *ret_table = (struct tr_contingency){0};
    if (!status) {
        number(evaluation, &table, state_place, label_place);
        if (table.labels && table.states > MAX_CELLS / table.labels) {
            status = tr_fail(error, TRELLIS_LIMIT,
                             "%zu states and %zu labels are too many to be assigned to each other",
                             table.states, table.labels);
        }
    }
    if (!status) {
        table.count = tr_alloc(table.states * table.labels, sizeof *table.count);
        status = table.count ? TRELLIS_OK : tr_fail_memory(error);
    }
    if (!status) {
        fill(evaluation, &table, state_place, label_place);
        *ret_table = table;
    }
    free(state_place);
    free(label_place);
    if (status) {
        tr_contingency_free(&table);
    }
    return status;
}

size_t tr_contingency_majority(const struct tr_contingency *table, size_t state)
{
    const uint64_t *row = table->count + state * table->labels;
    size_t majority = 0;
    for (size_t g = 1; g < table->labels; g++) {
        majority = row[g] > row[majority] ? g : majority;
    }
    return majority;
}

/* ---- the best assignment --------------------------------------------------------------------- */

/* The smaller side of the table is the rows, the other the columns; both count from 1, and 0 stands
 * for the row that is being placed. */
struct assignment {
    const struct tr_contingency *table;
    bool transposed; // rows are labels
    size_t rows, columns;
    int64_t *u, *v;    // [rows + 1], [columns + 1] potentials
    size_t *row_of;    // [columns + 1] the row that holds a column, 0: free
    size_t *before;    // [columns + 1] the column before it on its path
    int64_t *distance; // [columns + 1] of the shortest path to it
    bool *reached;     // [columns + 1]
};

static int64_t reduced_cost(const struct assignment *a, size_t row, size_t column)
{
    size_t f = (a->transposed ? column : row) - 1, g = (a->transposed ? row : column) - 1;
    return -(int64_t)a->table->count[f * a->table->labels + g] - a->u[row] - a->v[column];
}

/* Relaxes the paths to all unreached columns through `column`; returns the nearest. */
static size_t nearest(struct assignment *a, size_t column)
{
    size_t best = 0;
    for (size_t j = 1; j <= a->columns; j++) {
        if (a->reached[j]) {
            continue;
        }
        int64_t distance = reduced_cost(a, a->row_of[column], j);
        if (distance < a->distance[j]) {
            a->distance[j] = distance;
            a->before[j] = column;
        }
        best = best == 0 || a->distance[j] < a->distance[best] ? j : best;
    }
    return best;
}

/* Changes the potentials so that the distance of the nearest column is 0. */
static void lower(struct assignment *a, int64_t distance)
{
    for (size_t j = 0; j <= a->columns; j++) {
        if (a->reached[j]) {
            a->u[a->row_of[j]] += distance;
            a->v[j] -= distance;
        } else {
            a->distance[j] -= distance;
        }
    }
}

static void place_row(struct assignment *a, size_t row)
{
    for (size_t j = 0; j <= a->columns; j++) {
        a->distance[j] = INT64_MAX;
        a->reached[j] = false;
    }
    a->row_of[0] = row;
    size_t column = 0;
    do {
        a->reached[column] = true;
        size_t next = nearest(a, column);
        lower(a, a->distance[next]);
        column = next;
    } while (a->row_of[column] != 0);
    for (; column != 0; column = a->before[column]) {
        a->row_of[column] = a->row_of[a->before[column]];
    }
}

trellis_status tr_contingency_assign(const struct tr_contingency *table, size_t *label_of,
                                     uint64_t *ret_tokens, trellis_error *error)
{
    struct assignment a = {.table = table, .transposed = table->states > table->labels};
    a.rows = a.transposed ? table->labels : table->states;
    a.columns = a.transposed ? table->states : table->labels;
    a.u = tr_alloc(a.rows + 1, sizeof *a.u);
    a.v = tr_alloc(a.columns + 1, sizeof *a.v);
    a.row_of = tr_alloc(a.columns + 1, sizeof *a.row_of);
    a.before = tr_alloc(a.columns + 1, sizeof *a.before);
    a.distance = tr_alloc(a.columns + 1, sizeof *a.distance);
    a.reached = tr_alloc(a.columns + 1, sizeof *a.reached);
    bool ok = a.u && a.v && a.row_of && a.before && a.distance && a.reached;
    for (size_t row = 1; ok && row <= a.rows; row++) {
        place_row(&a, row);
    }
    for (size_t f = 0; f < table->states; f++) {
        label_of[f] = SIZE_MAX;
    }
    *ret_tokens = 0;
    for (size_t j = 1; ok && j <= a.columns; j++) {
        if (a.row_of[j]) {
            size_t f = (a.transposed ? j : a.row_of[j]) - 1,
                   g = (a.transposed ? a.row_of[j] : j) - 1;
            label_of[f] = g;
            *ret_tokens += table->count[f * table->labels + g];
        }
    }
    free(a.u);
    free(a.v);
    free(a.row_of);
    free(a.before);
    free(a.distance);
    free(a.reached);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

/* ---- the figures ----------------------------------------------------------------------------- */

/* - sum_k n_k/N log2(n_k/N) */
static double entropy(const uint64_t *count, size_t size, double all)
{
    double sum = 0;
    for (size_t k = 0; k < size; k++) {
        double p = (double)count[k] / all;
        sum -= p > 0 ? p * log2(p) : 0;
    }
    return sum;
}

/* 1 - H(A|B) / H(A); 1 where H(A) is 0. */
static double explained(double left, double all)
{
    return all > 0 ? fmax(0, 1 - left / all) : 1;
}

trellis_cluster_scores tr_contingency_scores(const struct tr_contingency *table,
                                             uint64_t assigned_tokens)
{
    trellis_cluster_scores scores = {
        .tokens = table->tokens, .states = table->states, .labels = table->labels};
    if (table->tokens == 0) {
        return scores;
    }
    double all = (double)table->tokens;
    uint64_t majority = 0;
    for (size_t f = 0; f < table->states; f++) {
        majority += table->count[f * table->labels + tr_contingency_majority(table, f)];
    }
    double joint = entropy(table->count, table->states * table->labels, all);
    double of_states = entropy(table->state_count, table->states, all);
    double of_labels = entropy(table->label_count, table->labels, all);
    double labels_left = fmax(0, joint - of_states), states_left = fmax(0, joint - of_labels);
    scores.many_to_one = (double)majority / all;
    scores.one_to_one = (double)assigned_tokens / all;
    scores.variation = labels_left + states_left;
    scores.homogeneity = explained(labels_left, of_labels);
    scores.completeness = explained(states_left, of_states);
    double sum = scores.homogeneity + scores.completeness;
    scores.v_measure = sum > 0 ? 2 * scores.homogeneity * scores.completeness / sum : 0;
    return scores;
}

/* The table, the best assignment and the scores. */
struct clustering {
    struct tr_contingency table;
    size_t *label_of; // [table.states]
    trellis_cluster_scores scores;
};

static void clustering_free(struct clustering *c)
{
    free(c->label_of);
    tr_contingency_free(&c->table);
}

static trellis_status clustering_make(const trellis_evaluation *evaluation, struct clustering *c,
                                      trellis_error *error)
{
    uint64_t tokens = 0;
    *c = (struct clustering){0};
    trellis_status status = tr_contingency_make(evaluation, &c->table, error);
    if (!status) {
        c->label_of = tr_alloc(c->table.states, sizeof *c->label_of);
        status = c->label_of ? tr_contingency_assign(&c->table, c->label_of, &tokens, error)
                             : tr_fail_memory(error);
    }
    if (status) {
        clustering_free(c);
        return status;
    }
    c->scores = tr_contingency_scores(&c->table, tokens);
    return TRELLIS_OK;
}

trellis_status trellis_evaluation_clusters(const trellis_evaluation *evaluation,
                                           trellis_cluster_scores *ret_scores, trellis_error *error)
{
    if (!evaluation || !ret_scores) {
        return tr_fail_null(error, __func__);
    }
    struct clustering c;
    trellis_status status = clustering_make(evaluation, &c, error);
    if (!status) {
        status = tr_struct_give(&c.scores, sizeof c.scores, ret_scores)
                     ? TRELLIS_OK
                     : tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
        clustering_free(&c);
    }
    return status;
}

/* ---- the report ------------------------------------------------------------------------------ */

static trellis_text label_text(const trellis_evaluation *evaluation, const struct clustering *c,
                               size_t label)
{
    return tr_intern_text(&evaluation->labels.names, c->table.label[label]);
}

static void report_lines(struct tr_buffer *out, const trellis_evaluation *evaluation,
                         const struct clustering *c)
{
    const struct tr_contingency *table = &c->table;
    tr_buffer_format(out,
                     "processed %llu token%s in %llu sequence%s; %llu state%s for %llu label%s.\n",
                     TR_COUNTED(table->tokens), TR_COUNTED(evaluation->sequences.gold),
                     TR_COUNTED(table->states), TR_COUNTED(table->labels));
    for (size_t f = 0; f < table->states; f++) {
        trellis_text state = tr_intern_text(&evaluation->labels.names, table->state[f]);
        size_t majority = tr_contingency_majority(table, f);
        trellis_text label = label_text(evaluation, c, majority);
        tr_buffer_format(
            out, "%17.*s: %8llu tokens; most frequent label %.*s (%.2f%%); one-to-one ",
            TR_SHOW(state), (unsigned long long)table->state_count[f], TR_SHOW(label),
            100 * tr_ratio(table->count[f * table->labels + majority], table->state_count[f]));
        tr_buffer_text(out, c->label_of[f] == SIZE_MAX ? TR_TEXT("none")
                                                       : label_text(evaluation, c, c->label_of[f]));
        tr_buffer_char(out, '\n');
    }
    tr_buffer_format(
        out, "many-to-one: %6.2f%%; one-to-one: %6.2f%%; VI: %.4f bits; V-measure: %6.2f%%\n",
        100 * c->scores.many_to_one, 100 * c->scores.one_to_one, c->scores.variation,
        100 * c->scores.v_measure);
}

static void json_real(struct tr_buffer *out, const char *key, double value)
{
    tr_buffer_format(out, "  \"%s\": ", key);
    tr_buffer_real(out, value);
    tr_buffer_string(out, ",\n");
}

static void report_json(struct tr_buffer *out, const trellis_evaluation *evaluation,
                        const struct clustering *c)
{
    const struct tr_contingency *table = &c->table;
    tr_buffer_format(out, "{\n  \"tokens\": %llu,\n  \"states\": %zu,\n  \"labels\": %zu,\n",
                     (unsigned long long)table->tokens, table->states, table->labels);
    json_real(out, "many_to_one", c->scores.many_to_one);
    json_real(out, "one_to_one", c->scores.one_to_one);
    json_real(out, "variation_of_information", c->scores.variation);
    json_real(out, "homogeneity", c->scores.homogeneity);
    json_real(out, "completeness", c->scores.completeness);
    json_real(out, "v_measure", c->scores.v_measure);
    tr_buffer_string(out, "  \"by_state\": [");
    for (size_t f = 0; f < table->states; f++) {
        tr_buffer_string(out, f ? ",\n    {\"state\": " : "\n    {\"state\": ");
        tr_buffer_json(out, tr_intern_text(&evaluation->labels.names, table->state[f]));
        tr_buffer_format(out, ", \"tokens\": %llu, \"many_to_one\": ",
                         (unsigned long long)table->state_count[f]);
        tr_buffer_json(out, label_text(evaluation, c, tr_contingency_majority(table, f)));
        tr_buffer_string(out, ", \"one_to_one\": ");
        if (c->label_of[f] == SIZE_MAX) {
            tr_buffer_string(out, "null}");
        } else {
            tr_buffer_json(out, label_text(evaluation, c, c->label_of[f]));
            tr_buffer_char(out, '}');
        }
    }
    tr_buffer_string(out, "\n  ]\n}\n");
}

trellis_status tr_clusters_report(const trellis_evaluation *evaluation, bool json,
                                  struct tr_buffer *out, trellis_error *error)
{
    struct clustering c;
    trellis_status status = clustering_make(evaluation, &c, error);
    if (!status) {
        (json ? report_json : report_lines)(out, evaluation, &c);
        clustering_free(&c);
    }
    return status;
}

/* sample.c - samples labelled sequences from an HMM, for tests of scale and for teaching.
 *
 *     z_1 ~ start,  z_{i+1} ~ step(z_i),  x_i ~ emission(z_i)
 *
 * where a transition goes from state to state of the model's graph: at order 2 it depends on the
 * label before as well. Words are drawn from the vocabulary, never unknown ones; labels with the
 * probability of unknown words included; numbers from the normal distributions of the label. The
 * HMM is a model, or a random one that needs no memory: frequencies of words and of next labels
 * follow Zipf's law, P(rank) ~ 1 / rank.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/options.h"
#include "base/random.h"
#include "corpus/corpus.h"
#include "graph/path.h"
#include "model/model.h"

/* One sequence being drawn. */
struct draft {
    size_t columns;           // of a token, without the label
    TR_ARRAY(uint64_t) begin; // [length][columns] of each cell in bytes
    TR_ARRAY(uint16_t) labels;
    struct tr_buffer bytes;
    TR_ARRAY(trellis_text) cells; // [length][columns + 1]
    TR_ARRAY(trellis_text) texts; // [length] the labels
};

static void draft_free(struct draft *draft)
{
    free(draft->begin.at);
    free(draft->labels.at);
    tr_buffer_free(&draft->bytes);
    free(draft->cells.at);
    free(draft->texts.at);
}

/* Writes the draft. `label_texts` gives the text of a label. */
static trellis_status put_draft(struct draft *draft, const trellis_text *label_texts,
                                trellis_writer *writer, trellis_error *error)
{
    size_t n = draft->labels.size, columns = draft->columns;
    if (draft->bytes.failed || !tr_reserve(&draft->cells, (columns + 1) * n) ||
        !tr_reserve(&draft->texts, n)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0, k = 0; i < n; i++) {
        trellis_text *cells = draft->cells.at + i * (columns + 1);
        const char *bytes = draft->bytes.data ? draft->bytes.data : "";
        for (size_t c = 0; c < columns; c++, k++) {
            uint64_t begin = draft->begin.at[k];
            uint64_t end = k + 1 < draft->begin.size ? draft->begin.at[k + 1] : draft->bytes.size;
            cells[c] = (trellis_text){bytes + begin, end - begin};
        }
        cells[columns] = draft->texts.at[i] = label_texts[draft->labels.at[i]];
    }
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = n,
                                 .columns = columns + 1,
                                 .cells = draft->cells.at,
                                 .labels = draft->texts.at,
                                 .weight = 1};
    draft->labels.size = draft->begin.size = draft->bytes.size = 0;
    return trellis_writer_put(writer, &sequence, NULL, error);
}

static bool add_cell(struct draft *draft, trellis_text cell)
{
    tr_buffer_text(&draft->bytes, cell);
    return tr_push(&draft->begin, draft->bytes.size - cell.size);
}

/* ---- the random HMM -------------------------------------------------------------------------- */

/* A rank in 0 .. n-1 with P(rank) about 1 / (rank + 1): the inverse of the logarithmic
 * distribution. */
static uint64_t zipf(struct tr_random *random, uint64_t n)
{
    double rank = exp(tr_random_real(random) * log((double)n + 1)) - 1;
    return rank < (double)n ? (uint64_t)rank : n - 1;
}

static uint64_t scatter(uint64_t a, uint64_t b, uint64_t seed)
{
    return tr_fold(tr_fold(a + 0x9E3779B97F4A7C15u, seed ^ 0xD6E8FEB86659FD93u) + b,
                   0xA0761D6478BD642Fu);
}

/* The label after `label`: each label has few likely successors, chosen by the seed. */
static uint16_t next_label(struct tr_random *random, uint64_t label, uint64_t labels, uint64_t seed)
{
    uint64_t successors = labels < 8 ? labels : 8 + labels / 16;
    return (uint16_t)(scatter(label, zipf(random, successors), seed) % labels);
}

/* A word of a label: most belong to one label; a tenth are drawn from its neighbour's words. */
static uint64_t draw_word(struct tr_random *random, uint64_t label, uint64_t labels,
                          uint64_t vocabulary)
{
    uint64_t owner = tr_random_real(random) < 0.1 ? (label + 1) % labels : label;
    uint64_t words = vocabulary / labels + (owner < vocabulary % labels);
    return words ? owner + labels * zipf(random, words) : owner % vocabulary;
}

static trellis_status sample_random(const trellis_options *options, trellis_writer *writer,
                                    trellis_error *error)
{
    uint64_t labels = (uint64_t)tr_option_integer(options, "labels");
    uint64_t vocabulary = (uint64_t)tr_option_integer(options, "vocabulary");
    uint64_t tokens = (uint64_t)tr_option_integer(options, "tokens"), drawn = 0;
    uint64_t seed = (uint64_t)tr_option_integer(options, "seed");
    double ending = 1 / tr_option_real(options, "mean-length");
    if (labels == 0 || vocabulary == 0) {
        return tr_fail(error, TRELLIS_OPTION, "a random HMM needs labels and words");
    }
    struct tr_random random;
    struct draft draft = {.columns = 1};
    tr_random_seed(&random, seed);
    TR_ARRAY(trellis_text) texts = {0};
    char(*names)[24] = tr_alloc(labels, sizeof *names);
    trellis_status status = names && tr_reserve(&texts, labels) ? TRELLIS_OK
                                                                : tr_fail_memory(error);
    for (uint64_t i = 0; !status && i < labels; i++) {
        snprintf(names[i], sizeof *names, "L%llu", (unsigned long long)i);
        texts.at[i] = tr_text(names[i]);
    }
    while (!status && drawn < tokens) {
        uint64_t label = scatter(labels, zipf(&random, labels), seed) % labels;
        do {
            char word[32];
            snprintf(word, sizeof word, "w%llu",
                     (unsigned long long)draw_word(&random, label, labels, vocabulary));
            if (!add_cell(&draft, tr_text(word)) || !tr_push(&draft.labels, (uint16_t)label)) {
                status = tr_fail_memory(error);
                break;
            }
            drawn++;
            label = next_label(&random, label, labels, seed);
        } while (tr_random_real(&random) >= ending);
        status = status ? status : put_draft(&draft, texts.at, writer, error);
    }
    free(texts.at);
    free(names);
    draft_free(&draft);
    return status;
}

/* ---- the HMM of a model ---------------------------------------------------------------------- */

enum { MAX_LENGTH = 1 << 20, MAX_STATES = 4096, MAX_PASSES = 20000 };
static const size_t max_steps = (size_t)1 << 26, max_work = (size_t)1 << 35;

struct emission {
    double sum; // of the probabilities so far
    trellis_text word;
};

struct emissions {
    TR_ARRAY(struct emission) words;
};

struct hmm {
    const trellis_model *model;
    uint32_t labels, states;
    bool by_hand; // one weight is one probability
    bool has_end; // some transition goes to the end
    double *next; // [states + 1][labels + 1] running sums over the next label; row `states` is the
                  // start, column `labels` the end
    struct emissions *emissions; // [labels]
    double *words;               // [labels] the sum over all words, unknown ones included
    double known;                // the probability of known words
    double *p;                   // [width] of the word whose weights are being read
    bool below_one;              // some word has p < 1
    size_t *source; // [columns] what stands there: the number of a real-valued column, or ...
    size_t columns; // of a token, without the label
};

enum { WORD = TR_MAX_REALS, NOTHING }; // ... one of these

/* Adds a word to the labels that emit it. A missing weight is 0: a probability of 1, times the
 * factor of the label alone. */
static bool add_emissions(struct hmm *hmm, const struct tr_text_record *record, trellis_text word)
{
    const struct tr_table *table = &hmm->model->node;
    memset(hmm->p, 0, table->width * sizeof *hmm->p);
    tr_table_add_exact(table, record->row, 1, hmm->p);
    for (uint32_t z = 0; z < hmm->labels; z++) {
        struct emissions *e = &hmm->emissions[z];
        double before = e->words.size ? e->words.at[e->words.size - 1].sum : 0;
        double p = exp(hmm->p[z]);
        hmm->below_one = hmm->below_one || p < 1;
        hmm->words[z] += hmm->p[z] != 0 ? p / hmm->known : 1;
        if (p > 0 && !tr_push(&e->words, (struct emission){before + p, word})) {
            return false;
        }
    }
    return true;
}

/* The word of an attribute such as "word[0]=the". */
static trellis_text word_of(trellis_text text)
{
    const char *equals = text.size ? memchr(text.data, '=', text.size) : NULL;
    size_t skip = equals ? (size_t)(equals - text.data) + 1 : 0;
    return (trellis_text){text.data + skip, text.size - skip};
}

/* Unknown words are not sampled, but have a probability: that of the section UNKN, which is taken
 * from the words seen with the label (train/hmm.c), or else, where counts were raised by alpha, as
 * much as one word that was never seen with it. */
static void add_unknown(struct hmm *hmm)
{
    bool one_more = !hmm->model->unknown && !hmm->below_one;
    for (uint32_t z = 0; z < hmm->labels; z++) {
        hmm->words[z] += one_more;
        hmm->words[z] = hmm->by_hand || hmm->words[z] == 0 ? 1 : hmm->words[z];
    }
}

static trellis_status read_words(struct hmm *hmm, trellis_error *error)
{
    const trellis_model *model = hmm->model;
    hmm->known = model->unknown && model->unknown[0] < 0 ? -expm1(model->unknown[0]) : 1;
    for (uint64_t i = 0; i < model->node.record_count; i++) {
        const struct tr_text_record *record = &model->node.records[i];
        trellis_text text = tr_table_text(&model->node, record);
        size_t template = tr_features_template_of(model->features, false, text);
        if (template != SIZE_MAX && tr_features_for_unknown(model->features, template)) {
            continue; // an ending, say
        }
        if (!add_emissions(hmm, record, word_of(text))) {
            return tr_fail_memory(error);
        }
    }
    add_unknown(hmm);
    return TRELLIS_OK;
}

/* exp of the weight of a transition; 0 where it has none. */
static double factor_of(const struct hmm *hmm, uint32_t from, uint32_t to, double words)
{
    uint32_t grams[TR_MAX_ORDER + 1];
    size_t n = tr_path_features(hmm->model->graph, from, to, grams);
    double sum = log(words);
    for (size_t i = 0; i < n; i++) {
        sum += tr_model_exact_step(hmm->model, grams[i]);
    }
    return n ? exp(sum) : 0;
}

static uint32_t row_state(const struct hmm *hmm, uint32_t row)
{
    return row == hmm->states ? TR_NO_STATE : row;
}

/* The factors of all transitions, times the sum over the words of the label. */
static void read_steps(struct hmm *hmm)
{
    const struct tr_graph *graph = hmm->model->graph;
    size_t side = (size_t)hmm->labels + 1;
    for (uint32_t row = 0; row <= hmm->states; row++) {
        uint32_t from = row_state(hmm, row);
        double *next = hmm->next + row * side;
        for (uint32_t c = 0; c < hmm->labels; c++) {
            uint32_t to = tr_graph_next(graph, from, (uint16_t)c);
            next[c] = to == TR_NO_STATE ? 0 : factor_of(hmm, from, to, hmm->words[c]);
        }
        bool ends = from != TR_NO_STATE && !graph->end_forbidden[from];
        next[hmm->labels] = ends ? factor_of(hmm, from, TR_NO_STATE, 1) : 0;
        hmm->has_end = hmm->has_end || next[hmm->labels] > 0;
    }
}

/* What follows a state sums to, all ways to the end taken together. */
static double rest_of(const struct hmm *hmm, const double *rest, uint32_t row)
{
    const double *next = hmm->next + row * ((size_t)hmm->labels + 1);
    double sum = next[hmm->labels];
    for (uint32_t c = 0; c < hmm->labels; c++) {
        if (next[c] > 0) {
            sum += next[c] *
                   rest[tr_graph_next(hmm->model->graph, row_state(hmm, row), (uint16_t)c)];
        }
    }
    return sum;
}

/* The weights of an interpolated HMM are not probabilities of transitions: part of the weight of
 * entering a state belongs to the transitions out of it (docs/maths.md). With rest(z) = end(z) +
 * sum_c factor(z, c) rest(z'),
 *
 *     P(c | z) = factor(z, c) rest(z') / rest(z)
 *
 * however the weights are spread. The equations are solved by fixed-point iteration. */
static void find_rests(const struct hmm *hmm, double *rest)
{
    size_t steps = (hmm->states + (size_t)1) * (hmm->labels + (size_t)1);
    size_t passes = max_work / steps < MAX_PASSES ? max_work / steps : MAX_PASSES;
    double moved = 1;
    for (uint32_t z = 0; z <= hmm->states; z++) {
        rest[z] = 1;
    }
    for (size_t pass = 0; pass < passes && moved > 1e-13 && moved < INFINITY; pass++) {
        moved = 0;
        for (uint32_t z = 0; z < hmm->states; z++) {
            double sum = rest_of(hmm, rest, z);
            moved = fmax(moved, sum > 0 ? fabs(sum - rest[z]) / sum : 0);
            rest[z] = sum;
        }
    }
    rest[hmm->states] = rest_of(hmm, rest, hmm->states);
}

static void spread_rests(struct hmm *hmm, const double *rest)
{
    size_t side = (size_t)hmm->labels + 1;
    for (uint32_t row = 0; row <= hmm->states; row++) {
        double *next = hmm->next + row * side;
        for (uint32_t c = 0; c < hmm->labels; c++) {
            if (next[c] > 0) {
                next[c] *= rest[tr_graph_next(hmm->model->graph, row_state(hmm, row), (uint16_t)c)];
            }
            next[c] = rest[row] > 0 ? next[c] / rest[row] : 0;
        }
        next[hmm->labels] = rest[row] > 0 ? next[hmm->labels] / rest[row] : 0;
    }
}

/* From factors to probabilities. */
static trellis_status normalise(struct hmm *hmm, trellis_error *error)
{
    double *rest = tr_alloc((size_t)hmm->states + 1, sizeof *rest);
    if (!rest) {
        return tr_fail_memory(error);
    }
    find_rests(hmm, rest);
    double all = rest[hmm->states];
    spread_rests(hmm, rest);
    free(rest);
    return all < 1.01 || (!hmm->has_end && all < INFINITY)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA,
                         "the probabilities of all sequences of this HMM sum to %.4g, not to 1; "
                         "train it again, or correct its text form and import it",
                         all);
}

static trellis_text name_of(const struct hmm *hmm, uint32_t row)
{
    const struct tr_graph *graph = hmm->model->graph;
    return tr_model_gram_label(hmm->model,
                               row == hmm->states ? (uint16_t)hmm->labels : graph->label[row]);
}

static trellis_status sum_steps(const struct hmm *hmm, trellis_error *error)
{
    size_t side = (size_t)hmm->labels + 1;
    for (uint32_t row = 0; row <= hmm->states; row++) {
        double *next = hmm->next + row * side;
        for (size_t to = 1; to < side; to++) {
            next[to] += next[to - 1];
        }
        if (!(next[side - 1] <= 1.001)) {
            return tr_fail(error, TRELLIS_DATA,
                           "the probabilities of the transitions from '%.*s' sum to %.4g, not to 1",
                           TR_SHOW(name_of(hmm, row)), next[side - 1]);
        }
    }
    return TRELLIS_OK;
}

/* Numbers are in the columns that the model reads, if it has them by number, else in the order of
 * their names. The word, if there is one, has the first free column. */
static trellis_status lay_out(struct hmm *hmm, trellis_error *error)
{
    const struct tr_gaussian *g = &hmm->model->gaussian;
    bool words = g->columns == 0 || hmm->model->node.record_count > 0, numbered = true;
    size_t last = 0, word = 0;
    for (size_t d = 0; d < g->columns; d++) {
        size_t column = tr_reader_column(NULL, tr_gaussian_name(g, d));
        numbered = numbered && column < TR_MAX_REALS;
        last = column > last ? column : last;
    }
    hmm->columns = words + (size_t)(numbered && g->columns ? last + 1 : g->columns);
    hmm->source = tr_alloc(hmm->columns, sizeof *hmm->source);
    for (size_t k = 0; hmm->source && k < hmm->columns; k++) {
        hmm->source[k] = NOTHING;
    }
    for (size_t d = 0; hmm->source && d < g->columns; d++) {
        size_t column = numbered ? tr_reader_column(NULL, tr_gaussian_name(g, d)) : words + d;
        hmm->source[column] = d;
    }
    while (hmm->source && words && hmm->source[word] != NOTHING) {
        word++;
    }
    if (hmm->source && words) {
        hmm->source[word] = WORD;
        hmm->columns -= numbered && g->columns &&
                        word + 1 < hmm->columns; // the last column was not needed
    }
    return hmm->source ? TRELLIS_OK : tr_fail_memory(error);
}

static trellis_status read_hmm(struct hmm *hmm, trellis_error *error)
{
    const trellis_model *model = hmm->model;
    size_t side = (size_t)hmm->labels + 1;
    if (!model->kind.hmm) {
        return tr_fail(error, TRELLIS_DATA, "sequences can be sampled from an HMM only");
    }
    if (hmm->labels > MAX_STATES || hmm->states + (size_t)1 > max_steps / side) {
        return tr_fail(
            error, TRELLIS_LIMIT,
            "an HMM to sample from can have %d labels and %zu transitions, this one has %u "
            "labels and %u states",
            MAX_STATES, max_steps, hmm->labels, hmm->states);
    }
    hmm->next = tr_alloc((hmm->states + (size_t)1) * side, sizeof *hmm->next);
    hmm->emissions = tr_alloc(hmm->labels, sizeof *hmm->emissions);
    hmm->words = tr_alloc(hmm->labels, sizeof *hmm->words);
    hmm->p = tr_alloc(model->node.width > hmm->labels ? model->node.width : hmm->labels,
                      sizeof *hmm->p);
    if (!hmm->next || !hmm->emissions || !hmm->words || !hmm->p) {
        return tr_fail_memory(error);
    }
    trellis_status status = lay_out(hmm, error);
    if (!status) {
        status = read_words(hmm, error);
    }
    if (!status) {
        read_steps(hmm);
        status = hmm->by_hand ? TRELLIS_OK : normalise(hmm, error);
    }
    return status ? status : sum_steps(hmm, error);
}

/* The next label, `labels` for the end; false where no transition is possible. */
static bool draw_next(const struct hmm *hmm, struct tr_random *random, uint32_t row, uint32_t *to)
{
    size_t side = (size_t)hmm->labels + 1;
    const double *sums = hmm->next + row * side;
    double at = tr_random_real(random) * sums[side - 1];
    *to = 0;
    while (*to < hmm->labels && sums[*to] <= at) {
        ++*to;
    }
    return sums[side - 1] > 0;
}

static trellis_text draw_emission(const struct emissions *emissions, struct tr_random *random)
{
    size_t low = 0, high = emissions->words.size - 1;
    double at = tr_random_real(random) * emissions->words.at[high].sum;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (emissions->words.at[middle].sum <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return emissions->words.at[low].word;
}

/* A standard normal number (Box and Muller 1958). */
static double draw_normal(struct tr_random *random)
{
    double radius = sqrt(-2 * log(1 - tr_random_real(random)));
    return radius * cos(2 * M_PI * tr_random_real(random));
}

/* The cells of a token with this label. */
static trellis_status draw_cells(const struct hmm *hmm, struct tr_random *random, uint32_t label,
                                 struct draft *draft, trellis_error *error)
{
    const struct tr_gaussian *g = &hmm->model->gaussian;
    bool ok = true;
    for (size_t k = 0; ok && k < hmm->columns; k++) {
        size_t source = hmm->source[k], cell = label * (size_t)g->columns + source;
        char number[40] = "_";
        if (source == WORD && hmm->emissions[label].words.size == 0) {
            return tr_fail(error, TRELLIS_DATA, "the label '%.*s' of the HMM has no words",
                           TR_SHOW(hmm->model->labels[label]));
        }
        if (source < WORD) {
            double x = g->mean[cell] + sqrt(g->variance[cell]) * draw_normal(random);
            snprintf(number, sizeof number, "%.9g", fmin(fmax(x, -DBL_MAX), DBL_MAX));
        }
        ok = add_cell(draft, source == WORD ? draw_emission(&hmm->emissions[label], random)
                                            : tr_text(number));
    }
    return ok && tr_push(&draft->labels, (uint16_t)label) ? TRELLIS_OK : tr_fail_memory(error);
}

/* Draws one sequence into the draft. */
static trellis_status draw_sequence(const struct hmm *hmm, struct tr_random *random, double ending,
                                    struct draft *draft, trellis_error *error)
{
    uint32_t row = hmm->states;
    do {
        uint32_t label;
        if (!draw_next(hmm, random, row, &label)) {
            return tr_fail(error, TRELLIS_DATA, "the HMM has no transition from '%.*s'",
                           TR_SHOW(name_of(hmm, row)));
        }
        if (label == hmm->labels) {
            break;
        }
        row = tr_graph_next(hmm->model->graph, row_state(hmm, row), (uint16_t)label);
        trellis_status status = draw_cells(hmm, random, label, draft, error);
        if (status) {
            return status;
        }
        if (draft->labels.size > MAX_LENGTH) {
            return tr_fail(error, TRELLIS_DATA, "no sequence of the HMM ended within %d tokens",
                           MAX_LENGTH);
        }
    } while (hmm->has_end || tr_random_real(random) >= ending);
    return TRELLIS_OK;
}

static trellis_status sample_model(const trellis_model *model, const trellis_options *options,
                                   trellis_writer *writer, trellis_error *error)
{
    uint64_t tokens = (uint64_t)tr_option_integer(options, "tokens"), drawn = 0;
    double ending = 1 / tr_option_real(options, "mean-length");
    struct hmm hmm = {.model = model,
                      .labels = model->label_count,
                      .states = model->graph->states,
                      .by_hand = tr_model_is_by_hand(model)};
    struct draft draft = {0};
    struct tr_random random;
    tr_random_seed(&random, (uint64_t)tr_option_integer(options, "seed"));
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (!status) {
        status = read_hmm(&hmm, error);
    }
    draft.columns = hmm.columns;
    while (!status && drawn < tokens) {
        status = draw_sequence(&hmm, &random, ending, &draft, error);
        drawn += draft.labels.size + 1; // an empty sequence counts too, so that there is an end
        if (!status && draft.labels.size) {
            drawn--;
            status = put_draft(&draft, model->labels, writer, error);
        }
    }
    for (uint32_t i = 0; hmm.emissions && i < hmm.labels; i++) {
        free(hmm.emissions[i].words.at);
    }
    free(hmm.emissions);
    free(hmm.source);
    free(hmm.next);
    free(hmm.words);
    free(hmm.p);
    draft_free(&draft);
    return status;
}

trellis_status trellis_sample(const trellis_model *model, const trellis_options *options,
                              trellis_writer *writer, trellis_error *error)
{
    if (!writer) {
        return tr_fail_null(error, __func__);
    }
    return model ? sample_model(model, options, writer, error)
                 : sample_random(options, writer, error);
}

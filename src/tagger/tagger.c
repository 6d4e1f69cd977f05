/* tagger.c - what is asked: the best labels of a sequence, under a model.
 *
 *     cells -> keys -> rows of weights -> node scores -> best path -> labels
 *
 * Looking up a key and reading its row are two cache misses. The keys of a token are known together,
 * so the misses are made to overlap: first all buckets are fetched, then all rows, then they are added.
 */
#include <math.h>

#include "base/options.h"
#include "corpus/corpus.h"
#include "eval/loss.h"
#include "graph/constraint.h"
#include "tagger/tagger.h"

/* Floats for the scores of label pairs at all positions: 4 GB. */
#define MOST_EDGE_SCORES ((size_t)1 << 30)
/* In the place of minus infinity, where something impossible has to be taken. */
#define NEARLY_IMPOSSIBLE (-1000.0f)

/* Labels given for a position of the next sequence. */
struct given {
    size_t position, begin, end; // into given_labels
};

struct trellis_tagger {
    const trellis_model *model;
    struct tr_extractor *extractor;
    enum { UNBOUND, BOUND, MISBOUND } binding; // MISBOUND: the input lacks a column
    enum { VITERBI, POSTERIOR, RISK, BEAM } decoding;
    size_t beam_width;
    struct tr_loss *loss;   // with RISK
    double *risk;           // [labels] with RISK, scratch
    struct tr_graph *graph; // with steps forbidden on top of the model's; NULL where there are none
    struct tr_steps *own_steps;
    const struct tr_steps *steps; // the tagger's own, or the model's
    struct tr_lattice *lattice;

    /* What was found last, best first. */
    size_t length;
    size_t ranks;              // asked for; 0 where a search for one path will do
    size_t found;              // 0 where nothing was found
    TR_ARRAY(uint16_t) paths;  // [found][length]
    TR_ARRAY(double) scores;   // [found]
    TR_ARRAY(float) marginals; // [length] of the labels of one of them
    double log_z;              // once it was asked for; the lattice knows whether

    /* --threshold. */
    double threshold;            // 0: there is none
    struct tr_span_rules *rules; // once they are needed
    TR_ARRAY(bool) improbable;   // [length] tokens of the best path that are left out

    TR_ARRAY(trellis_text) labels;
    TR_ARRAY(uint32_t) rows;  // of the attributes of one token
    TR_ARRAY(double) exact;   // [width] scores of one token, with all digits
    struct tr_steps *relaxed; // where nothing is impossible; once they are needed
    bool impossible;          // what was found last has probability 0
    trellis_scheme_storage *storage;
    size_t word_column;       // what the tag dictionary is asked about
    char *forced;             // --forced, NULL where it was not given
    size_t forced_column;     // SIZE_MAX for the last
    struct tr_intern names;   // of the labels, once they are asked for
    TR_ARRAY(uint16_t) asked; // [length] labels whose probability is asked for
    size_t *real_columns;     // [model->gaussian.columns] where they are in the input
    TR_ARRAY(double) reals;   // [length][model->gaussian.columns]
    TR_ARRAY(struct given) given;
    TR_ARRAY(uint16_t) given_labels;
    TR_ARRAY(bool) known;    // [length] words of a sequence
    TR_ARRAY(bool) is_given; // [length], false throughout between sequences
};

/* A graph with more steps forbidden than the model's has. */
static trellis_status constrain(trellis_tagger *tagger, const char *rule, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    uint16_t(*more)[2] = NULL, (*all)[2] = NULL;
    size_t count = 0, had = model->plan.forbidden_count;
    trellis_status status = tr_constraint_steps(rule, model->labels, model->label_count, &more,
                                                &count, error);
    if (!status && !(all = tr_alloc(had + count, sizeof *all))) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        struct tr_graph_plan plan = model->plan;
        memcpy(all, model->forbidden, had * sizeof *all);
        if (count) {
            memcpy(all + had, more, count * sizeof *all);
        }
        plan.forbidden = (const uint16_t(*)[2])all;
        plan.forbidden_count = had + count;
        status = tr_graph_create(&plan, &tagger->graph, error);
    }
    if (!status) {
        status = tr_model_steps(model, tagger->graph, &tagger->own_steps, error);
    }
    if (!status) {
        tagger->steps = tagger->own_steps;
    }
    free(more);
    free(all);
    return status;
}

/* The labels of the model by number. */
static bool list_names(trellis_tagger *tagger)
{
    const trellis_model *model = tagger->model;
    bool fine = true;
    for (uint32_t i = (uint32_t)tr_intern_count(&tagger->names); fine && i < model->label_count;
         i++) {
        fine = tr_intern_add(&tagger->names, model->labels[i]) != TR_NONE;
    }
    return fine;
}

static trellis_status read_costs(trellis_tagger *tagger, const trellis_options *options,
                                 trellis_error *error)
{
    uint32_t labels = tagger->model->label_count;
    tagger->risk = tr_alloc(labels, sizeof *tagger->risk);
    return tagger->risk && list_names(tagger)
               ? tr_loss_create(options, &tagger->names, labels, &tagger->loss, error)
               : tr_fail_memory(error);
}

trellis_status trellis_tagger_create(const trellis_model *model, const trellis_options *options,
                                     trellis_tagger **ret_tagger, trellis_error *error)
{
    *ret_tagger = NULL;
    trellis_tagger *tagger = tr_alloc(1, sizeof *tagger);
    if (!tagger) {
        return tr_fail_memory(error);
    }
    tagger->model = model;
    tagger->decoding = tr_option_is(options, "decode", "posterior") ? POSTERIOR
                       : tr_option_is(options, "decode", "risk")    ? RISK
                       : tr_option_is(options, "decode", "beam")    ? BEAM
                                                                    : VITERBI;
    tagger->beam_width = (size_t)tr_option_integer(options, "beam");
    tagger->threshold = tr_option_real(options, "threshold");
    tagger->steps = model->steps;
    const char *forced = tr_option_text(options, "forced");
    if (*forced && !(tagger->forced = tr_copy_text(forced, strlen(forced)))) {
        trellis_tagger_destroy(tagger);
        return tr_fail_memory(error);
    }
    tagger->real_columns = tr_alloc(model->gaussian.columns, sizeof *tagger->real_columns);
    trellis_status status = tagger->real_columns ? tr_extractor_create(model->features, false,
                                                                       &tagger->extractor, error)
                                                 : tr_fail_memory(error);
    if (!status && !tr_option_is(options, "constrain", "none")) {
        status = constrain(tagger, tr_option_text(options, "constrain"), error);
    }
    if (!status) {
        status = tr_lattice_create(tagger->graph ? tagger->graph : model->graph, &tagger->lattice,
                                   error);
    }
    if (!status && tagger->decoding == RISK) {
        status = read_costs(tagger, options, error);
    }
    if (status) {
        trellis_tagger_destroy(tagger);
        return status;
    }
    *ret_tagger = tagger;
    return TRELLIS_OK;
}

void trellis_tagger_destroy(trellis_tagger *tagger)
{
    if (!tagger) {
        return;
    }
    tr_extractor_destroy(tagger->extractor);
    tr_lattice_destroy(tagger->lattice);
    tr_steps_destroy(tagger->own_steps);
    tr_graph_destroy(tagger->graph);
    trellis_scheme_storage_destroy(tagger->storage);
    tr_loss_destroy(tagger->loss);
    free(tagger->risk);
    free(tagger->paths.at);
    free(tagger->scores.at);
    free(tagger->marginals.at);
    tr_span_rules_destroy(tagger->rules);
    free(tagger->improbable.at);
    free(tagger->labels.at);
    free(tagger->rows.at);
    free(tagger->exact.at);
    tr_steps_destroy(tagger->relaxed);
    free(tagger->forced);
    free(tagger->real_columns);
    free(tagger->reals.at);
    tr_intern_free(&tagger->names);
    free(tagger->asked.at);
    free(tagger->given.at);
    free(tagger->given_labels.at);
    free(tagger->known.at);
    free(tagger->is_given.at);
    free(tagger);
}

/* The column of --forced: its name, its number from 1, or 'last'. */
static trellis_status bind_forced(trellis_tagger *tagger, const trellis_reader *reader,
                                  trellis_error *error)
{
    tagger->forced_column = SIZE_MAX;
    if (!tagger->forced || strcmp(tagger->forced, "last") == 0) {
        return TRELLIS_OK;
    }
    tagger->forced_column = tr_reader_column(reader, tr_text(tagger->forced));
    if (tagger->forced_column != SIZE_MAX) {
        return TRELLIS_OK;
    }
    return tr_fail(error, TRELLIS_OPTION,
                   "--forced: no column has the name '%s'; it takes a number from 1 as well",
                   tagger->forced);
}

trellis_status trellis_tagger_bind(trellis_tagger *tagger, const trellis_reader *reader,
                                   trellis_error *error)
{
    trellis_status status = tr_extractor_bind(tagger->extractor, reader, SIZE_MAX, error);
    tagger->word_column = tr_lexicon_column(reader, SIZE_MAX);
    if (!status) {
        status = bind_forced(tagger, reader, error);
    }
    if (!status && tagger->model->gaussian.columns) {
        status = tr_gaussian_bind(tagger->model->gaussian.names, reader, SIZE_MAX,
                                  tagger->real_columns, error);
    }
    tagger->binding = status ? MISBOUND : BOUND;
    return status;
}

/* Finds the rows of what is seen at one token, in tagger->rows; how many the model knows, SIZE_MAX where
 * memory is out. */
static size_t find_rows(trellis_tagger *tagger, const struct tr_table *table,
                        const struct tr_seen *seen, size_t token)
{
    size_t begin = seen->begin[token], count = seen->begin[token + 1] - begin, known = 0;
    if (!tr_reserve(&tagger->rows, count)) {
        return SIZE_MAX;
    }
    const uint64_t *keys = seen->low + begin;
    uint32_t *rows = tagger->rows.at;
    for (size_t k = 0; k < count; k++) {
        __builtin_prefetch(&table->buckets[tr_table_home(table, keys[k])]);
    }
    for (size_t k = 0; k < count; k++) {
        rows[k] = tr_table_find(table, keys[k]);
        if (rows[k] < table->word_count) {
            __builtin_prefetch(&table->words[rows[k]]);
            known++;
        }
    }
    return known;
}

/* Adds the weights of what is seen at one token to its scores. */
static bool add_seen(trellis_tagger *tagger, const struct tr_table *table,
                     const struct tr_seen *seen, size_t token, float *scores)
{
    size_t begin = seen->begin[token], count = seen->begin[token + 1] - begin;
    size_t known = find_rows(tagger, table, seen, token);
    for (size_t k = 0; known && known != SIZE_MAX && k < count; k++) {
        if (tagger->rows.at[k] != TR_NONE) {
            tr_table_add(table, tagger->rows.at[k], seen->value ? seen->value[begin + k] : 1.0f,
                         scores);
        }
    }
    return known != SIZE_MAX;
}

/* ---- all digits, for an HMM ----------------------------------------------------------------------- */

/* What an unknown word has too much of in all its scores, given by weights that are right but for a factor:
 * log u = log sum_z P(z) P(word | z), u the share of unknown words. */
static double excess(const trellis_model *model, const double *scores)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t c = 0; c < model->label_count; c++) {
        most = fmax(most, scores[c] + model->unknown[1 + c]);
    }
    for (uint32_t c = 0; isfinite(most) && c < model->label_count; c++) {
        sum += exp(scores[c] + model->unknown[1 + c] - most);
    }
    return isfinite(most) ? most + log(sum) - model->unknown[0] : 0;
}

/* Node scores in two floats each: the score, and what it leaves over. */
static bool fill_exact(trellis_tagger *tagger, const trellis_sequence *sequence,
                       const struct tr_seen *seen)
{
    const trellis_model *model = tagger->model;
    size_t width = model->graph->width;
    float *high = tr_lattice_nodes(tagger->lattice), *low = tr_lattice_low(tagger->lattice);
    bool guess = model->unknown && tagger->word_column < sequence->columns;
    bool fine = low && tr_reserve(&tagger->exact, width);
    for (size_t i = 0; fine && i < sequence->length; i++) {
        double *scores = tagger->exact.at;
        size_t begin = seen->begin[i], count = seen->begin[i + 1] - begin;
        memset(scores, 0, width * sizeof *scores);
        fine = find_rows(tagger, &model->node, seen, i) != SIZE_MAX;
        for (size_t k = 0; fine && k < count; k++) {
            tr_table_add_exact(&model->node, tagger->rows.at[k],
                               seen->value ? seen->value[begin + k] : 1.0f, scores);
        }
        bool unknown = guess &&
                       tr_lexicon_find(
                           &model->lexicon,
                           sequence->cells[i * sequence->columns + tagger->word_column]) == TR_NONE;
        double shift = unknown ? excess(model, scores) : 0;
        for (uint32_t c = 0; c < model->label_count; c++) {
            double score = scores[c] - shift;
            high[i * width + c] = (float)score;
            low[i * width + c] = isfinite(score) ? (float)(score - (double)(float)score) : 0;
        }
    }
    return fine;
}

/* ---- scores -------------------------------------------------------------------------------------- */

static trellis_status fill_scores(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  const struct tr_observation *observation, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t n = observation->length, width = model->graph->width;
    trellis_status status = tr_lattice_begin(tagger->lattice, n, error);
    if (status) {
        return status;
    }
    float *scores = tr_lattice_nodes(tagger->lattice);
    bool exact = model->step_low, fine = !exact || fill_exact(tagger, sequence, &observation->node);
    for (size_t i = 0; !exact && fine && i < n; i++) {
        fine = add_seen(tagger, &model->node, &observation->node, i, scores + i * width);
    }
    if (model->gaussian.columns) {
        tr_gaussian_score(&model->gaussian, tagger->reals.at, n, scores, width);
    }
    if (fine && n > 1 && model->edge.record_count > 0 && tr_features_has_edges(model->features)) {
        if (n > MOST_EDGE_SCORES / (model->graph->labels * width)) {
            return tr_fail(error, TRELLIS_LIMIT,
                           "weights for pairs of %u labels take too much memory over %zu tokens",
                           model->graph->labels, n);
        }
        scores = tr_lattice_edges(tagger->lattice);
        fine = scores != NULL;
        for (size_t i = 1; fine && i < n; i++) {
            fine = add_seen(tagger, &model->edge, &observation->edge, i,
                            scores + i * model->graph->labels * width);
        }
    }
    return fine ? TRELLIS_OK : tr_fail_memory(error);
}

/* ---- labels that are given ---------------------------------------------------------------------- */

/* Whether a label inside the model can be what is written as a label outside it. Both schemes have
 * letters for the first, a middle, the last and the only token of a span, and one of the four must be
 * common to both. */
static bool can_be(trellis_scheme inside, trellis_text label, trellis_scheme outside,
                   trellis_text written)
{
    static const char *const letters[TRELLIS_NO_SCHEME][4] = {
        [TRELLIS_IOB1] = {"IB", "I", "I", "IB"},
        [TRELLIS_IOB2] = {"B", "I", "I", "B"},
        [TRELLIS_IOBES] = {"B", "I", "E", "S"},
        [TRELLIS_BILOU] = {"B", "I", "E", "S"},
    };
    char a, b;
    trellis_text type_a = {"", 0}, type_b = {"", 0};
    if (!tr_label_split(label, &a, &type_a) || !tr_label_split(written, &b, &type_b) || a == 'O' ||
        b == 'O') {
        return tr_text_equal(label, written);
    }
    bool common = false;
    for (int place = 0; place < 4; place++) {
        common = common ||
                 (strchr(letters[inside][place], a) && strchr(letters[outside][place], b));
    }
    return common && tr_text_equal(type_a, type_b);
}

/* Adds the labels of the model that the text stands for: one, or several where the model has another
 * label scheme inside. */
static trellis_status give_label(trellis_tagger *tagger, trellis_text text, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t before = tagger->given_labels.size;
    bool fine = list_names(tagger),
         converts = model->inside != TRELLIS_NO_SCHEME && model->outside != TRELLIS_NO_SCHEME;
    uint32_t label = tr_intern_find(&tagger->names, text);
    if (!converts && label < model->label_count) {
        fine = fine && tr_push(&tagger->given_labels, (uint16_t)label);
    }
    for (uint32_t i = 0; fine && converts && i < model->label_count; i++) {
        fine = !can_be(model->inside, model->labels[i], model->outside, text) ||
               tr_push(&tagger->given_labels, (uint16_t)i);
    }
    return !fine ? tr_fail_memory(error)
           : tagger->given_labels.size > before
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_DATA, "the model has no label '%.*s'", TR_SHOW(text));
}

trellis_status trellis_tagger_allow(trellis_tagger *tagger, size_t position,
                                    const trellis_text *labels, size_t count, trellis_error *error)
{
    size_t begin = tagger->given_labels.size;
    trellis_status status = TRELLIS_OK;
    if (count == 0) {
        return tr_fail(error, TRELLIS_DATA, "no label is allowed at position %zu", position + 1);
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = give_label(tagger, labels[i], error);
    }
    struct given given = {position, begin, tagger->given_labels.size};
    if (!status && !tr_push(&tagger->given, given)) {
        status = tr_fail_memory(error);
    }
    if (status) {
        tagger->given_labels.size = begin;
    }
    return status;
}

/* A cell of --forced: '_' or nothing where the label is free, else labels separated by '|'. */
static trellis_status give_cell(trellis_tagger *tagger, trellis_text cell, size_t position,
                                trellis_error *error)
{
    size_t begin = tagger->given_labels.size;
    if (cell.size == 0 || tr_text_is(cell, "_")) {
        return TRELLIS_OK;
    }
    for (size_t at = 0, n; at <= cell.size; at += n + 1) {
        const char *bar = at < cell.size ? memchr(cell.data + at, '|', cell.size - at) : NULL;
        n = bar ? (size_t)(bar - cell.data) - at : cell.size - at;
        trellis_status status = give_label(tagger, (trellis_text){cell.data + at, n}, error);
        if (status) {
            return status;
        }
    }
    struct given given = {position, begin, tagger->given_labels.size};
    return tr_push(&tagger->given, given) ? TRELLIS_OK : tr_fail_memory(error);
}

static trellis_status give_column(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  trellis_error *error)
{
    size_t columns = sequence->columns;
    size_t column = tagger->forced_column == SIZE_MAX ? columns - 1 : tagger->forced_column;
    if (!tagger->forced) {
        return TRELLIS_OK;
    }
    if (columns == 0 || column >= columns) {
        return tr_fail_at(error, TRELLIS_DATA, (struct tr_place){.line = sequence->line},
                          "line %llu: there is no column '%s' for --forced, there are %zu columns",
                          (unsigned long long)sequence->line, tagger->forced, columns);
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_error cause = {0};
        trellis_status status = give_cell(tagger, sequence->cells[i * columns + column], i, &cause);
        if (status) {
            uint64_t line = tr_sequence_line(sequence, i);
            return tr_fail_at(error, status, (struct tr_place){.line = line}, "line %llu: %s",
                              (unsigned long long)line, cause.message);
        }
    }
    return TRELLIS_OK;
}

static void forget_given(trellis_tagger *tagger)
{
    tagger->given.size = tagger->given_labels.size = 0;
}

/* Restricts words of the tag dictionary that have no labels given to those they have there. */
static trellis_status restrict_words(trellis_tagger *tagger, const trellis_sequence *sequence,
                                     trellis_error *error)
{
    const struct tr_lexicon *lexicon = &tagger->model->lexicon;
    size_t n = sequence->length;
    trellis_status status = TRELLIS_OK;
    if (n && tagger->word_column >= sequence->columns) {
        return tr_fail_at(error, TRELLIS_DATA, (struct tr_place){.line = sequence->line},
                          "line %llu: the model has a tag dictionary, and there is no column of "
                          "words here",
                          (unsigned long long)sequence->line);
    }
    if (!tr_reserve(&tagger->is_given, n)) {
        return tr_fail_memory(error);
    }
    for (size_t k = 0; k < tagger->given.size; k++) {
        if (tagger->given.at[k].position < n) {
            tagger->is_given.at[tagger->given.at[k].position] = true;
        }
    }
    for (size_t i = 0; !status && i < n; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + tagger->word_column];
        uint32_t entry = tagger->is_given.at[i] ? TR_NONE : tr_lexicon_find(lexicon, word);
        if (entry != TR_NONE) {
            const uint16_t *labels;
            size_t count = tr_lexicon_labels(lexicon, entry, &labels);
            status = tr_lattice_restrict(tagger->lattice, i, labels, count, error);
        }
    }
    if (n) {
        memset(tagger->is_given.at, 0, n * sizeof *tagger->is_given.at);
    }
    return status;
}

/* Restricts positions to the labels given for them. */
static trellis_status restrict_given(trellis_tagger *tagger, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t k = 0; !status && k < tagger->given.size; k++) {
        const struct given *given = &tagger->given.at[k];
        status = tr_lattice_restrict(tagger->lattice, given->position,
                                     tagger->given_labels.at + given->begin,
                                     given->end - given->begin, error);
    }
    return status;
}

/* ---- decoding ------------------------------------------------------------------------------------ */

/* Labels by what each position shows alone, once the marginals are known. */
static void choose_labels(trellis_tagger *tagger, uint16_t *labels)
{
    const float *marginals = tr_lattice_node_marginals(tagger->lattice);
    size_t width = tagger->model->graph->width;
    if (tagger->decoding == POSTERIOR) {
        tr_lattice_posterior(tagger->lattice, labels);
        return;
    }
    for (size_t i = 0; i < tagger->length; i++) {
        labels[i] = tr_loss_least_risk(tagger->loss, marginals + i * width, tagger->risk);
    }
}

static const struct tr_steps *steps_in_use(const trellis_tagger *tagger)
{
    return tagger->impossible ? tagger->relaxed : tagger->steps;
}

static trellis_status decode(trellis_tagger *tagger, trellis_error *error)
{
    struct tr_lattice *lattice = tagger->lattice;
    const struct tr_steps *steps = steps_in_use(tagger);
    uint16_t *paths = tagger->paths.at;
    double *scores = tagger->scores.at;
    trellis_status status = TRELLIS_OK;
    if (tagger->ranks) {
        status = tr_lattice_nbest(lattice, steps, tagger->ranks, paths, scores, &tagger->found,
                                  error);
        for (size_t k = 0; !status && tagger->model->step_low && k < tagger->found; k++) {
            scores[k] = tr_lattice_path_score(lattice, steps, paths + k * tagger->length);
        }
        return status;
    }
    if (tagger->decoding == BEAM) {
        status = tr_lattice_beam(lattice, steps, tagger->beam_width, paths, scores, error);
    } else if (tagger->decoding == VITERBI) {
        status = tr_lattice_viterbi(lattice, steps, paths, scores, error);
    } else {
        status = tr_lattice_forward_backward(lattice, steps, &tagger->log_z, error);
        if (!status) {
            choose_labels(tagger, paths);
            scores[0] = tr_lattice_path_score(lattice, steps, paths);
        }
    }
    tagger->found = status == TRELLIS_OK;
    return status;
}

static trellis_status score_and_decode(trellis_tagger *tagger, const trellis_sequence *sequence,
                                       const struct tr_observation *observation, bool by_dictionary,
                                       trellis_error *error)
{
    trellis_status status = fill_scores(tagger, sequence, observation, error);
    if (!status && by_dictionary) {
        status = restrict_words(tagger, sequence, error);
    }
    if (!status && tagger->model->local) {
        status = tr_lattice_normalise(tagger->lattice, tagger->steps, error);
    }
    if (!status) { // behind the decisions, of which it is news
        status = restrict_given(tagger, error);
    }
    return status ? status : decode(tagger, error);
}

/* Steps that are impossible made merely very improbable. */
static trellis_status relax_steps(trellis_tagger *tagger, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t count = model->plan.gram_count;
    float *weights = tr_alloc(count, sizeof *weights);
    trellis_status status = weights ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && !tagger->relaxed) {
        status = tr_steps_create(tagger->graph ? tagger->graph : model->graph, &tagger->relaxed,
                                 error);
    }
    for (size_t i = 0; !status && i < count; i++) {
        weights[i] = fmaxf(model->step_weights[i], NEARLY_IMPOSSIBLE);
    }
    if (!status) {
        tr_steps_set(tagger->relaxed, weights);
    }
    free(weights);
    return status;
}

/* Under an HMM all labellings of a sequence may have probability 0, because of a word or of a step. The
 * answer is the one that takes the fewest impossible things, and the most probable of those. */
static trellis_status decode_impossible(trellis_tagger *tagger, const trellis_sequence *sequence,
                                        const struct tr_observation *observation,
                                        trellis_error *error)
{
    trellis_status status = relax_steps(tagger, error);
    if (!status) {
        status = fill_scores(tagger, sequence, observation, error);
    }
    size_t width = tagger->model->graph->width;
    float *scores = tr_lattice_nodes(tagger->lattice);
    for (size_t k = 0; !status && k < sequence->length * width; k++) {
        scores[k] = fmaxf(scores[k], NEARLY_IMPOSSIBLE);
    }
    if (!status) {
        status = restrict_given(tagger, error);
    }
    tagger->impossible = !status;
    return status ? status : decode(tagger, error);
}

/* What is seen in a sequence, and the labels that are given in it. */
static trellis_status observe(trellis_tagger *tagger, const trellis_sequence *sequence,
                              const struct tr_observation **ret_observation, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (tagger->binding == UNBOUND) {
        status = trellis_tagger_bind(tagger, NULL, error);
    } else if (tagger->binding == MISBOUND) {
        status = tr_fail(error, TRELLIS_TEMPLATE, "the input lacks a column of the templates");
    }
    if (!status) {
        status = tr_extractor_run(tagger->extractor, sequence, ret_observation, error);
    }
    size_t reals = tagger->model->gaussian.columns;
    if (!status && reals) {
        status = tr_reserve(&tagger->reals, sequence->length * reals)
                     ? tr_gaussian_take(sequence, NULL, tagger->real_columns, reals,
                                        tagger->reals.at, error)
                     : tr_fail_memory(error);
    }
    return status ? status : give_column(tagger, sequence, error);
}

/* Room for what may be found. */
static bool make_room(trellis_tagger *tagger, size_t length, size_t ranks)
{
    size_t most = ranks ? ranks : 1, labels;
    tagger->found = 0;
    tagger->impossible = false;
    tagger->length = length;
    tagger->ranks = ranks;
    return !__builtin_mul_overflow(most, length, &labels) && tr_reserve(&tagger->paths, labels) &&
           tr_reserve(&tagger->scores, most) && tr_reserve(&tagger->labels, length);
}

/* Finds the best labels, or as many of the best as `ranks` says. */
static trellis_status find(trellis_tagger *tagger, const trellis_sequence *sequence, size_t ranks,
                           trellis_error *error)
{
    const struct tr_observation *observation = NULL;
    bool by_dictionary = tagger->model->lexicon.words > 0;
    trellis_status status = make_room(tagger, sequence->length, ranks)
                                ? observe(tagger, sequence, &observation, error)
                                : tr_fail_memory(error);
    if (!status) {
        status = score_and_decode(tagger, sequence, observation, by_dictionary, error);
        if (status == TRELLIS_DATA && by_dictionary) { // no path: as if there were no dictionary
            status = score_and_decode(tagger, sequence, observation, false, error);
        }
        const char *type = trellis_model_note(tagger->model, "type");
        if (status == TRELLIS_DATA && type && strcmp(type, "hmm") == 0) {
            status = decode_impossible(tagger, sequence, observation, error);
        }
    }
    forget_given(tagger);
    return status;
}

/* Finds log Z and the marginals of the sequence at hand, unless that was done. */
static trellis_status sum_up(trellis_tagger *tagger, size_t rank, trellis_error *error)
{
    if (!trellis_model_has_probabilities(tagger->model)) {
        const char *type = trellis_model_note(tagger->model, "type");
        return tr_fail(error, TRELLIS_MODEL,
                       "a model of type '%s' has no probabilities; "
                       "those of type crf, maxent, hmm and memm do",
                       type ? type : "unknown");
    }
    if (rank >= tagger->found) {
        return tr_fail(error, TRELLIS_DATA, "labelling %zu was not found", rank + 1);
    }
    if (tagger->length == 0) {
        tagger->log_z = 0;
        return TRELLIS_OK;
    }
    return tr_lattice_node_marginals(tagger->lattice)
               ? TRELLIS_OK
               : tr_lattice_forward_backward(tagger->lattice, steps_in_use(tagger), &tagger->log_z,
                                             error);
}

static trellis_status make_rules(trellis_tagger *tagger, trellis_error *error)
{
    return tagger->rules ? TRELLIS_OK : tr_span_rules_create(tagger->model, &tagger->rules, error);
}

/* Marks what --threshold leaves out. */
static trellis_status leave_out(trellis_tagger *tagger, trellis_error *error)
{
    if (!tr_reserve(&tagger->improbable, tagger->length + 1)) {
        return tr_fail_memory(error);
    }
    trellis_status status = sum_up(tagger, 0, error);
    if (!status) {
        status = make_rules(tagger, error);
    }
    if (!status) {
        struct tr_found found = tr_tagger_found(tagger);
        status = tr_mark_improbable(tagger->rules, &found, tagger->threshold, tagger->improbable.at,
                                    error);
    }
    if (status) {
        tagger->found = 0;
    }
    return status;
}

/* The labels of a path, in the scheme of the input. */
static trellis_status write_labels(trellis_tagger *tagger, const uint16_t *path,
                                   const trellis_text **ret_labels, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    for (size_t i = 0; i < tagger->length; i++) {
        tagger->labels.at[i] = model->labels[path[i]];
    }
    if (tagger->threshold > 0 && !tagger->ranks) {
        trellis_text none = tr_span_rules_apply(tagger->rules) ? TR_TEXT("O") : TR_TEXT("_");
        for (size_t i = 0; i < tagger->length; i++) {
            tagger->labels.at[i] = tagger->improbable.at[i] ? none : tagger->labels.at[i];
        }
    }
    *ret_labels = tagger->labels.at;
    if (model->inside == TRELLIS_NO_SCHEME || model->outside == TRELLIS_NO_SCHEME) {
        return TRELLIS_OK;
    }
    return trellis_scheme_convert(model->inside, model->outside, tagger->labels.at, tagger->length,
                                  &tagger->storage, ret_labels, error);
}

trellis_status trellis_tagger_tag(trellis_tagger *tagger, const trellis_sequence *sequence,
                                  const trellis_text **ret_labels, trellis_error *error)
{
    *ret_labels = NULL;
    trellis_status status = find(tagger, sequence, 0, error);
    if (!status && tagger->threshold > 0) {
        status = leave_out(tagger, error);
    }
    if (!status) {
        status = write_labels(tagger, tagger->paths.at, ret_labels, error);
    }
    if (status) {
        *ret_labels = NULL;
    }
    return status;
}

double trellis_tagger_score(const trellis_tagger *tagger)
{
    return trellis_tagger_nth_score(tagger, 0);
}

/* ---- the best few -------------------------------------------------------------------------------- */

trellis_status trellis_tagger_nbest(trellis_tagger *tagger, const trellis_sequence *sequence,
                                    size_t n, size_t *ret_count, trellis_error *error)
{
    *ret_count = 0;
    if (n == 0) {
        return tr_fail(error, TRELLIS_OPTION, "at least one labelling must be asked for");
    }
    trellis_status status = find(tagger, sequence, n, error);
    *ret_count = tagger->found;
    return status;
}

const trellis_text *trellis_tagger_nth_labels(trellis_tagger *tagger, size_t rank)
{
    const trellis_text *labels;
    if (rank >= tagger->found ||
        write_labels(tagger, tagger->paths.at + rank * tagger->length, &labels, NULL)) {
        return NULL;
    }
    return labels;
}

double trellis_tagger_nth_score(const trellis_tagger *tagger, size_t rank)
{
    return rank >= tagger->found ? NAN : tagger->impossible ? -INFINITY : tagger->scores.at[rank];
}

/* ---- probabilities ------------------------------------------------------------------------------- */

trellis_status trellis_tagger_log_z(trellis_tagger *tagger, double *ret_log_z, trellis_error *error)
{
    trellis_status status = sum_up(tagger, 0, error);
    *ret_log_z = status ? NAN : tagger->impossible ? -INFINITY : tagger->log_z;
    return status;
}

double trellis_tagger_nth_probability(trellis_tagger *tagger, size_t rank)
{
    if (sum_up(tagger, rank, NULL)) {
        return NAN;
    }
    double probability = exp(tagger->scores.at[rank] - tagger->log_z);
    return probability < 1 ? probability : 1; // log Z was rounded
}

trellis_status trellis_tagger_nth_marginals(trellis_tagger *tagger, size_t rank,
                                            const float **ret_marginals, trellis_error *error)
{
    *ret_marginals = NULL;
    trellis_status status = sum_up(tagger, rank, error);
    if (status) {
        return status;
    }
    if (!tr_reserve(&tagger->marginals, tagger->length + 1)) {
        return tr_fail_memory(error);
    }
    const float *node = tr_lattice_node_marginals(tagger->lattice);
    const uint16_t *path = tagger->paths.at + rank * tagger->length;
    for (size_t i = 0; i < tagger->length; i++) {
        tagger->marginals.at[i] = node[i * tagger->model->graph->width + path[i]];
    }
    *ret_marginals = tagger->marginals.at;
    return TRELLIS_OK;
}

trellis_status trellis_tagger_marginals(trellis_tagger *tagger, const float **ret_marginals,
                                        trellis_error *error)
{
    size_t labels = tagger->model->label_count, size;
    *ret_marginals = NULL;
    trellis_status status = sum_up(tagger, 0, error);
    if (status) {
        return status;
    }
    if (__builtin_mul_overflow(tagger->length, labels, &size) ||
        !tr_reserve(&tagger->marginals, size + 1)) {
        return tr_fail_memory(error);
    }
    const float *node = tr_lattice_node_marginals(tagger->lattice);
    for (size_t i = 0; i < tagger->length; i++) {
        memcpy(tagger->marginals.at + i * labels, node + i * tagger->model->graph->width,
               labels * sizeof *node);
    }
    *ret_marginals = tagger->marginals.at;
    return TRELLIS_OK;
}

trellis_status trellis_tagger_nth_span_probability(trellis_tagger *tagger, size_t rank,
                                                   size_t begin, size_t end,
                                                   double *ret_probability, trellis_error *error)
{
    *ret_probability = NAN;
    trellis_status status = sum_up(tagger, rank, error);
    if (!status && (begin >= end || end > tagger->length)) {
        status = tr_fail(error, TRELLIS_DATA, "there are no tokens %zu to %zu in a sequence of %zu",
                         begin + 1, end, tagger->length);
    }
    if (!status) {
        status = make_rules(tagger, error);
    }
    if (!status) {
        struct tr_found found = tr_tagger_found(tagger);
        status = tr_span_probability(tagger->rules, &found,
                                     tagger->paths.at + rank * tagger->length, begin, end,
                                     ret_probability, error);
    }
    return status;
}

trellis_status trellis_tagger_log_probability(trellis_tagger *tagger, const trellis_text *labels,
                                              double *ret_log_probability, trellis_error *error)
{
    const trellis_model *model = tagger->model;
    *ret_log_probability = NAN;
    trellis_status status = sum_up(tagger, 0, error);
    if (!status && model->inside != TRELLIS_NO_SCHEME && model->outside != TRELLIS_NO_SCHEME) {
        status = trellis_scheme_convert(model->outside, model->inside, labels, tagger->length,
                                        &tagger->storage, &labels, error);
    }
    if (!status && (!list_names(tagger) || !tr_reserve(&tagger->asked, tagger->length + 1))) {
        status = tr_fail_memory(error);
    }
    if (status) {
        return status;
    }
    for (size_t i = 0; i < tagger->length; i++) {
        uint32_t label = tr_intern_find(&tagger->names, labels[i]);
        if (label >= model->label_count) {
            *ret_log_probability = -INFINITY;
            return TRELLIS_OK;
        }
        tagger->asked.at[i] = (uint16_t)label;
    }
    double score = tr_lattice_path_score(tagger->lattice, steps_in_use(tagger), tagger->asked.at);
    *ret_log_probability = fmin(0, score - tagger->log_z);
    return TRELLIS_OK;
}

/* ---- words --------------------------------------------------------------------------------------- */

trellis_status trellis_tagger_known(trellis_tagger *tagger, const trellis_words *words,
                                    const trellis_sequence *sequence, const bool **ret_known,
                                    trellis_error *error)
{
    const trellis_model *model = tagger->model;
    size_t column = tagger->word_column;
    *ret_known = NULL;
    if ((!words && !model->word_count) || column >= sequence->columns) {
        return TRELLIS_OK;
    }
    if (!tr_reserve(&tagger->known, sequence->length + 1)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + column];
        tagger->known.at[i] = words ? tr_words_has(words, word)
                                    : tr_words_find(model->words, model->word_count, word);
    }
    *ret_known = tagger->known.at;
    return TRELLIS_OK;
}

/* ---- for the other files of this folder ----------------------------------------------------------- */

struct tr_found tr_tagger_found(trellis_tagger *tagger)
{
    return (struct tr_found){tagger->model,
                             tagger->lattice,
                             steps_in_use(tagger),
                             tagger->graph ? tagger->graph : tagger->model->graph,
                             tagger->found ? tagger->paths.at : NULL,
                             tagger->length,
                             tagger->log_z};
}

trellis_status tr_tagger_sum_up(trellis_tagger *tagger, trellis_error *error)
{
    return sum_up(tagger, 0, error);
}

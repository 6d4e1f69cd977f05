/* foreign_outputs.h - compares the answers of a model with what CRFsuite, CRF++ or Wapiti printed
 * for it.
 *
 * CRFsuite (-p -l): "@score SCORE", "@probability PROBABILITY", for each token its label and
 * LABEL:MARGINAL of every label, separated by tabs, and a blank line.
 *
 * CRF++ (-v2 -n N): for each path "# RANK PROBABILITY", for each token its columns, LABEL/MARGINAL
 * of the path and LABEL/MARGINAL of every label, separated by tabs, and a blank line. Wapiti (-s -n
 * N): for each path "# RANK SCORE", for each token its line, the label and LABEL/VALUE. The score
 * is that of the path; for an MEMM it is its probability. With -p the values are marginals. Both
 * without options: for each token its line and the label; blank lines are passed over.
 */
#ifndef TRELLIS_TESTS_FOREIGN_OUTPUTS_H
#define TRELLIS_TESTS_FOREIGN_OUTPUTS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trellis.h"

enum output_kind {
    CRFSUITE_MARGINALS,
    CRFPP_MARGINALS,
    WAPITI_SCORES,
    WAPITI_PROBABILITIES,
    WAPITI_POSTERIORS,
    LABELS_ONLY
};

struct comparison {
    enum output_kind kind;
    FILE *output;
    size_t paths; // for each sequence
    char *line;
    size_t room;
    /* What was found. */
    size_t tokens, labels_differ;        // of the first path, without ties where scores are known
    size_t paths_compared, paths_differ; // other labels although the scores are not equal
    size_t ties, first_ties; // other labels with an equal score; those of the first path
    double marginal;         // the largest difference
    double score;            // the largest difference, relative to max(1, theirs)
    double probability;      // of a sequence: the largest difference, where both are printed
    bool broken;
};

static bool next_output_line(struct comparison *c)
{
    ssize_t size = getline(&c->line, &c->room, c->output);
    if (size > 0 && c->line[size - 1] == '\n') {
        c->line[size - 1] = '\0';
    }
    return size > 0;
}

/* Cuts off the last field; the line keeps what stands before it. */
static char *last_field(struct comparison *c)
{
    char *tab = strrchr(c->line, '\t');
    if (!tab) {
        c->broken = true;
        return c->line;
    }
    *tab = '\0';
    return tab + 1;
}

/* LABEL/VALUE, or LABEL:VALUE: the value, and the label cut off before it. */
static double split_value(struct comparison *c, char *field)
{
    char *slash = strrchr(field, c->kind == CRFSUITE_MARGINALS ? ':' : '/');
    if (!slash) {
        c->broken = true;
        return 0;
    }
    *slash = '\0';
    return atof(slash + 1);
}

static bool same_text(trellis_text text, const char *other)
{
    return text.size == strlen(other) && memcmp(text.data, other, text.size) == 0;
}

static void note_largest(double *largest, double difference)
{
    if (!(fabs(difference) <= *largest)) { // NaN counts
        *largest = fabs(difference);
    }
}

/* The marginals of all labels, and what comes before them: the label of the path. */
static char *compare_marginals(struct comparison *c, const float *marginals, size_t labels)
{
    for (size_t j = labels; j-- > 0 && !c->broken;) {
        double theirs = split_value(c, last_field(c));
        note_largest(&c->marginal, (double)marginals[j] - theirs);
    }
    if (c->kind == CRFSUITE_MARGINALS) {
        return c->line;
    }
    char *field = last_field(c);
    split_value(c, field);
    return field;
}

/* One token of a path; whether the label is the same. */
static bool compare_token(struct comparison *c, trellis_text label, const float *marginals,
                          size_t labels, float of_path)
{
    bool any = next_output_line(c);
    while (any && c->kind == LABELS_ONLY && !c->line[0]) {
        any = next_output_line(c); // Wapiti may end a sequence behind each token
    }
    if (!any) {
        c->broken = true;
        return false;
    }
    if (c->kind == CRFPP_MARGINALS || c->kind == CRFSUITE_MARGINALS) {
        return same_text(label, compare_marginals(c, marginals, labels));
    }
    char *field = last_field(c);
    double value = c->kind == LABELS_ONLY ? 0 : split_value(c, field);
    bool same = same_text(label, field);
    if (c->kind == WAPITI_POSTERIORS && same) {
        note_largest(&c->marginal, (double)of_path - value);
    }
    return same;
}

/* What stands before the tokens of a path: its score, or its probability where that is all. */
static double read_score(struct comparison *c, double probability)
{
    double theirs = 0, chance = 0;
    if (c->kind == CRFSUITE_MARGINALS) {
        c->broken = !next_output_line(c) || sscanf(c->line, "@score %lf", &theirs) != 1 ||
                    !next_output_line(c) || sscanf(c->line, "@probability %lf", &chance) != 1;
        note_largest(&c->probability, probability - chance);
    } else if (!next_output_line(c) || sscanf(c->line, "# %*u %lf", &theirs) != 1) {
        c->broken = true;
    }
    return theirs;
}

static void compare_path(struct comparison *c, trellis_tagger *tagger, size_t rank,
                         const trellis_sequence *sequence, const float *marginals, size_t labels)
{
    const trellis_text *ours = trellis_tagger_nth_labels(tagger, rank);
    const int32_t *numbers = trellis_tagger_nth_numbers(tagger, rank);
    double probability = trellis_tagger_nth_probability(tagger, rank);
    bool by_score = c->kind == WAPITI_SCORES || c->kind == CRFSUITE_MARGINALS;
    double score = by_score ? trellis_tagger_nth_score(tagger, rank) : probability;
    size_t differ = 0;
    double theirs = c->kind == LABELS_ONLY ? score : read_score(c, probability);
    for (size_t i = 0; i < sequence->length && !c->broken; i++) {
        const float *row = marginals + i * labels;
        trellis_text label = ours ? ours[i] : (trellis_text){"", 0};
        float of_path = numbers && c->kind != WAPITI_SCORES ? row[numbers[i]] : 0;
        differ += !compare_token(c, label, row, labels, of_path);
    }
    c->broken = c->broken || (c->kind != LABELS_ONLY && (!next_output_line(c) || c->line[0]));
    if (!ours) {
        return; // Wapiti prints as many paths as were asked for, whether they exist or not
    }
    double gap = (score - theirs) / fmax(1, fabs(theirs));
    bool tie = c->kind != LABELS_ONLY && fabs(gap) <= 2e-6;
    if (rank == 0) {
        c->tokens += sequence->length;
        c->labels_differ += tie ? 0 : differ;
    }
    c->paths_compared++;
    c->paths_differ += differ && !tie;
    c->ties += differ && tie;
    c->first_ties += differ && tie && rank == 0;
    if (c->kind != WAPITI_POSTERIORS) { // there it is the product of the marginals
        note_largest(&c->score, gap);
    }
}

/* Tags the sequences of a file and compares all paths. */
static trellis_status compare_file(const trellis_model *model, const char *data,
                                   struct comparison *c, trellis_error *error)
{
    trellis_options *options = NULL;
    trellis_tagger *tagger = NULL;
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    size_t labels = trellis_model_label_count(model);
    trellis_status status = trellis_options_create(&options, error);
    if (!status) {
        status = trellis_options_set(options, "invalid-utf8", "keep", error);
    }
    if (!status && c->kind == WAPITI_POSTERIORS) {
        status = trellis_options_set(options, "decode", "posterior", error);
    }
    if (!status && c->kind == CRFSUITE_MARGINALS) {
        status = trellis_options_set(options, "format", "crfsuite", error);
    }
    if (!status) {
        status = trellis_tagger_create(model, options, &tagger, error);
    }
    if (!status) {
        status = trellis_reader_open(data, options, &reader, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        const float *marginals = NULL;
        const trellis_text *predicted;
        size_t found = 0;
        status = trellis_tagger_bind(tagger, reader, error);
        if (!status) {
            status = c->paths > 1 ? trellis_tagger_nbest(tagger, sequence, c->paths, &found, error)
                                  : trellis_tagger_tag(tagger, sequence, &predicted, error);
        }
        if (!status) {
            status = trellis_tagger_marginals(tagger, &marginals, error);
        }
        for (size_t rank = 0; !status && rank < c->paths && !c->broken; rank++) {
            if (c->kind == CRFPP_MARGINALS && rank >= found && c->paths > 1) {
                break;
            }
            compare_path(c, tagger, rank, sequence, marginals, labels);
        }
    }
    trellis_reader_close(reader);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(options);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* Compares with a file of outputs; the counts are in *c. */
static trellis_status compare_outputs(const trellis_model *model, const char *data,
                                      const char *output, struct comparison *c,
                                      trellis_error *error)
{
    c->output = fopen(output, "r");
    c->broken = !c->output;
    trellis_status status = c->output ? compare_file(model, data, c, error) : TRELLIS_OK;
    while (c->kind == LABELS_ONLY && !status && !c->broken && next_output_line(c)) {
        c->broken = c->line[0];
    }
    c->broken = c->broken || (!status && fgetc(c->output) != EOF);
    if (c->output) {
        fclose(c->output);
    }
    free(c->line);
    c->line = NULL;
    return status;
}

#endif

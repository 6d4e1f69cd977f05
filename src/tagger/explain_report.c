/* explain_report.c - reports explanations as text or JSON. */
#include <math.h>

#include "corpus/corpus.h"
#include "tagger/explain.h"

/* The word of a token, for people. */
static trellis_text word_of(const trellis_sequence *sequence, size_t token)
{
    return sequence->columns ? sequence->cells[token * sequence->columns] : TR_TEXT("");
}

/* ---- for a person ---------------------------------------------------------------------------- */

static void text_contribution(const trellis_sequence *sequence, const trellis_contribution *c,
                              size_t token, struct tr_buffer *out)
{
    tr_buffer_format(out, "  %9.4f %9.4f %+9.4f  ", c->predicted, c->runner_up,
                     c->predicted - c->runner_up);
    if (c->label_count) {
        tr_buffer_string(out, "transition");
        for (size_t k = 0; k < c->label_count; k++) {
            tr_buffer_char(out, ' ');
            tr_buffer_shown(out, c->labels[k]);
        }
    } else {
        tr_buffer_shown(out, c->attribute);
    }
    if (c->position == sequence->length) {
        tr_buffer_string(out, "  (at the end)");
    } else if (c->position != token) {
        tr_buffer_format(out, "  (at token %zu, ", c->position + 1);
        tr_buffer_shown(out, word_of(sequence, c->position));
        tr_buffer_char(out, ')');
    }
    tr_buffer_char(out, '\n');
}

/* The sums of the contributions that are not listed. */
static void text_rest(const trellis_explanation *explanation, size_t top, struct tr_buffer *out)
{
    double predicted = 0, runner_up = 0;
    for (size_t k = top; k < explanation->contribution_count; k++) {
        predicted += explanation->contributions[k].predicted;
        runner_up += explanation->contributions[k].runner_up;
    }
    if (top < explanation->contribution_count) {
        tr_buffer_format(out, "  %9.4f %9.4f %+9.4f  %zu more\n", predicted, runner_up,
                         predicted - runner_up, explanation->contribution_count - top);
    }
}

static void text_explanation(const trellis_sequence *sequence,
                             const trellis_explanation *explanation, size_t token, size_t top,
                             struct tr_buffer *out)
{
    tr_buffer_format(out, "%zu ", token + 1);
    tr_buffer_shown(out, word_of(sequence, token));
    tr_buffer_string(out, ": ");
    tr_buffer_shown(out, explanation->predicted);
    if (isfinite(explanation->predicted_probability)) {
        tr_buffer_format(out, " (%.4f)", explanation->predicted_probability);
    }
    if (!explanation->runner_up_labels) {
        tr_buffer_string(out, ", no other label is possible\n\n");
        return;
    }
    tr_buffer_string(out, ", runner-up ");
    tr_buffer_shown(out, explanation->runner_up);
    if (isfinite(explanation->runner_up_probability)) {
        tr_buffer_format(out, " (%.4f)", explanation->runner_up_probability);
    }
    tr_buffer_format(out, ", margin %.4f\n  %9s %9s %9s\n", explanation->margin, "score",
                     "runner-up", "margin");
    for (size_t k = 0; k < top && k < explanation->contribution_count; k++) {
        text_contribution(sequence, &explanation->contributions[k], token, out);
    }
    text_rest(explanation, top, out);
    tr_buffer_string(out, "  runner-up labelling:");
    for (size_t i = 0; i < sequence->length; i++) {
        tr_buffer_char(out, ' ');
        tr_buffer_shown(out, explanation->runner_up_labels[i]);
    }
    tr_buffer_string(out, "\n\n");
}

/* ---- for a program --------------------------------------------------------------------------- */

static void json_contribution(const trellis_contribution *c, struct tr_buffer *out)
{
    tr_buffer_format(out, "{\"token\":%zu,", c->position + 1);
    if (c->label_count) {
        tr_buffer_string(out, "\"transition\":[");
        for (size_t k = 0; k < c->label_count; k++) {
            tr_buffer_string(out, k ? "," : "");
            tr_buffer_json(out, c->labels[k]);
        }
        tr_buffer_char(out, ']');
    } else {
        tr_buffer_string(out, "\"attribute\":");
        tr_buffer_json(out, c->attribute);
    }
    tr_buffer_string(out, ",\"predicted\":");
    tr_buffer_real(out, c->predicted);
    tr_buffer_string(out, ",\"runner_up\":");
    tr_buffer_real(out, c->runner_up);
    tr_buffer_char(out, '}');
}

static void json_explanation(const trellis_sequence *sequence,
                             const trellis_explanation *explanation, size_t token, size_t top,
                             struct tr_buffer *out)
{
    tr_buffer_string(out, token ? ",{\"word\":" : "{\"word\":");
    tr_buffer_json(out, word_of(sequence, token));
    tr_buffer_string(out, ",\"label\":");
    tr_buffer_json(out, explanation->predicted);
    tr_buffer_string(out, ",\"probability\":");
    tr_buffer_real(out, explanation->predicted_probability);
    if (explanation->runner_up_labels) {
        tr_buffer_string(out, ",\"runner_up\":");
        tr_buffer_json(out, explanation->runner_up);
        tr_buffer_string(out, ",\"runner_up_probability\":");
        tr_buffer_real(out, explanation->runner_up_probability);
        tr_buffer_string(out, ",\"margin\":");
        tr_buffer_real(out, explanation->margin);
        tr_buffer_string(out, ",\"runner_up_labels\":[");
        for (size_t i = 0; i < sequence->length; i++) {
            tr_buffer_string(out, i ? "," : "");
            tr_buffer_json(out, explanation->runner_up_labels[i]);
        }
        tr_buffer_string(out, "],\"contributions\":[");
        for (size_t k = 0; k < top && k < explanation->contribution_count; k++) {
            tr_buffer_string(out, k ? "," : "");
            json_contribution(&explanation->contributions[k], out);
        }
        tr_buffer_format(
            out, "],\"omitted\":%zu",
            explanation->contribution_count > top ? explanation->contribution_count - top : 0);
    }
    tr_buffer_char(out, '}');
}

trellis_status trellis_explainer_report(const trellis_explainer *explainer,
                                        const trellis_sequence *given, size_t top, bool json,
                                        trellis_sink sink, void *user, trellis_error *error)
{
    if (!explainer || !given || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct tr_buffer out = {0};
    trellis_sequence sequence;
    trellis_status status = tr_sequence_take(given, &sequence, error);
    if (!status && explainer->length != sequence.length) {
        status = tr_fail(error, TRELLIS_DATA,
                         "this sequence is not the one that was explained last");
    }
    if (status) {
        return status;
    }
    if (json) {
        tr_buffer_string(&out, "{\"score\":");
        tr_buffer_real(&out, trellis_tagger_score(explainer->tagger));
        tr_buffer_string(&out, ",\"tokens\":[");
    }
    for (size_t i = 0; i < sequence.length; i++) {
        (json ? json_explanation : text_explanation)(&sequence, &explainer->explanations.at[i], i,
                                                     top, &out);
    }
    if (json) {
        tr_buffer_string(&out, "]}\n");
    }
    status = tr_buffer_flush(&out, sink, user, error);
    tr_buffer_free(&out);
    return status;
}

/* picture.c - the trellis of one short sequence as SVG.
 *
 * A column for each token between the start and the end, a row for each label. The shade of a state
 * and the width of a transition are their probabilities; the best path lies on top with its
 * scores. */
#include <math.h>

#include "base/utf8.h"
#include "corpus/corpus.h"
#include "graph/path.h"
#include "report/markup.h"
#include "report_files.h"
#include "tagger/tagger.h"

enum {
    MAX_TOKENS = 60,
    RADIUS = 16,
    ROW = 58,        // from one label to the next
    HEAD = 54,       // above the first row
    FOOT = 58,       // below the last
    LETTER = 9,      // about the width of one
    NARROWEST = 104, // column
    MARGIN = 20,
    ARCS = 48, // above the words, where there are segments
};
#define THIN 0.002 // less probable transitions are drawn only on the best path

struct picture {
    const trellis_model *model;
    const trellis_sequence *sequence;
    struct tr_tagging_result result;
    const float *node, *edge; // probabilities
    const uint16_t *path;
    uint32_t *states; // [length] of the path
    bool exact;       // the probabilities are those of the model
    double score, log_z;
    struct tr_buffer out;

    uint16_t *rows; // [row_count] labels
    size_t row_count;
    double *x; // [length + 2] the start, the tokens, the end
    double left, width, height;
    double top; // where the picture begins: above 0 where there are arcs of segments
};

static double y_of(size_t row)
{
    return HEAD + ROW * ((double)row + 0.5);
}

static double middle(const struct picture *p)
{
    return HEAD + ROW * (double)p->row_count / 2;
}

static double node_marginal(const struct picture *p, size_t token, uint16_t label)
{
    return (double)p->node[token * p->result.graph->width + label];
}

static double edge_marginal(const struct picture *p, size_t token, uint16_t from, uint16_t to)
{
    size_t width = p->result.graph->width, labels = p->result.graph->labels;
    return (double)p->edge[(token * labels + from) * width + to];
}

static trellis_text word_of(const struct picture *p, size_t token)
{
    const trellis_sequence *sequence = p->sequence;
    return sequence->columns ? sequence->cells[token * sequence->columns] : TR_TEXT("");
}

/* ---- scores ---------------------------------------------------------------------------------- */

static double step_score(const struct picture *p, uint32_t from, uint32_t to)
{
    uint32_t features[TR_MAX_ORDER + 1];
    size_t count = tr_path_features(p->model->graph, from, to, features);
    double score = 0;
    for (size_t k = 0; k < count; k++) {
        score += (double)p->model->step_weights[features[k]];
    }
    return score;
}

/* The score of the transition into a token of the best path, with the edge features there. */
static double path_step(const struct picture *p, size_t token)
{
    size_t n = p->sequence->length;
    uint32_t from = token ? p->states[token - 1] : TR_NO_STATE;
    double score = step_score(p, from, token < n ? p->states[token] : TR_NO_STATE);
    const float *edges = token && token < n ? tr_lattice_edges_of(p->result.lattice, token) : NULL;
    return edges
               ? score + (double)edges[p->path[token - 1] * p->result.graph->width + p->path[token]]
               : score;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* The labels that get a row: those of the best path and the `max_labels` most probable ones. */
static void choose_rows(struct picture *p, size_t max_labels)
{
    uint32_t labels = p->model->label_count;
    for (uint32_t label = 0; label < labels; label++) {
        double best = 0;
        bool on_path = false;
        for (size_t i = 0; i < p->sequence->length; i++) {
            best = fmax(best, node_marginal(p, i, (uint16_t)label));
            on_path = on_path || p->path[i] == label;
        }
        size_t better = 0;
        for (uint32_t other = 0; other < labels && !on_path; other++) {
            double probability = 0;
            for (size_t i = 0; i < p->sequence->length; i++) {
                probability = fmax(probability, node_marginal(p, i, (uint16_t)other));
            }
            better += probability > best || (probability == best && other < label);
        }
        if (on_path || better < max_labels) {
            p->rows[p->row_count++] = (uint16_t)label;
        }
    }
}

static void lay_out(struct picture *p)
{
    size_t n = p->sequence->length, longest = 0;
    for (size_t r = 0; r < p->row_count; r++) {
        size_t size = tr_utf8_length(p->model->labels[p->rows[r]]);
        longest = size > longest ? size : longest;
    }
    p->left = MARGIN + LETTER * (double)longest + 10;
    p->x[0] = p->left + 14;
    double right = p->x[0] + 14;
    for (size_t i = 0; i < n; i++) {
        double column = LETTER * (double)tr_utf8_length(word_of(p, i)) + 24;
        column = column < NARROWEST ? NARROWEST : column;
        p->x[i + 1] = right + column / 2 + (i ? 0 : 16);
        right = p->x[i + 1] + column / 2;
    }
    p->x[n + 1] = right + 20;
    p->width = fmax(p->x[n + 1] + MARGIN, 420);
    p->height = HEAD + ROW * (double)p->row_count + FOOT;
    p->top = p->model->segments ? -ARCS : 0;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void put_title(struct picture *p, const char *kind, trellis_text a, trellis_text b,
                      double score, double probability)
{
    struct tr_buffer *out = &p->out;
    tr_buffer_string(out, "<title>");
    tr_markup_text(out, a);
    tr_buffer_string(out, kind);
    tr_markup_text(out, b);
    if (isfinite(score)) {
        tr_buffer_format(out, ": score %.4f", score);
    } else if (isinf(score)) {
        tr_buffer_string(out, ": impossible");
    }
    if (isfinite(probability)) {
        tr_buffer_format(out, ", probability %.4f", probability);
    }
    tr_buffer_string(out, "</title>");
}

static void put_edge(struct picture *p, const double from[2], const double to[2],
                     double probability, bool best)
{
    tr_buffer_format(&p->out,
                     "<path class=\"edge%s\" d=\"M%.1f %.1fL%.1f %.1f\" stroke-width=\"%.2f\" "
                     "stroke-opacity=\"%.2f\">",
                     best ? " best" : "", from[0], from[1], to[0], to[1],
                     best ? 1.5 + 3 * probability : 0.6 + 6 * probability,
                     best ? 1.0 : 0.4 + 0.4 * probability);
}

/* The transitions between two columns: those off the best path, or only the one on it. */
static void put_edges(struct picture *p, size_t token, bool best)
{
    bool first_order = p->result.graph->first_order;
    for (size_t r = 0; r < p->row_count; r++) {
        for (size_t s = 0; s < p->row_count; s++) {
            uint16_t from = p->rows[r], to = p->rows[s];
            bool on_path = p->path[token - 1] == from && p->path[token] == to;
            double probability = edge_marginal(p, token, from, to);
            if (on_path != best || (!best && probability < THIN)) {
                continue;
            }
            double score = best ? path_step(p, token) : first_order ? step_score(p, from, to) : NAN;
            put_edge(p, (double[]){p->x[token], y_of(r)}, (double[]){p->x[token + 1], y_of(s)},
                     probability, best);
            put_title(p, " \xE2\x86\x92 ", p->model->labels[from], p->model->labels[to], score,
                      probability);
            tr_buffer_string(&p->out, "</path>");
        }
    }
}

/* The transitions out of the start and into the end. */
static void put_ends(struct picture *p, bool best)
{
    size_t n = p->sequence->length;
    for (size_t r = 0; r < p->row_count; r++) {
        for (int end = 0; end < 2; end++) {
            size_t token = end ? n - 1 : 0;
            bool on_path = p->path[token] == p->rows[r];
            double probability = node_marginal(p, token, p->rows[r]);
            if (on_path != best || (!best && probability < THIN)) {
                continue;
            }
            double score = best ? path_step(p, end ? n : 0) : NAN;
            put_edge(p, (double[]){p->x[end ? n : 0], end ? y_of(r) : middle(p)},
                     (double[]){p->x[end ? n + 1 : 1], end ? middle(p) : y_of(r)}, probability,
                     best);
            trellis_text name = p->model->labels[p->rows[r]];
            put_title(p, " \xE2\x86\x92 ", end ? name : TR_TEXT("start"),
                      end ? TR_TEXT("end") : name, score, probability);
            tr_buffer_string(&p->out, "</path>");
        }
    }
}

static void put_state(struct picture *p, size_t token, size_t row)
{
    struct tr_buffer *out = &p->out;
    uint16_t label = p->rows[row];
    double x = p->x[token + 1], y = y_of(row), probability = node_marginal(p, token, label);
    double score = (double)tr_lattice_nodes(
        p->result.lattice)[token * p->result.graph->width + label];
    tr_buffer_string(out, "<g>");
    put_title(p, ": ", word_of(p, token), p->model->labels[label], score, probability);
    tr_buffer_format(out, "<circle class=\"state\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>", x, y,
                     RADIUS);
    if (probability > 0.005) {
        tr_buffer_format(out,
                         "<circle class=\"shade\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" "
                         "fill-opacity=\"%.3f\"/>",
                         x, y, RADIUS, probability);
        tr_buffer_format(out, "<text class=\"inside%s\" x=\"%.1f\" y=\"%.1f\">%.2f</text>",
                         probability > 0.55 ? " dark" : "", x, y, probability);
    }
    if (p->path[token] == label) {
        tr_buffer_format(out, "<circle class=\"best\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>", x, y,
                         RADIUS + 1);
    }
    if (isfinite(score)) {
        tr_buffer_format(out, "<text class=\"score\" x=\"%.1f\" y=\"%.1f\">%.2f</text>", x,
                         y + RADIUS + 13, score);
    }
    tr_buffer_string(out, "</g>\n");
}

static size_t row_of(const struct picture *p, uint16_t label)
{
    size_t row = 0;
    while (row + 1 < p->row_count && p->rows[row] != label) {
        row++;
    }
    return row;
}

/* The scores of the transitions on the best path, each in the middle of its line. */
static void put_step_scores(struct picture *p)
{
    size_t n = p->sequence->length;
    for (size_t i = 0; i <= n; i++) {
        double from = i ? y_of(row_of(p, p->path[i - 1])) : middle(p);
        double to = i < n ? y_of(row_of(p, p->path[i])) : middle(p);
        double score = path_step(p, i);
        if (score != 0) {
            tr_buffer_format(&p->out,
                             "<text class=\"transitionscore\" x=\"%.1f\" y=\"%.1f\">%+.2f</text>\n",
                             (p->x[i] + p->x[i + 1]) / 2, (from + to) / 2 - 4, score);
        }
    }
}

static void put_caption(struct picture *p)
{
    struct tr_buffer *out = &p->out;
    tr_buffer_format(out, "<text class=\"caption\" x=\"%d\" y=\"%.1f\">", MARGIN, p->height - 30);
    tr_buffer_format(out, "Best path: score %.4f, probability %.4f; log Z %.4f.", p->score,
                     fmin(1, exp(p->score - p->log_z)), p->log_z);
    if (!p->exact) {
        tr_buffer_string(out, " The model itself has no probabilities.");
    }
    tr_buffer_format(out, "</text>\n<text class=\"caption\" x=\"%d\" y=\"%.1f\">", MARGIN,
                     p->height - 12);
    tr_buffer_string(out, "In each state: its probability; below: its score.");
    if (p->row_count < p->model->label_count) {
        tr_buffer_format(out, " %zu of %u labels are shown.", p->row_count, p->model->label_count);
    }
    tr_buffer_string(out, "</text>\n");
}

static void put_head(struct picture *p)
{
    struct tr_buffer *out = &p->out;
    size_t n = p->sequence->length;
    tr_buffer_format(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 %.0f %.0f %.0f\" "
                     "width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-labelledby=\"t d\">\n",
                     p->top, p->width, p->height - p->top, p->width, p->height - p->top);
    tr_buffer_string(out, "<title id=\"t\">Trellis of:");
    for (size_t i = 0; i < n; i++) {
        tr_buffer_char(out, ' ');
        tr_markup_text(out, word_of(p, i));
    }
    tr_buffer_string(out, "</title>\n<desc id=\"d\">Best path:");
    for (size_t i = 0; i < n; i++) {
        tr_buffer_char(out, ' ');
        tr_markup_text(out, p->model->labels[p->path[i]]);
    }
    tr_buffer_string(out, "</desc>\n<style>\n");
    tr_buffer_string(out, (const char *)tr_picture_css);
    tr_buffer_format(out,
                     "</style>\n<rect class=\"paper\" y=\"%.0f\" width=\"%.0f\" "
                     "height=\"%.0f\"/>\n",
                     p->top, p->width, p->height - p->top);
    for (size_t i = 0; i < n; i++) {
        tr_buffer_format(out, "<text class=\"word\" x=\"%.1f\" y=\"32\">", p->x[i + 1]);
        tr_markup_text(out, word_of(p, i));
        tr_buffer_string(out, "</text>\n");
    }
    for (size_t r = 0; r < p->row_count; r++) {
        tr_buffer_format(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", p->left - 8, y_of(r));
        tr_markup_text(out, p->model->labels[p->rows[r]]);
        tr_buffer_string(out, "</text>\n");
    }
}

/* The segments of the best path as arcs over their words, with their scores. */
static void put_segments(struct picture *p)
{
    const struct tr_segments *segments = p->model->segments;
    const float *scores = tr_lattice_segments(p->result.lattice);
    size_t n = p->sequence->length;
    for (size_t at = 0; segments && at < n;) {
        struct tr_segment found = tr_segment_at(segments, p->path, n, at);
        size_t d = found.end - found.begin;
        at = found.end;
        if (found.type == TR_NO_LABEL) {
            continue;
        }
        const struct tr_segment_type *type = &segments->type[found.type];
        double from = p->x[found.begin + 1] - 22, to = p->x[found.end] + 22;
        char letter;
        trellis_text name;
        tr_label_split(p->model->labels[type->head], &letter, &name);
        tr_buffer_format(&p->out,
                         "<path class=\"segment\" d=\"M%.1f 12 Q%.1f %d %.1f 12\"/>\n"
                         "<text class=\"segmentscore\" x=\"%.1f\" y=\"%d\">",
                         from, (from + to) / 2, -ARCS, to, (from + to) / 2, -ARCS / 2 + 2);
        tr_markup_text(&p->out, name);
        if (scores && d <= type->max_length) {
            size_t row = (found.end - 1) * segments->max_length + d - 1;
            tr_buffer_format(&p->out, " %+.2f",
                             (double)scores[row * p->result.graph->width + type->head]);
        }
        tr_buffer_string(&p->out, "</text>\n");
    }
}

static void draw(struct picture *p)
{
    size_t n = p->sequence->length;
    put_head(p);
    put_segments(p);
    for (int best = 0; best < 2; best++) {
        put_ends(p, best);
        for (size_t i = 1; i < n; i++) {
            put_edges(p, i, best);
        }
        tr_buffer_char(&p->out, '\n');
    }
    for (size_t end = 0; end <= n + 1; end += n + 1) {
        tr_buffer_format(&p->out, "<circle class=\"end\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n",
                         p->x[end], middle(p));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < p->row_count; r++) {
            put_state(p, i, r);
        }
    }
    put_step_scores(p);
    put_caption(p);
    tr_buffer_string(&p->out, "</svg>\n");
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Probabilities are those of exp(score), whatever the model. */
static trellis_status sum_up(struct picture *p, trellis_error *error)
{
    trellis_status status = tr_lattice_forward_backward(p->result.lattice, p->result.steps,
                                                        &p->log_z, error);
    if (!status) {
        p->node = tr_lattice_node_marginals(p->result.lattice);
        p->edge = tr_lattice_edge_marginals(p->result.lattice, p->result.steps);
    }
    return status ? status : p->node && p->edge ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status trellis_draw(trellis_tagger *tagger, const trellis_sequence *given,
                            size_t max_labels, trellis_sink sink, void *user, trellis_error *error)
{
    if (!tagger || !given || !sink) {
        return tr_fail_null(error, __func__);
    }
    const trellis_text *labels;
    trellis_sequence sequence;
    trellis_status status = tr_sequence_take(given, &sequence, error);
    size_t n = sequence.length;
    if (!status && (n == 0 || n > MAX_TOKENS)) {
        status = tr_fail(error, TRELLIS_LIMIT,
                         "a sequence of 1 to %d tokens can be drawn, not of %zu", MAX_TOKENS, n);
    }
    if (!status) {
        status = trellis_tagger_tag(tagger, &sequence, &labels, error);
    }
    if (status) {
        return status;
    }
    struct picture p = {.sequence = &sequence, .result = tr_tagger_result(tagger)};
    p.model = p.result.model;
    p.path = p.result.path;
    p.score = trellis_tagger_score(tagger);
    p.exact = tr_tagger_compute_marginals(tagger, 0, NULL) == TRELLIS_OK;
    p.rows = tr_alloc(p.model->label_count, sizeof *p.rows);
    p.states = tr_alloc(n, sizeof *p.states);
    p.x = tr_alloc(n + 2, sizeof *p.x);
    status = p.rows && p.states && p.x ? sum_up(&p, error) : tr_fail_memory(error);
    if (!status) {
        for (size_t i = 0; i < n; i++) {
            p.states[i] = tr_graph_next(p.result.graph, i ? p.states[i - 1] : TR_NO_STATE,
                                        p.path[i]);
        }
        choose_rows(&p, max_labels);
        lay_out(&p);
        draw(&p);
        status = tr_buffer_flush(&p.out, sink, user, error);
    }
    free(p.rows);
    free(p.states);
    free(p.x);
    tr_buffer_free(&p.out);
    return status;
}

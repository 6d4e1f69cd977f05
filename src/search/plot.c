/* plot.c - the trials of a search as SVG: a panel for each option, scores over values.
 *
 * Trials with the full budget are filled dots, those eliminated early are hollow, the best is red;
 * each has a title with its settings.
 */
#include <math.h>

#include "search/search.h"

enum { PANEL = 320, HEIGHT = 240, LEFT = 60, RIGHT = 20, TOP = 36, BOTTOM = 44, ACROSS = 3 };

/* One panel: where a value and a score are. */
struct frame {
    double x, y;            // of its corner
    double lowest, highest; // scores
    bool numeric, logarithmic;
    double low, high; // values, or indices where they are not numbers
    TR_ARRAY(const char *) names;
};

static void escape(struct tr_buffer *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity) {
            tr_buffer_string(out, entity);
        } else {
            tr_buffer_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
        }
    }
}

/* The position of a value: its number, or its index among the names. */
static double position(struct frame *frame, const char *value)
{
    double number = 0;
    if (frame->numeric) {
        tr_text_real(tr_text(value), &number);
        return frame->logarithmic ? log(number) : number;
    }
    for (size_t i = 0; i < frame->names.size; i++) {
        if (strcmp(frame->names.at[i], value) == 0) {
            return (double)i;
        }
    }
    return 0;
}

static bool is_new(const struct frame *frame, const char *value)
{
    for (size_t i = 0; i < frame->names.size; i++) {
        if (strcmp(frame->names.at[i], value) == 0) {
            return false;
        }
    }
    return true;
}

/* Whether all values are numbers, and their range. */
static bool set_scale(struct frame *frame, const trellis_search *search, size_t axis)
{
    double low = INFINITY, high = -INFINITY;
    bool ok = true;
    frame->numeric = true;
    for (size_t i = 0; ok && i < search->trials.size; i++) {
        const char *value = search->trials.at[i].values[axis];
        double number;
        if (is_new(frame, value)) {
            ok = tr_push(&frame->names, value);
        }
        if (tr_text_real(tr_text(value), &number)) {
            low = fmin(low, number);
            high = fmax(high, number);
        } else {
            frame->numeric = false;
        }
    }
    frame->logarithmic = frame->numeric && low > 0 && high / low >= 10;
    frame->low = !frame->numeric ? 0 : frame->logarithmic ? log(low) : low;
    frame->high = !frame->numeric      ? (double)frame->names.size - 1
                  : frame->logarithmic ? log(high)
                                       : high;
    return ok;
}

static double across(const struct frame *frame, double place)
{
    double wide = PANEL - LEFT - RIGHT - 16;
    double share = frame->high > frame->low ? (place - frame->low) / (frame->high - frame->low)
                                            : 0.5;
    return frame->x + LEFT + 8 + share * wide;
}

static double upwards(const struct frame *frame, double score)
{
    double high = HEIGHT - TOP - BOTTOM;
    return frame->y + TOP + high * (1 - (score - frame->lowest) / (frame->highest - frame->lowest));
}

static void draw_axes(struct tr_buffer *out, struct frame *frame, const char *name)
{
    double x = frame->x + LEFT, y = frame->y + TOP, bottom = frame->y + HEIGHT - BOTTOM;
    tr_buffer_format(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x, y - 12);
    escape(out, name);
    tr_buffer_format(out, "%s</text>\n", frame->logarithmic ? " (logarithmic)" : "");
    tr_buffer_format(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x, y, bottom,
                     frame->x + PANEL - RIGHT);
    for (int i = 0; i <= 4; i++) {
        double score = frame->lowest + i * (frame->highest - frame->lowest) / 4;
        tr_buffer_format(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%.2f</text>\n", x - 6,
                         upwards(frame, score) + 4, 100 * score);
        tr_buffer_format(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", x,
                         upwards(frame, score), frame->x + PANEL - RIGHT);
    }
}

/* Whether the text of value i would run into one of those before it that were written. */
static bool has_room(struct frame *frame, const bool *written, size_t i)
{
    enum { HALF_LETTER = 4, GAP = 8 };
    const char *const *names = frame->names.at;
    double x = across(frame, position(frame, names[i]));
    bool room = true;
    for (size_t k = 0; room && k < i; k++) {
        double apart = fabs(x - across(frame, position(frame, names[k])));
        double both = (double)(strlen(names[i]) + strlen(names[k]));
        room = !written[k] || apart >= HALF_LETTER * both + GAP;
    }
    return room;
}

static bool draw_values(struct tr_buffer *out, struct frame *frame)
{
    bool *written = tr_alloc(frame->names.size, sizeof *written), ok = written;
    for (size_t i = 0; ok && i < frame->names.size; i++) {
        written[i] = has_room(frame, written, i);
        if (written[i]) {
            tr_buffer_format(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">",
                             across(frame, position(frame, frame->names.at[i])),
                             frame->y + HEIGHT - BOTTOM + 18);
            escape(out, frame->names.at[i]);
            tr_buffer_string(out, "</text>\n");
        }
    }
    free(written);
    return ok;
}

static void draw_dots(struct tr_buffer *out, struct frame *frame, const trellis_search *search,
                      size_t axis, const struct tr_trial *best)
{
    for (size_t i = 0; i < search->trials.size; i++) {
        const struct tr_trial *trial = &search->trials.at[i];
        if (!trial->scored || isnan(trial->score)) {
            continue;
        }
        tr_buffer_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
                         trial == best             ? "best"
                         : trial->share > 1 - 1e-9 ? "full"
                                                   : "part",
                         across(frame, position(frame, trial->values[axis])),
                         upwards(frame, trial->score), trial == best ? 6 : 4);
        for (size_t k = 0; k < search->space.axes.size; k++) {
            tr_buffer_format(out, "%s ", search->names[k]);
            escape(out, trial->values[k]);
            tr_buffer_string(out, ", ");
        }
        tr_buffer_format(out, "score %.2f with %.3g of the budget</title></circle>\n",
                         100 * trial->score, trial->share);
    }
}

static const struct tr_trial *find_best(const trellis_search *search, double *lowest,
                                        double *highest)
{
    const struct tr_trial *best = NULL;
    *lowest = INFINITY;
    *highest = -INFINITY;
    for (size_t i = 0; i < search->trials.size; i++) {
        const struct tr_trial *trial = &search->trials.at[i];
        if (trial->scored && !isnan(trial->score)) {
            *lowest = fmin(*lowest, trial->score);
            *highest = fmax(*highest, trial->score);
            best = !best || tr_trial_better(trial, best) ? trial : best;
        }
    }
    double room = best ? fmax(0.001, (*highest - *lowest) * 0.08) : 0;
    *lowest = best ? *lowest - room : 0;
    *highest = best ? *highest + room : 1;
    return best;
}

static void draw_head(struct tr_buffer *out, size_t panels)
{
    size_t columns = panels < ACROSS ? panels : ACROSS, rows = (panels + ACROSS - 1) / ACROSS;
    size_t width = columns * PANEL, height = rows * HEIGHT + 28;
    tr_buffer_format(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %zu %zu\" "
                     "width=\"%zu\" height=\"%zu\" role=\"img\">\n",
                     width, height, width, height);
    tr_buffer_string(out,
                     "<title>Scores of the trials, by option</title>\n<style>\n"
                     "svg{background:#fff;font:12px sans-serif}\n"
                     "text{fill:#222}.name{font-weight:bold;font-size:14px}.tick{text-anchor:end}"
                     ".value{text-anchor:middle}\n"
                     ".axis{fill:none;stroke:#444}.grid{stroke:#ddd}\n"
                     ".full{fill:#1f6fb4}.part{fill:none;stroke:#8a8a8a}.best{fill:#d1495b}\n"
                     "@media(prefers-color-scheme:dark){svg{background:#181a1b}text{fill:#ddd}"
                     ".axis{stroke:#aaa}.grid{stroke:#333}.full{fill:#6db3f2}}\n</style>\n");
}

trellis_status trellis_search_plot(const trellis_search *search, trellis_sink sink, void *user,
                                   trellis_error *error)
{
    struct tr_buffer out = {0};
    size_t panels = search->space.axes.size;
    double lowest, highest;
    const struct tr_trial *best = find_best(search, &lowest, &highest);
    draw_head(&out, panels);
    for (size_t i = 0; i < panels; i++) {
        size_t column = i % ACROSS, row = i / ACROSS;
        struct frame frame = {.x = (double)column * PANEL,
                              .y = (double)row * HEIGHT,
                              .lowest = lowest,
                              .highest = highest};
        bool ok = set_scale(&frame, search, i);
        draw_axes(&out, &frame, search->names[i]);
        if (!ok || !draw_values(&out, &frame)) {
            out.failed = true;
        }
        draw_dots(&out, &frame, search, i, best);
        free(frame.names.at);
    }
    tr_buffer_format(&out,
                     "<text x=\"12\" y=\"%zu\">red: best; filled: full budget; hollow: eliminated "
                     "early</text>\n</svg>\n",
                     (panels + ACROSS - 1) / ACROSS * HEIGHT + 16);
    trellis_status status = tr_buffer_flush(&out, sink, user, error);
    tr_buffer_free(&out);
    return status;
}

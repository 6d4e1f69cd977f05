/* plot.c - the trials of a search as SVG: scores over values, a panel for each option.
 *
 * Scores with different budgets cannot be compared, so that each rung of successive halving has
 * panels and a scale of its own, the full budget first. Trials that went on to the next rung are
 * filled dots, those that were eliminated are hollow, the best is red; each has a title with its
 * settings.
 */
#include <math.h>
#include <stdio.h>

#include "search/search.h"

enum { PANEL = 320, HEIGHT = 240, LEFT = 60, RIGHT = 20, TOP = 36, BOTTOM = 44, ACROSS = 3 };
enum { HEADING = 34, LEGEND = 28 };

/* One panel: where a value and a score are. */
struct frame {
    double x, y;            // of its corner
    double lowest, highest; // scores
    bool numeric, logarithmic;
    double low, high; // values or their logarithms; indices where they are not numbers
    double step;      // the smallest one between ticks
    TR_ARRAY(const char *) names;
};

/* One rung: its scores. */
struct rung {
    size_t number, trials;
    double lowest, highest;
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
static double position(const struct frame *frame, const char *value)
{
    double number = 0;
    if (frame->numeric) {
        tr_text_real(tr_text(value), &number);
        return frame->logarithmic ? log10(number) : number;
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

/* The logarithm of an end of a range, moved to the next power of ten if that is near. */
static double near_decade(double number, double (*outwards)(double))
{
    double power = log10(number), next = outwards(power);
    return fabs(next - power) < 0.15 ? next : power;
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
    frame->low = !frame->numeric ? -0.5 : frame->logarithmic ? near_decade(low, floor) : low;
    frame->high = !frame->numeric      ? (double)frame->names.size - 0.5
                  : frame->logarithmic ? near_decade(high, ceil)
                                       : high;
    frame->step = search->space.axes.at[axis].option->type == TRELLIS_INTEGER ? 1 : 0;
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

/* ---- axes ------------------------------------------------------------------------------------ */

/* The smallest of 1, 2 and 5 times a power of ten that cuts a range into at most `parts`. */
static double round_step(double range, double parts)
{
    double power = pow(10, floor(log10(range / parts))), times = range / parts / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* Scores in percent, at round numbers. */
static void draw_scores(struct tr_buffer *out, const struct frame *frame)
{
    enum { PARTS = 5 };
    double step = round_step(100 * (frame->highest - frame->lowest), PARTS);
    int places = step >= 1 ? 0 : (int)-floor(log10(step));
    int64_t last = (int64_t)floor(100 * frame->highest / step);
    for (int64_t i = (int64_t)ceil(100 * frame->lowest / step); i <= last; i++) {
        double tick = (double)i * step;
        double x = frame->x + LEFT, y = upwards(frame, tick / 100);
        tr_buffer_format(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n", x - 6,
                         y + 4, places, tick);
        tr_buffer_format(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", x, y,
                         frame->x + PANEL - RIGHT);
    }
}

static void draw_value(struct tr_buffer *out, const struct frame *frame, double place,
                       const char *text)
{
    tr_buffer_format(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">", across(frame, place),
                     frame->y + HEIGHT - BOTTOM + 18);
    escape(out, text);
    tr_buffer_string(out, "</text>\n");
}

static void draw_number(struct tr_buffer *out, const struct frame *frame, double place,
                        double number)
{
    char text[32];
    double slack = 1e-9 * (frame->high - frame->low);
    if (place >= frame->low - slack && place <= frame->high + slack) {
        snprintf(text, sizeof text, "%.6g", number);
        draw_value(out, frame, place, text);
    }
}

/* Powers of ten, and 2 and 5 times those where there are few. */
static void draw_logarithmic(struct tr_buffer *out, const struct frame *frame)
{
    static const double times[] = {1, 2, 5};
    double decades = frame->high - frame->low;
    size_t count = decades <= 2 ? TR_COUNT(times) : 1;
    int apart = decades > 5 ? (int)ceil(decades / 5) : 1;
    for (int power = (int)floor(frame->low); power <= (int)frame->high; power += apart) {
        for (size_t i = 0; i < count; i++) {
            draw_number(out, frame, power + log10(times[i]), pow(10, power) * times[i]);
        }
    }
}

static void draw_linear(struct tr_buffer *out, const struct frame *frame)
{
    enum { PARTS = 6 };
    if (frame->high <= frame->low) {
        draw_number(out, frame, frame->low, frame->low);
        return;
    }
    double step = fmax(frame->step, round_step(frame->high - frame->low, PARTS));
    for (int64_t i = (int64_t)ceil(frame->low / step); (double)i * step <= frame->high; i++) {
        draw_number(out, frame, (double)i * step, (double)i * step);
    }
}

/* Names, as many as fit beside each other. */
static void draw_names(struct tr_buffer *out, const struct frame *frame)
{
    enum { HALF_LETTER = 4, GAP = 8 };
    double end = -INFINITY;
    for (size_t i = 0; i < frame->names.size; i++) {
        const char *name = frame->names.at[i];
        double x = across(frame, (double)i), half = HALF_LETTER * (double)strlen(name);
        if (x - half >= end) {
            draw_value(out, frame, (double)i, name);
            end = x + half + GAP;
        }
    }
}

static void draw_axes(struct tr_buffer *out, const struct frame *frame, const char *name)
{
    double x = frame->x + LEFT, y = frame->y + TOP, bottom = frame->y + HEIGHT - BOTTOM;
    tr_buffer_format(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x, y - 12);
    escape(out, name);
    tr_buffer_format(out, "%s</text>\n", frame->logarithmic ? " (logarithmic)" : "");
    tr_buffer_format(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x, y, bottom,
                     frame->x + PANEL - RIGHT);
    draw_scores(out, frame);
    (!frame->numeric      ? draw_names
     : frame->logarithmic ? draw_logarithmic
                          : draw_linear)(out, frame);
}

/* ---- trials ---------------------------------------------------------------------------------- */

static bool is_in(const struct tr_trial *trial, size_t rung)
{
    return trial->scored && trial->rung >= rung && !isnan(trial->scores[rung]);
}

static const char *dot_class(const trellis_search *search, const struct tr_trial *trial,
                             size_t rung, const struct tr_trial *best)
{
    bool went_on = trial->rung > rung || rung + 1 == search->rungs;
    return trial == best ? "best" : went_on ? "full" : "part";
}

static void draw_dots(struct tr_buffer *out, const struct frame *frame,
                      const trellis_search *search, size_t axis, size_t rung,
                      const struct tr_trial *best)
{
    for (size_t i = 0; i < search->trials.size; i++) {
        const struct tr_trial *trial = &search->trials.at[i];
        if (!is_in(trial, rung)) {
            continue;
        }
        tr_buffer_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
                         dot_class(search, trial, rung, best),
                         across(frame, position(frame, trial->values[axis])),
                         upwards(frame, trial->scores[rung]), trial == best ? 6 : 4);
        for (size_t k = 0; k < search->space.axes.size; k++) {
            tr_buffer_format(out, "%s ", search->names[k]);
            escape(out, trial->values[k]);
            tr_buffer_string(out, ", ");
        }
        tr_buffer_format(out, "score %.2f</title></circle>\n", 100 * trial->scores[rung]);
    }
}

static const struct tr_trial *find_best(const trellis_search *search)
{
    const struct tr_trial *best = NULL;
    for (size_t i = 0; i < search->trials.size; i++) {
        const struct tr_trial *trial = &search->trials.at[i];
        if (is_in(trial, trial->rung) && (!best || tr_trial_better(trial, best))) {
            best = trial;
        }
    }
    return best;
}

static struct rung describe_rung(const trellis_search *search, size_t number)
{
    struct rung rung = {.number = number, .lowest = INFINITY, .highest = -INFINITY};
    for (size_t i = 0; i < search->trials.size; i++) {
        const struct tr_trial *trial = &search->trials.at[i];
        if (is_in(trial, number)) {
            rung.trials++;
            rung.lowest = fmin(rung.lowest, trial->scores[number]);
            rung.highest = fmax(rung.highest, trial->scores[number]);
        }
    }
    double room = fmax(0.001, (rung.highest - rung.lowest) * 0.08);
    rung.lowest = rung.trials ? rung.lowest - room : 0;
    rung.highest = rung.trials ? rung.highest + room : 1;
    return rung;
}

/* ---- the picture ----------------------------------------------------------------------------- */

static size_t rung_height(size_t panels)
{
    return HEADING + (panels + ACROSS - 1) / ACROSS * HEIGHT;
}

static void draw_head(struct tr_buffer *out, size_t panels, size_t rungs)
{
    size_t width = (panels < ACROSS ? panels : ACROSS) * PANEL;
    size_t height = rungs * rung_height(panels) + LEGEND;
    tr_buffer_format(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %zu %zu\" "
                     "width=\"%zu\" height=\"%zu\" role=\"img\">\n",
                     width, height, width, height);
    tr_buffer_string(out, "<title>Scores of the trials, by budget and option</title>\n<style>\n"
                          "svg{background:#fff;font:12px sans-serif}\n"
                          "text{fill:#222}.heading{font-size:16px;font-weight:bold}"
                          ".name{font-weight:bold;font-size:14px}.tick{text-anchor:end}"
                          ".value{text-anchor:middle}\n"
                          ".axis{fill:none;stroke:#444}.grid{stroke:#ddd}\n"
                          ".full{fill:#1f6fb4}.part{fill:none;stroke:#767676}.best{fill:#d1495b}\n"
                          "@media(prefers-color-scheme:dark){svg{background:#181a1b}text{fill:#ddd}"
                          ".axis{stroke:#aaa}.grid{stroke:#333}.full{fill:#6db3f2}"
                          ".part{stroke:#9a9a9a}}\n</style>\n");
}

static void draw_heading(struct tr_buffer *out, const trellis_search *search,
                         const struct rung *rung, size_t y)
{
    double share = tr_search_share(search, rung->number);
    tr_buffer_format(out, "<text class=\"heading\" x=\"12\" y=\"%zu\">", y + HEADING - 10);
    if (rung->number + 1 == search->rungs) {
        tr_buffer_string(out, "Full budget");
    } else {
        tr_buffer_format(out, "1/%.0f of the budget", 1 / share);
    }
    tr_buffer_format(out, ": %zu setting%s</text>\n", rung->trials, rung->trials == 1 ? "" : "s");
}

/* One rung, whose upper edge is at y; false on allocation failure. */
static bool draw_rung(struct tr_buffer *out, const trellis_search *search, const struct rung *rung,
                      size_t y, const struct tr_trial *best)
{
    bool ok = true;
    draw_heading(out, search, rung, y);
    for (size_t i = 0; ok && i < search->space.axes.size; i++) {
        size_t row = i / ACROSS;
        struct frame frame = {.x = (double)(i % ACROSS * PANEL),
                              .y = (double)(y + HEADING + row * HEIGHT),
                              .lowest = rung->lowest,
                              .highest = rung->highest};
        ok = set_scale(&frame, search, i);
        draw_axes(out, &frame, search->names[i]);
        draw_dots(out, &frame, search, i, rung->number, best);
        free(frame.names.at);
    }
    return ok;
}

trellis_status trellis_search_plot(const trellis_search *search, trellis_sink sink, void *user,
                                   trellis_error *error)
{
    if (!search || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct tr_buffer out = {0};
    size_t panels = search->space.axes.size, height = rung_height(panels);
    const struct tr_trial *best = find_best(search);
    bool ok = true;
    draw_head(&out, panels, search->rungs);
    for (size_t i = 0; ok && i < search->rungs; i++) {
        struct rung rung = describe_rung(search, search->rungs - 1 - i);
        ok = draw_rung(&out, search, &rung, i * height, best);
    }
    tr_buffer_format(&out, "<text x=\"12\" y=\"%zu\">red: best%s</text>\n</svg>\n",
                     search->rungs * height + 16,
                     search->rungs > 1 ? "; hollow: eliminated early" : "");
    trellis_status status = ok ? tr_buffer_flush(&out, sink, user, error) : tr_fail_memory(error);
    tr_buffer_free(&out);
    return status;
}

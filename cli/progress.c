/* progress.c - training progress, on standard error. */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

enum { BAR_WIDTH = 10 };
static const double shortest_pause = 0.1; // seconds between two redraws

struct line {
    char text[400];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof line->text - line->size;
    int n = vsnprintf(line->text + line->size, room, format, arguments);
    va_end(arguments);
    if (n > 0) {
        line->size += (size_t)n < room ? (size_t)n : room - 1;
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void format_duration(char *text, size_t room, double seconds)
{
    unsigned long long whole = seconds > 0 ? (unsigned long long)seconds : 0;
    if (whole < 60) {
        snprintf(text, room, "%llu s", whole);
    } else if (whole >= 3600) {
        snprintf(text, room, "%llu:%02llu:%02llu", whole / 3600, whole / 60 % 60, whole % 60);
    } else {
        snprintf(text, room, "%llu:%02llu", whole / 60, whole % 60);
    }
}

/* ---- the line -------------------------------------------------------------------------------- */

static void add_figures(struct line *line, const trellis_progress *progress)
{
    if (isfinite(progress->objective)) {
        add(line, "  objective %.5g", progress->objective);
    }
    if (isfinite(progress->error_rate)) {
        add(line, "  error rate %.2f%%", 100 * progress->error_rate);
    }
    if (progress->iteration == 0) {
        return; // no iteration is complete
    }
    if (isfinite(progress->likelihood)) {
        add(line, "  log-likelihood %.4f", progress->likelihood);
    }
    if (isfinite(progress->dev_likelihood)) {
        add(line, "  dev log-likelihood %.4f", progress->dev_likelihood);
    } else if (isfinite(progress->dev_f1)) {
        add(line, "  dev F1 %.2f", 100 * progress->dev_f1);
    } else if (isfinite(progress->dev_accuracy)) {
        add(line, "  dev accuracy %.2f%%", 100 * progress->dev_accuracy);
    }
}

static void add_speed(struct line *line, const trellis_progress *progress)
{
    if (isfinite(progress->tokens_per_second) && progress->tokens_per_second > 0) {
        add(line, "  %.0fk tokens/s", progress->tokens_per_second / 1000);
    }
}

static double iterations_done(const trellis_progress *progress)
{
    bool within = progress->fraction > 0 && progress->fraction < 1;
    return (double)progress->iteration + (within ? progress->fraction : 0);
}

static void add_time(struct line *line, const trellis_progress *progress)
{
    char text[32];
    double done = iterations_done(progress), all = (double)progress->max_iterations;
    if (!isfinite(progress->seconds)) {
        return;
    }
    if (all > 0 && done > 0 && done <= all) {
        format_duration(text, sizeof text, progress->seconds * (all - done) / done);
        add(line, "  %s left", text);
    } else {
        format_duration(text, sizeof text, progress->seconds);
        add(line, "  %s", text);
    }
}

static void add_bar(struct line *line, double share)
{
    int full = (int)(share * BAR_WIDTH);
    add(line, " [");
    for (int i = 0; i < BAR_WIDTH; i++) {
        add(line, "%c", i < full ? '=' : i == full ? '>' : ' ');
    }
    add(line, "]");
}

static void add_count(struct line *line, const trellis_progress *progress)
{
    if (progress->max_iterations) {
        add(line, " %llu/%llu", (unsigned long long)progress->iteration,
            (unsigned long long)progress->max_iterations);
    } else if (progress->iteration) {
        add(line, " %llu", (unsigned long long)progress->iteration);
    }
}

/* ---- where it is written --------------------------------------------------------------------- */

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void draw(struct progress_view *view, const trellis_progress *progress)
{
    double time = now();
    if (view->drawn && time - view->drawn_at < shortest_pause && progress->fraction < 1) {
        return;
    }
    struct line line = {0};
    add(&line, "%s", trellis_phase_name(progress->phase));
    add_count(&line, progress);
    if (progress->max_iterations) {
        add_bar(&line, iterations_done(progress) / (double)progress->max_iterations);
    }
    if (progress->phase == TRELLIS_PHASE_TRAINING) {
        add_figures(&line, progress);
    }
    add_time(&line, progress);
    add_speed(&line, progress);
    size_t width = terminal_width();
    fprintf(stderr, "\r%.*s\033[K", (int)(width - 1), line.text);
    fflush(stderr);
    view->drawn = true;
    view->drawn_at = time;
}

static void print(struct progress_view *view, const trellis_progress *progress)
{
    if (progress->fraction < 1 || progress->iteration == view->last_printed) {
        return;
    }
    struct line line = {0};
    add(&line, "iteration");
    add_count(&line, progress);
    add_figures(&line, progress);
    add_speed(&line, progress);
    if (isfinite(progress->seconds)) {
        add(&line, "  %.1f s", progress->seconds);
    }
    message("%s", line.text);
    view->last_printed = progress->iteration;
}

static void clear(struct progress_view *view)
{
    if (view->drawn) {
        fputs("\r\033[K", stderr);
        view->drawn = false;
    }
}

void progress_begin(struct progress_view *view, bool quiet)
{
    const char *terminal = getenv("TERM");
    *view = (struct progress_view){
        .quiet = quiet,
        .terminal = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0,
    };
}

void progress_show(struct progress_view *view, const trellis_progress *progress)
{
    bool warning = progress->phase == TRELLIS_PHASE_MESSAGE &&
                   strncmp(progress->message, "warning: ", strlen("warning: ")) == 0;
    if (view->quiet && !warning) {
        return;
    }
    if (progress->phase == TRELLIS_PHASE_MESSAGE) {
        clear(view);
        message("%s", progress->message);
    } else if (view->terminal) {
        draw(view, progress);
    } else {
        print(view, progress);
    }
}

void progress_end(struct progress_view *view)
{
    if (view->drawn) {
        fputc('\n', stderr);
        view->drawn = false;
    }
}

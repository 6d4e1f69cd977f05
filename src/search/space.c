/* space.c - the search space: options, each with the values it may take. */
#include "search/space.h"

#include <math.h>
#include <stdio.h>

enum { DEFAULT_POINTS = 5, MAX_POINTS = 1000 };

/* Whether an option takes a value, as it would when it is set. */
static trellis_status check_value(const char *name, const char *value, trellis_error *error)
{
    trellis_options *options;
    trellis_status status = trellis_options_create(&options, error);
    if (!status) {
        status = trellis_options_set(options, name, value, error);
    }
    trellis_options_destroy(options);
    return status;
}

static trellis_status read_list(struct tr_axis *axis, const char *text, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (const char *at = text; !status;) {
        size_t size = strcspn(at, ",");
        char *value = tr_copy_text(at, size);
        if (!value || !tr_push(&axis->values, value)) {
            free(value);
            return tr_fail_memory(error);
        }
        if (size >= TR_VALUE_ROOM) {
            return tr_fail(error, TRELLIS_OPTION, "a value of --%s is too long",
                           axis->option->name);
        }
        status = check_value(axis->option->name, value, error);
        at += size;
        if (*at++ == '\0') {
            break;
        }
    }
    axis->points = axis->values.size;
    return status;
}

/* LOW..HIGH, where `dots` is, and /POINTS */
static trellis_status read_range(struct tr_axis *axis, const char *text, const char *dots,
                                 trellis_error *error)
{
    const char *slash = strchr(dots, '/');
    int64_t points = DEFAULT_POINTS;
    size_t high_size = slash ? (size_t)(slash - dots) - 2 : strlen(dots + 2);
    bool ok = tr_text_real((trellis_text){text, (size_t)(dots - text)}, &axis->low) &&
              tr_text_real((trellis_text){dots + 2, high_size}, &axis->high) &&
              (!slash || tr_text_integer(tr_text(slash + 1), &points)) && axis->low < axis->high &&
              isfinite(axis->high - axis->low) && points >= 2 && points <= MAX_POINTS;
    if (!ok) {
        return tr_fail(
            error, TRELLIS_OPTION,
            "a range must be LOW..HIGH or LOW..HIGH/POINTS with LOW below HIGH, not '%s'", text);
    }
    axis->whole = axis->option->type == TRELLIS_INTEGER;
    axis->logarithmic = !axis->whole && axis->low > 0 && axis->high / axis->low >= 10;
    double max = floor(axis->high) - ceil(axis->low) + 1;
    axis->points = axis->whole && max < (double)points ? (size_t)max : (size_t)points;
    char value[TR_VALUE_ROOM];
    trellis_status status = TRELLIS_OK;
    for (size_t end = 0; !status && end < 2; end++) {
        tr_axis_point(axis, end ? axis->points - 1 : 0, value);
        status = check_value(axis->option->name, value, error);
    }
    return status;
}

/* Options that say where data comes from and goes to are the same for all settings. */
static bool is_about_files(const char *name)
{
    static const char *const names[] = {"dev", "log", "checkpoint", "every", "resume"};
    bool is = false;
    for (size_t i = 0; i < TR_COUNT(names); i++) {
        is = is || strcmp(name, names[i]) == 0;
    }
    return is;
}

trellis_status tr_space_add(struct tr_space *space, const char *text, trellis_error *error)
{
    char name[64];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name) {
        return tr_fail(error, TRELLIS_OPTION, "expected NAME=A,B,C or NAME=LOW..HIGH, not '%s'",
                       text);
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    const trellis_option *option = trellis_option_find(name);
    if (!option) {
        return check_value(name, "", error); // says which name is near
    }
    if (!(option->groups & TRELLIS_GROUP_TRAIN) || is_about_files(name)) {
        return tr_fail(error, TRELLIS_OPTION, "--%s is not an option of learning", name);
    }
    for (size_t i = 0; i < space->axes.size; i++) {
        if (space->axes.at[i].option == option) {
            return tr_fail(error, TRELLIS_OPTION, "--%s is tried twice", name);
        }
    }
    struct tr_axis axis = {.option = option};
    if (!tr_push(&space->axes, axis)) {
        return tr_fail_memory(error);
    }
    bool number = option->type == TRELLIS_INTEGER || option->type == TRELLIS_REAL;
    const char *dots = number ? strstr(equals + 1, "..") : NULL;
    struct tr_axis *added = &space->axes.at[space->axes.size - 1];
    return dots ? read_range(added, equals + 1, dots, error) : read_list(added, equals + 1, error);
}

void tr_space_free(struct tr_space *space)
{
    for (size_t i = 0; i < space->axes.size; i++) {
        for (size_t k = 0; k < space->axes.at[i].values.size; k++) {
            free(space->axes.at[i].values.at[k]);
        }
        free(space->axes.at[i].values.at);
    }
    free(space->axes.at);
    *space = (struct tr_space){0};
}

/* The value at a share, 0 to 1, of the way from low to high; four digits are enough to tell
 * apart. */
static void write_at(const struct tr_axis *axis, double share, char *text)
{
    double value = axis->logarithmic ? axis->low * pow(axis->high / axis->low, share)
                                     : axis->low + share * (axis->high - axis->low);
    snprintf(text, TR_VALUE_ROOM, "%.4g", fmin(fmax(value, axis->low), axis->high));
}

void tr_axis_point(const struct tr_axis *axis, size_t point, char *text)
{
    if (axis->values.size) {
        snprintf(text, TR_VALUE_ROOM, "%s", axis->values.at[point]);
    } else if (axis->whole) {
        double low = ceil(axis->low), high = floor(axis->high);
        double share = axis->points > 1 ? (double)point / (double)(axis->points - 1) : 0;
        snprintf(text, TR_VALUE_ROOM, "%.0f", round(low + share * (high - low)));
    } else {
        write_at(axis, (double)point / (double)(axis->points - 1), text);
    }
}

void tr_axis_draw(const struct tr_axis *axis, struct tr_random *random, char *text)
{
    if (axis->values.size) {
        tr_axis_point(axis, tr_random_below(random, axis->points), text);
    } else if (axis->whole) {
        double low = ceil(axis->low), count = floor(axis->high) - low + 1;
        snprintf(text, TR_VALUE_ROOM, "%.0f",
                 low + (double)tr_random_below(random, (uint64_t)count));
    } else {
        write_at(axis, tr_random_real(random), text);
    }
}

/* test_line_search.c - what both searches promise, along lines of many shapes. */
#include "optim/problems.h"

#include "optim/line_search.h"

/* Along d = 1 from w = 0: phi(t) = f(t). */
struct shape {
    double (*value)(double t);
    double (*slope)(double t);
};

static double bowl(double t)
{
    return (t - 3) * (t - 3);
}

static double bowl_slope(double t)
{
    return 2 * (t - 3);
}

/* Moré and Thuente's first function: -t / (t^2 + 2) */
static double trough(double t)
{
    return -t / (t * t + 2);
}

static double trough_slope(double t)
{
    double q = t * t + 2;
    return (t * t - 2) / (q * q);
}

/* Their second: (t + 0.004)^5 - 2 (t + 0.004)^4 */
static double steep(double t)
{
    return pow(t + 0.004, 5) - 2 * pow(t + 0.004, 4);
}

static double steep_slope(double t)
{
    return 5 * pow(t + 0.004, 4) - 8 * pow(t + 0.004, 3);
}

/* Many local minima on the way down. */
static double wavy(double t)
{
    return (t - 30) * (t - 30) / 10 + sin(4 * t);
}

static double wavy_slope(double t)
{
    return (t - 30) / 5 + 4 * cos(4 * t);
}

/* A wall: -t + t^2 up to 2, nothing beyond. */
static double wall(double t)
{
    return t < 2 ? t * t - t : NAN;
}

static double wall_slope(double t)
{
    return 2 * t - 1;
}

/* Shallow and high up: a short step changes nothing that can be seen. */
static double plateau(double t)
{
    return 1e12 + 1e-6 * (t - 3000) * (t - 3000);
}

static double plateau_slope(double t)
{
    return 2e-6 * (t - 3000);
}

static const struct shape shapes[] = {{bowl, bowl_slope},   {trough, trough_slope},
                                      {steep, steep_slope}, {wavy, wavy_slope},
                                      {wall, wall_slope},   {plateau, plateau_slope}};

static trellis_status evaluate_shape(void *user, const double *w, double *gradient,
                                     double *ret_value, trellis_error *error)
{
    (void)error;
    const struct shape *shape = user;
    *gradient = shape->slope(*w);
    *ret_value = shape->value(*w);
    return TRELLIS_OK;
}

typedef trellis_status search(struct tr_line *line, struct tr_point start, double trial,
                              struct tr_point *ret_found);

static trellis_status search_strong_wolfe(struct tr_line *line, struct tr_point start, double trial,
                                          struct tr_point *ret_found)
{
    return tr_search_strong_wolfe(line, start, 0.1, trial, ret_found);
}

/* Searches from 0 and checks that the point is where it says and falls enough. */
static struct tr_point found_by(search *run_search, const struct shape *shape, double trial)
{
    struct tr_objective objective = {
        .size = 1, .evaluate = evaluate_shape, .user = (void *)(uintptr_t)shape};
    struct tr_optim_settings settings = {0};
    struct tr_monitor monitor;
    assert_int_equal(tr_monitor_open(&monitor, &objective, &settings, NULL), TRELLIS_OK);
    double w = 0, gradient = 0;
    assert_int_equal(tr_monitor_start(&monitor, &w, &gradient), TRELLIS_OK);
    struct tr_line line;
    assert_int_equal(tr_line_open(&line, &monitor, &w, &gradient), TRELLIS_OK);
    line.direction[0] = 1;
    struct tr_point start = {.value = monitor.value, .slope = gradient}, found;
    assert_true(start.slope < 0);
    assert_int_equal(run_search(&line, start, trial, &found), TRELLIS_OK);

    assert_true(found.step > 0);
    assert_true(found.step == line.next_w[0]);
    assert_true(found.value == shape->value(found.step));
    assert_true(found.slope == line.next_gradient[0]);
    assert_true(found.value <= start.value + 1e-4 * found.step * start.slope);
    assert_true(monitor.evaluations < 40);
    tr_line_close(&line);
    tr_monitor_close(&monitor);
    return found;
}

static void steps_are_good_from_any_trial(void **state)
{
    (void)state;
    for (size_t s = 0; s < TR_COUNT(shapes); s++) {
        for (int power = -6; power < 7; power++) {
            double trial = pow(10, power);
            found_by(tr_search_armijo, &shapes[s], trial);
            struct tr_point found = found_by(search_strong_wolfe, &shapes[s], trial);
            assert_true(fabs(found.slope) <= 0.1 * fabs(shapes[s].slope(0)));
        }
    }
}

/* Uphill all the way, though the slope says otherwise. */
static double lie(double t)
{
    return t;
}

static double lie_slope(double t)
{
    (void)t;
    return -1;
}

/* The point that a search finds along a shape. */
static struct tr_point found_along(const struct shape *shape, double noise, search *by,
                                   struct tr_point start, double trial)
{
    struct tr_objective objective = {
        .size = 1, .evaluate = evaluate_shape, .user = (void *)(uintptr_t)shape};
    struct tr_optim_settings settings = {.noise = noise};
    struct tr_monitor monitor;
    assert_int_equal(tr_monitor_open(&monitor, &objective, &settings, NULL), TRELLIS_OK);
    double w = 0, gradient = 0;
    struct tr_line line;
    assert_int_equal(tr_line_open(&line, &monitor, &w, &gradient), TRELLIS_OK);
    line.direction[0] = 1;
    struct tr_point found;
    assert_int_equal(by(&line, start, trial, &found), TRELLIS_OK);
    tr_line_close(&line);
    tr_monitor_close(&monitor);
    return found;
}

static search *const both[] = {tr_search_armijo, search_strong_wolfe};

static void no_step_is_said_to_be_none(void **state)
{
    (void)state;
    const struct shape shape = {lie, lie_slope};
    for (size_t i = 0; i < 2; i++) {
        struct tr_point start = {.slope = -1};
        assert_true(found_along(&shape, 0, both[i], start, 1).step == 0);
    }
}

/* Down a slope, but for a rise that is rounding. */
static double rough(double t)
{
    return t == 0 ? 1000 : 1000.0001 - 1e-6 * (t - t * t / 4);
}

static double rough_slope(double t)
{
    return -1e-6 * (1 - t / 2);
}

/* Where the caller says how far off F may be, slopes decide; else F does. */
static void noise_is_seen_through(void **state)
{
    (void)state;
    const struct shape shape = {rough, rough_slope};
    for (size_t i = 0; i < 4; i++) {
        struct tr_point start = {.value = 1000, .slope = -1e-6};
        struct tr_point found = found_along(&shape, i < 2 ? 1e-6 : 1e-8, both[i % 2], start, 1.9);
        assert_int_equal(found.step > 0, i < 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_good_from_any_trial),
        cmocka_unit_test(no_step_is_said_to_be_none),
        cmocka_unit_test(noise_is_seen_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* iteration_log.c - writes the figures of each iteration to a file, one JSON object per line.
 *
 * Each line is flushed at once, so that a program can follow a training while it runs.
 */
#include "iteration_log.h"

#include <math.h>
#include <stdlib.h>

/* The shortest number that reads back as the same double; null if the figure is not available. */
static void write_real(FILE *file, const char *key, double value)
{
    char text[40] = "null";
    for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    fprintf(file, ", \"%s\": %s", key, text);
}

void iteration_log_write(FILE *file, const trellis_progress *progress)
{
    fprintf(file, "{\"iteration\": %llu, \"iterations\": %llu",
            (unsigned long long)progress->iteration, (unsigned long long)progress->max_iterations);
    write_real(file, "objective", progress->objective);
    write_real(file, "gradient_norm", progress->gradient_norm);
    write_real(file, "error_rate", progress->error_rate);
    fprintf(file, ", \"active_features\": %llu", (unsigned long long)progress->active_features);
    write_real(file, "dev_accuracy", progress->dev_accuracy);
    write_real(file, "dev_f1", progress->dev_f1);
    write_real(file, "likelihood", progress->likelihood);
    write_real(file, "dev_likelihood", progress->dev_likelihood);
    write_real(file, "seconds", progress->seconds);
    write_real(file, "tokens_per_second", progress->tokens_per_second);
    fputs("}\n", file);
    fflush(file);
}

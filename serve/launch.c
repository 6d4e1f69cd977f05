/* launch.c - `trellis serve` in the program trellis-serve: reads the options and serves. */
#include "cli/launch.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cli/message.h"
#include "serve.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* A number from `least` to `most`, with K, M or G after it if `sizes`; EXIT_SUCCESS, or prints what
 * is wrong. */
static int read_number(const struct arguments *arguments, const char *name, double least,
                       double most, bool sizes, double *value)
{
    const char *text = argument(arguments, name);
    char *end;
    if (!text) {
        return EXIT_SUCCESS;
    }
    double number = strtod(text, &end);
    const char *unit = *end && sizes ? strchr("KMG", *end) : NULL;
    for (const char *at = "KMG"; unit && at <= strchr("KMG", *unit); at++) {
        number *= 1024;
    }
    if (end == text || (unit ? end[1] : *end) || !(number >= least && number <= most)) {
        return usage_error(arguments->command, "--%s must be a number from %.15g to %.15g", name,
                           least, most);
    }
    *value = number;
    return EXIT_SUCCESS;
}

/* All values of an option that may be given several times. */
static const char **read_list(const struct arguments *arguments, const char *name,
                              size_t *ret_count)
{
    size_t count = 0;
    while (argument_nth(arguments, name, count)) {
        count++;
    }
    const char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        list[i] = argument_nth(arguments, name, i);
    }
    *ret_count = list ? count : 0;
    return list;
}

/* ---- settings -------------------------------------------------------------------------------- */

static int read_numbers(const struct arguments *arguments, struct serve_settings *settings)
{
    double queue = 256, body = 4 << 20, tokens = 100000, connections = 1000;
    int result = read_number(arguments, "queue", 1, 1e6, false, &queue);
    result = result ? result : read_number(arguments, "max-body", 1, 1 << 30, true, &body);
    result = result ? result : read_number(arguments, "max-tokens", 1, 1e8, false, &tokens);
    result = result ? result
                    : read_number(arguments, "max-connections", 1, 1e6, false, &connections);
    result = result ? result
                    : read_number(arguments, "timeout", 0.001, 86400, false,
                                  &settings->request_seconds);
    result = result ? result
                    : read_number(arguments, "client-timeout", 0.1, 86400, false,
                                  &settings->client_seconds);
    result = result ? result
                    : read_number(arguments, "grace", 0, 86400, false, &settings->grace_seconds);
    settings->queue = (size_t)queue;
    settings->max_body = (size_t)body;
    settings->max_tokens = (size_t)tokens;
    settings->max_connections = (unsigned)connections;
    return result;
}

/* A line on standard error that does not steer the terminal, whatever it quotes. */
static void print_visible_line(const char *line)
{
    fputs("trellis serve: ", stderr);
    print_visibly(line, strlen(line), "", stderr);
    fputc('\n', stderr);
}

int launch_service(const struct arguments *arguments)
{
    const char *listen = argument(arguments, "listen");
    struct serve_settings settings = {.print = print_visible_line,
                                      .listen = listen ? listen : "127.0.0.1:8080",
                                      .workers = argument_threads(arguments),
                                      .limits = arguments->options,
                                      .request_seconds = 10,
                                      .client_seconds = 30,
                                      .grace_seconds = 10,
                                      .watch = argument_flag(arguments, "watch"),
                                      .access_log = argument(arguments, "access-log"),
                                      .token_file = argument(arguments, "token-file")};
    const char **models = read_list(arguments, "model", &settings.model_count);
    const char **hosts = read_list(arguments, "allow-host", &settings.host_count);
    const char **origins = read_list(arguments, "allow-origin", &settings.origin_count);
    settings.models = models;
    settings.hosts = hosts;
    settings.origins = origins;
    int result = read_numbers(arguments, &settings);
    if (result == EXIT_SUCCESS) {
        result = models && hosts && origins ? serve(&settings) : failure(TRELLIS_MEMORY, NULL);
    }
    free(models);
    free(hosts);
    free(origins);
    return result;
}

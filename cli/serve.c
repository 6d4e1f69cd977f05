/* serve.c - `trellis serve`: answers requests over HTTP. The service itself is in serve/. */
#include "launch.h"
#include "message.h"

static int run(const struct arguments *arguments)
{
    if (!argument(arguments, "model")) {
        return usage_error(arguments->command, "-m is missing: the models to serve");
    }
    if (arguments->path_count > 0) {
        return usage_error(arguments->command, "unexpected '%s'; models are given as -m FILE",
                           arguments->paths[0]);
    }
    return launch_service(arguments);
}

static const struct own_option own[] = {
    {"model", 'm', "[NAME=]FILE",
     "A model to serve; may be given several times. Its name is that of the file, without the "
     "extension, unless it is given. The first one is used where a request names none. Required."},
    {"listen", 0, "ADDRESS:PORT",
     "Where to listen: an address and a port, 0 for any free one, or unix:PATH. [127.0.0.1:8080]"},
    {"queue", 0, "N",
     "How many requests may wait for a worker; beyond that the answer is 503. [256]"},
    {"max-body", 0, "BYTES", "Largest body of a request; K, M and G are understood. [4M]"},
    {"max-tokens", 0, "N", "Most tokens of a request. [100000]"},
    {"max-connections", 0, "N", "Most open connections. [1000]"},
    {"timeout", 0, "SECONDS", "Time to answer a request, waiting included. [10]"},
    {"client-timeout", 0, "SECONDS",
     "Time for a client to send the headers of a request, to send its body, to read the answer, "
     "and to pause until the next one. [30]"},
    {"grace", 0, "SECONDS", "Time for requests to finish after SIGTERM or SIGINT. [10]"},
    {"watch", 0, NULL, "Reload a model when its file changes. SIGHUP reloads all."},
    {"access-log", 0, "FILE",
     "Write a line of JSON for each request; '-' is standard output. [none]"},
    {"token-file", 0, "FILE",
     "Answer only requests with one of the tokens in FILE, one a line: 'Authorization: Bearer "
     "TOKEN'. [none]"},
    {"allow-host", 0, "NAME",
     "Also accept requests to this host name; may be given several times. Addresses and localhost "
     "are always accepted."},
    {"allow-origin", 0, "ORIGIN",
     "Let pages of this origin, such as https://example.org, use the service; may be given several "
     "times."},
    {0},
};

const struct command command_serve = {
    .name = "serve",
    .summary = "tag over HTTP, with a page to try models",
    .synopsis = "-m [NAME=]MODEL... [OPTION...]",
    .description =
        "Answers requests over HTTP until SIGTERM or SIGINT: tagging with labels, spans, marginals "
        "and n-best lists, explanations, drawings, evaluations, metadata of models, metrics in the "
        "format of Prometheus. / is a page to try models with, /openapi.json describes the "
        "requests.\n\n"
        "It listens on the loopback address only, unless --listen says otherwise, and does not "
        "encrypt: put a server with TLS in front of it. docs/serving.md has configurations.\n\n"
        "Models are read into memory once for all --threads worker threads. A file that changes "
        "is loaded at SIGHUP, or by --watch, while requests go on; one that cannot be loaded is "
        "reported, and the older model stays.",
    .own = own,
    .groups = TRELLIS_GROUP_LIMITS,
    .with = "threads",
    .without = "max-sequence max-token max-file max-ratio",
    .examples = "trellis serve -m chunk.model\n"
                "curl -d '{\"text\": \"The dog barks.\"}' http://127.0.0.1:8080/v1/tag\n"
                "# two models with names, reloaded when they change\n"
                "trellis serve -m pos=english.model -m ner=news.model --watch\n",
    .run = run,
};

/* cluster.c - `trellis cluster`: Brown clusters of the words of a text. */
#include <errno.h>
#include <stdlib.h>

#include "arguments.h"
#include "message.h"
#include "output_file.h"
#include "progress.h"

#define DEFAULT_CLUSTERS "500"

static bool on_progress(void *user, const trellis_progress *progress)
{
    progress_show(user, progress);
    return true;
}

static void summarise(const trellis_clusters *clusters)
{
    trellis_clusters_info info = {.struct_size = sizeof info};
    trellis_clusters_describe(clusters, &info);
    message("%zu word%s of %llu token%s in %zu cluster%s, average mutual information %.6f bits",
            info.words, plural(info.words), (unsigned long long)info.tokens, plural(info.tokens),
            info.clusters, plural(info.clusters), info.information);
}

static trellis_status cluster(const struct arguments *arguments, size_t count,
                              struct output *output, trellis_error *error)
{
    struct progress_view view;
    trellis_clusters *clusters = NULL;
    size_t path_count;
    const char *const *paths = argument_inputs(arguments, &path_count);
    progress_begin(&view, argument_flag(arguments, "quiet"));
    trellis_status status = trellis_cluster(arguments->options, count, paths, path_count,
                                            on_progress, &view, &clusters, error);
    progress_end(&view);
    if (!status) {
        status = trellis_clusters_write(clusters, output_sink, output, error);
    }
    if (!status && !view.quiet) {
        summarise(clusters);
    }
    trellis_clusters_destroy(clusters);
    return status;
}

static int run(const struct arguments *arguments)
{
    const char *given = argument(arguments, "clusters");
    char *end;
    errno = 0;
    given = given ? given : DEFAULT_CLUSTERS;
    long long count = strtoll(given, &end, 10);
    if (errno || *end || end == given || count < 2) {
        return usage_error(arguments->command, "--clusters takes a number from 2 up, not '%s'",
                           given);
    }
    struct output output;
    trellis_error error = {0};
    int result = output_open(&output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        trellis_status status = cluster(arguments, (size_t)count, &output, &error);
        result = output_end(&output, status, &error);
    }
    return result;
}

static const struct own_option own[] = {
    {"clusters", 'c', "N", "Number of clusters, from 2 to 20000. [" DEFAULT_CLUSTERS "]"},
    OWN_OUTPUT,
    {"quiet", 'q', NULL, "Print errors only."},
    {0},
};

const struct command command_cluster = {
    .name = "cluster",
    .summary = "make Brown clusters of the words of a text",
    .synopsis = "[OPTION...] [FILE...]",
    .description =
        "Groups words by the words next to them, in a binary tree (Brown et al. 1992), and "
        "writes a line for each word: the path of its cluster from the root of the tree, the word, and "
        "how often it occurs, separated by tabs. Templates use the file with cluster(word, "
        "\"FILE\", 4 6 10), where the numbers are lengths of prefixes of the path.\n\n"
        "The text is raw: labels are not read. It is one stream of words; for running prose "
        "there is --format text, for lines of words with blanks between them --format wordtag "
        "--label none. The result does not depend on the number of threads.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS | TRELLIS_GROUP_RUN,
    .with = "min-count",
    .without = "memory scheme",
    .common = "format min-count threads",
    .examples = "# clusters of the words of a corpus and of running text\n"
                "trellis cluster -c 500 train.txt > words.paths\n"
                "trellis cluster -c 1000 --format text -o words.paths book.txt.gz\n"
                "# lines of words, as brown-cluster reads them\n"
                "trellis cluster --format wordtag --label none text.txt > words.paths\n",
    .run = run,
};

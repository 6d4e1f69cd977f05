/* tag.c - `trellis tag`: tags sequences with a model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "batch.h"
#include "chain.h"
#include "message.h"
#include "output_file.h"
#include "for_each_sequence.h"
#include "model_input.h"
#include "tagging.h"

/* What is written, and how; each thread has a copy with a writer of its own. */
struct labelling {
    struct output output;
    trellis_sink sink; // the output, or a batch
    void *sink_user;
    struct batch *batch;
    trellis_writer *writer;
    trellis_options *options; // of the writer
    bool adds_columns;
    bool unbuffered;        // flush after each sequence
    bool ranked;            // write a line with the rank before each labelling
    const float *marginals; // [length] of the labelling being written, or NULL
    const float *all;       // [length][labels] of all labels of the model, or NULL
    const trellis_model *model;
    bool objects;              // JSON lines: all that is known goes into one object
    trellis_text *label_names; // [labels of the model]
    uint64_t sequences, exact;
};

/* ---- output ---------------------------------------------------------------------------------- */

static trellis_status put(const struct labelling *labelling, const char *data, size_t size)
{
    return labelling->sink(labelling->sink_user, data, size);
}

/* Appends a cell PROBABILITY, or NAME:PROBABILITY if there is a name. */
static trellis_status append_cell(struct labelling *labelling, char separator, trellis_text name,
                                  float marginal)
{
    char number[32];
    int width = snprintf(number, sizeof number, "%s%.4f", name.data ? ":" : "", (double)marginal);
    trellis_status status = put(labelling, &separator, 1);
    if (!status && name.data) {
        status = put(labelling, name.data, name.size);
    }
    return status ? status : put(labelling, number, (size_t)width);
}

/* Appends the cells of one token to its line. */
static trellis_status append_cells(struct labelling *labelling, char separator)
{
    trellis_status status = TRELLIS_OK;
    size_t labels = labelling->all ? trellis_model_label_count(labelling->model) : 0;
    if (labelling->marginals) {
        status = append_cell(labelling, separator, (trellis_text){0}, *labelling->marginals++);
    }
    for (size_t k = 0; !status && k < labels; k++) {
        status = append_cell(labelling, separator, trellis_model_label(labelling->model, k),
                             *labelling->all++);
    }
    return status ? status : put(labelling, "\n", 1);
}

/* A sink between the writer and the output that appends probabilities to the line of each token.
 * The writer passes one sequence at a time, in columns. */
static trellis_status append_marginals(void *user, const char *data, size_t size)
{
    struct labelling *labelling = user;
    trellis_status status = TRELLIS_OK;
    for (size_t line; !status && size > 0; data += line, size -= line) {
        const char *end = memchr(data, '\n', size);
        line = end ? (size_t)(end - data) + 1 : size;
        if (line > 1) {
            bool by_tab = memchr(data, '\t', line) && !memchr(data, ' ', line);
            status = put(labelling, data, line - 1);
            status = status ? status : append_cells(labelling, by_tab ? '\t' : ' ');
        } else {
            status = put(labelling, data, line);
        }
    }
    return status;
}

/* # RANK SCORE PROBABILITY */
static trellis_status write_rank(struct labelling *labelling, const struct tag_result *result,
                                 size_t rank, trellis_error *error)
{
    char line[512]; // the largest double has 309 digits
    int size = snprintf(line, sizeof line, "# %zu %.6f", rank + 1, result->scores[rank]);
    if (result->probabilities) {
        size += snprintf(line + size, sizeof line - (size_t)size, " %.6f",
                         result->probabilities[rank]);
    }
    line[size++] = '\n';
    trellis_status status = trellis_writer_finish(labelling->writer, error);
    return status ? status : put(labelling, line, (size_t)size);
}

/* Everything in one object. */
static trellis_status write_object(const struct labelling *labelling,
                                   const trellis_sequence *sequence,
                                   const struct tag_result *result, trellis_error *error)
{
    trellis_annotation annotation = {
        .struct_size = sizeof annotation,
        .labels = result->labelled.predicted,
        .spans = result->spans,
        .span_count = result->span_count,
        .span_probabilities = result->span_probabilities,
        .marginals = result->labelled.marginals,
        .all_marginals = result->all_marginals,
        .label_names = labelling->label_names,
        .label_count = trellis_model_label_count(labelling->model),
    };
    if (labelling->ranked) {
        annotation.nbest_labels = result->labelled.predicted;
        annotation.nbest_scores = result->scores;
        annotation.nbest_probabilities = result->probabilities;
        annotation.nbest_count = result->count;
    }
    return trellis_writer_put_tagged(labelling->writer, sequence, &annotation, error);
}

/* Each labelling as a sequence of its own. */
static trellis_status write_sequences(struct labelling *labelling, const trellis_sequence *sequence,
                                      const struct tag_result *result, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t k = 0; !status && k < result->count; k++) {
        size_t begin = k * sequence->length;
        if (labelling->ranked) {
            status = write_rank(labelling, result, k, error);
        }
        if (!status) {
            labelling->marginals = result->labelled.marginals ? result->labelled.marginals + begin
                                                              : NULL;
            labelling->all = result->all_marginals;
            status = trellis_writer_put(labelling->writer, sequence,
                                        result->labelled.predicted + begin, error);
        }
        if (!status &&
            (labelling->unbuffered || result->labelled.marginals || result->all_marginals)) {
            status = trellis_writer_finish(labelling->writer, error);
        }
    }
    return status;
}

static trellis_status write_labelled(void *user, const trellis_sequence *sequence,
                                     const struct tag_result *result, trellis_error *error)
{
    struct labelling *labelling = user;
    labelling->sequences++;
    labelling->exact += result->exact;
    trellis_status status = labelling->objects
                                ? write_object(labelling, sequence, result, error)
                                : write_sequences(labelling, sequence, result, error);
    if (!status && labelling->unbuffered) {
        status = trellis_writer_finish(labelling->writer, error);
        output_flush(&labelling->output);
    }
    return status;
}

/* ---- text made by several threads ------------------------------------------------------------ */

static trellis_status batch_sink(void *user, const char *data, size_t size)
{
    const struct labelling *labelling = user;
    return batch_write(labelling->batch, data, size) ? TRELLIS_OK : TRELLIS_MEMORY;
}

static trellis_status open_writer(struct labelling *labelling, trellis_error *error)
{
    bool adds = labelling->adds_columns;
    return trellis_writer_create(labelling->options, adds ? append_marginals : labelling->sink,
                                 adds ? (void *)labelling : labelling->sink_user,
                                 &labelling->writer, error);
}

static trellis_status create_context(void *user, void **ret_context, trellis_error *error)
{
    struct labelling *own = malloc(sizeof *own);
    *ret_context = own;
    if (!own) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    *own = *(const struct labelling *)user;
    own->sink = batch_sink;
    own->sink_user = own;
    own->writer = NULL;
    return open_writer(own, error);
}

static trellis_status format_result(void *context, struct batch *batch,
                                    const trellis_sequence *sequence,
                                    const struct tag_result *result, trellis_error *error)
{
    struct labelling *own = context;
    own->batch = batch;
    return write_labelled(own, sequence, result, error);
}

static trellis_status finish_batch(void *context, struct batch *batch, trellis_error *error)
{
    struct labelling *own = context;
    own->batch = batch;
    return trellis_writer_finish(own->writer, error);
}

static void destroy_context(void *user, void *context)
{
    struct labelling *labelling = user, *own = context;
    if (own) {
        labelling->sequences += own->sequences;
        labelling->exact += own->exact;
        trellis_writer_destroy(own->writer);
        free(own);
    }
}

static trellis_status write_text(void *user, const char *data, size_t size)
{
    struct labelling *labelling = user;
    return output_sink(&labelling->output, data, size);
}

static const struct formatter formatter = {.create = create_context,
                                           .format = format_result,
                                           .finish = finish_batch,
                                           .destroy = destroy_context,
                                           .write = write_text};

/* ---- options --------------------------------------------------------------------------------- */

/* The output format, with 'same' and 'text' resolved. */
static const char *output_format(const struct arguments *arguments)
{
    const char *format = trellis_options_get(arguments->options, "output-format");
    if (strcmp(format, "same") == 0) {
        format = trellis_options_get(arguments->options, "format");
    }
    return strcmp(format, "text") == 0 ? "columns" : format;
}

/* Rejects output that the format cannot represent. */
static trellis_status check_format(const struct arguments *arguments, const struct tagging *tagging,
                                   trellis_error *error)
{
    const char *format = output_format(arguments);
    bool adds_columns = tagging->marginals || tagging->all_marginals;
    if (adds_columns && strcmp(format, "columns") != 0 && strcmp(format, "jsonl") != 0) {
        return set_error(error, TRELLIS_OPTION,
                         "--marginals adds a column, which format '%s' does not support; use "
                         "--output-format columns or jsonl",
                         format);
    }
    return TRELLIS_OK;
}

static size_t nbest_size(const struct arguments *arguments)
{
    return strtoul(trellis_options_get(arguments->options, "nbest"), NULL, 10);
}

/* Rejects incompatible options. */
static int check_options(const struct arguments *arguments)
{
    const char *decode = trellis_options_get(arguments->options, "decode");
    if (strcmp(decode, "viterbi") != 0 && nbest_size(arguments) > 1) {
        return usage_error(arguments->command, "--nbest needs --decode viterbi, not %s", decode);
    }
    if (nbest_size(arguments) > 1 && argument_flag(arguments, "all-marginals")) {
        return usage_error(arguments->command, "--nbest cannot be combined with --all-marginals");
    }
    if (nbest_size(arguments) > 1 &&
        strtod(trellis_options_get(arguments->options, "threshold"), NULL) > 0) {
        return usage_error(arguments->command, "--nbest cannot be combined with --threshold");
    }
    if (strcmp(decode, "beam") != 0 && argument_flag(arguments, "check")) {
        return usage_error(arguments->command, "--check needs --decode beam, not %s", decode);
    }
    return check_cost(arguments);
}

/* Appends a name to a list; of the names before, one that is the same is now that of an old
 * column. */
static void add_name(char *names, size_t room, const char *name)
{
    char before[1000];
    size_t used = 0;
    snprintf(before, sizeof before, "%s", names);
    for (const char *at = before; *at && used < room;) {
        int size = (int)strcspn(at, ",");
        bool old = size > 0 && (size_t)size == strlen(name) && strncasecmp(at, name, size) == 0;
        used += (size_t)snprintf(names + used, room - used, "%s%.*s,", old ? "old_" : "", size, at);
        at += size;
        at += *at == ',';
    }
    if (used < room) {
        snprintf(names + used, room - used, "%s", name);
    }
}

/* The options of the writer: it has to know what the columns that a chain adds are called. */
static trellis_status writer_options(const struct arguments *arguments, const struct chain *chain,
                                     trellis_options **ret_options, trellis_error *error)
{
    static const char conllu[] = "ID,FORM,LEMMA,UPOS,XPOS,FEATS,HEAD,DEPREL,DEPS,MISC";
    char names[1000];
    const char *given = trellis_options_get(arguments->options, "columns");
    bool is_conllu = strcmp(trellis_options_get(arguments->options, "format"), "conllu") == 0;
    trellis_status status = trellis_options_copy(arguments->options, ret_options, error);
    snprintf(names, sizeof names, "%s", *given ? given : is_conllu ? conllu : "word");
    for (size_t i = 0; i < chain->count; i++) {
        char *name = chain_column_name(chain->models[i]);
        add_name(names, sizeof names, name ? name : "");
        free(name);
    }
    return status || !chain->count ? status
                                   : trellis_options_set(*ret_options, "columns", names, error);
}

static trellis_status create_writer(struct labelling *labelling, const struct arguments *arguments,
                                    struct tagging *tagging, trellis_error *error)
{
    const trellis_model *model = tagging->model;
    size_t labels = trellis_model_label_count(model);
    labelling->objects = strcmp(output_format(arguments), "jsonl") == 0;
    tagging->spans = labelling->objects && trellis_model_has_spans(model);
    labelling->label_names = calloc(labels + 1, sizeof *labelling->label_names);
    if (!labelling->label_names) {
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (size_t k = 0; k < labels; k++) {
        labelling->label_names[k] = trellis_model_label(model, k);
    }
    labelling->adds_columns = !labelling->objects && (tagging->marginals || tagging->all_marginals);
    labelling->sink = output_sink;
    labelling->sink_user = &labelling->output;
    trellis_status status = writer_options(arguments, tagging->chain, &labelling->options, error);
    return status ? status : open_writer(labelling, error);
}

static trellis_status tag(struct labelling *labelling, const struct arguments *arguments,
                          const trellis_model *model, struct chain *chain, trellis_error *error)
{
    struct tagging tagging = {
        .model = model,
        .chain = chain,
        .options = arguments->options,
        .tagged = write_labelled,
        .user = labelling,
        .formatter = &formatter,
        .nbest = nbest_size(arguments),
        .marginals = argument_flag(arguments, "marginals"),
        .all_marginals = argument_flag(arguments, "all-marginals"),
        .check = argument_flag(arguments, "check"),
    };
    labelling->ranked = tagging.nbest > 1;
    labelling->model = model;
    tagging.paths = argument_inputs(arguments, &tagging.path_count);
    trellis_status status = take_input_defaults(chain->count ? chain->models[0] : model, arguments,
                                                false, error);
    if (!status) {
        status = resolve_format(arguments, error);
    }
    if (!status) {
        status = check_format(arguments, &tagging, error);
    }
    if (!status) {
        status = create_writer(labelling, arguments, &tagging, error);
    }
    if (!status) {
        status = tagging_run(&tagging, labelling->unbuffered ? 1 : argument_threads(arguments),
                             error);
    }
    /* Sequences tagged before an error in the input are written in any case. */
    trellis_error late = {0};
    if (labelling->writer && trellis_writer_finish(labelling->writer, &late) && !status) {
        status = late.status;
        *error = late;
    }
    trellis_writer_destroy(labelling->writer);
    trellis_options_destroy(labelling->options);
    free(labelling->label_names);
    if (!status && tagging.check && labelling->sequences > 0) {
        message("%.2f %% of %" PRIu64 " sequence%s have the same score as with exact search",
                100 * (double)labelling->exact / (double)labelling->sequences, labelling->sequences,
                plural(labelling->sequences));
    }
    return status;
}

static int run_chain(const struct arguments *arguments, struct chain *chain)
{
    struct labelling labelling = {0};
    trellis_error error = {0};
    int result = output_open(&labelling.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        labelling.unbuffered = argument_flag(arguments, "unbuffered") ||
                               isatty(fileno(labelling.output.file));
        trellis_status status = tag(&labelling, arguments, chain->last, chain, &error);
        result = output_end(&labelling.output, status, &error);
    }
    return result;
}

static int run(const struct arguments *arguments)
{
    if (!argument(arguments, "model")) {
        return usage_error(arguments->command, "-m is missing: the model to tag with");
    }
    int result = check_options(arguments);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    struct chain chain = {0};
    trellis_error error = {0};
    trellis_status status = chain_open_models(&chain, arguments, &error);
    result = status ? failure(status, &error) : run_chain(arguments, &chain);
    chain_close_models(&chain);
    return result;
}

static const struct own_option own[] = {
    {"model", 'm', "FILE",
     "The model. Required. If several are given, each adds its labels as a column for the next, "
     "which finds them by the name that the label had in training (--columns), or without names "
     "where the label was."},
    OWN_OUTPUT,
    {"unbuffered", 0, NULL,
     "Write each sequence as soon as it is tagged, using one thread. The default on a terminal."},
    {"marginals", 0, NULL,
     "Append a column with the marginal probability of each predicted label; in JSON lines, the "
     "member 'marginals'. For crf, maxent, hmm and memm models."},
    {"all-marginals", 0, NULL,
     "Append a column LABEL:PROBABILITY for each label of the model, in its internal label "
     "scheme; in JSON lines, the member 'all_marginals'."},
    {"check", 0, NULL,
     "With --decode beam, report on standard error for how many sequences the beam found a path as "
     "good as exact search does."},
    {0},
};

const struct command command_tag = {
    .name = "tag",
    .summary = "tag sequences with a model",
    .synopsis = "-m MODEL [-m MODEL...] [OPTION...] [FILE...]",
    .description =
        "Reads sequences from files or standard input and writes them with the predicted labels "
        "appended as the last column. The columns must be those of the training data; the label "
        "column may be missing.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS | TRELLIS_GROUP_WRITE | TRELLIS_GROUP_TAG |
              TRELLIS_GROUP_RUN,
    .without = "scheme to-scheme seed memory",
    .common = "format output-format nbest threshold label threads",
    .examples = "trellis tag -m pos.model test.txt > tagged.txt\n"
                "# plain text\n"
                "echo 'The dog barks .' | trellis tag -m pos.model --format text\n"
                "# from running text to entities: each model adds a column for the next\n"
                "trellis tag -m pos.model -m chunk.model -m ner.model --format text letter.txt\n"
                "# the five best labellings of each sentence, with their probabilities\n"
                "trellis tag -m pos.model --nbest 5 test.txt\n"
                "# only entities with a probability of at least 0.9\n"
                "trellis tag -m ner.model --threshold 0.9 test.txt\n"
                "# entities with their places in the text and their probabilities, as JSON\n"
                "trellis tag -m ner.model --format text --output-format jsonl letter.txt\n"
                "# a compressed treebank, written as word/tag pairs\n"
                "trellis tag -m pos.model --output-format wordtag -o out.txt test.conllu.gz\n",
    .run = run,
};

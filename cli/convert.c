/* convert.c - `trellis convert`: converts corpora to another format or label scheme, and models. */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "model_file.h"
#include "output_file.h"
#include "for_each_sequence.h"

struct conversion {
    struct output output;
    trellis_writer *writer;
    trellis_scheme from, to; // `to` is TRELLIS_NO_SCHEME: keep the labels
    trellis_scheme_storage *storage;
    /* A sequence with its new labels: */
    trellis_text *cells; // [cell_room]
    size_t cell_room;
    trellis_text *rows; // [row_room]
    size_t row_room;
    char *bytes; // [byte_room] of the rows
    size_t byte_room;
};

/* The array, or a larger one without its contents if it has fewer than `need` elements; NULL on
 * allocation failure, with *room at 0. */
static void *make_room(void *array, size_t *room, size_t need, size_t size)
{
    if (array && need <= *room) {
        return array;
    }
    free(array);
    array = calloc(need ? need : 1, size);
    *room = array ? need : 0;
    return array;
}

/* The label column: a reader's labels share their memory with its cells. */
static size_t label_column(const trellis_sequence *sequence)
{
    for (size_t c = sequence->columns; c-- > 0;) {
        if (sequence->cells[c].data == sequence->labels[0].data) {
            return c;
        }
    }
    return SIZE_MAX;
}

static bool replace_cells(struct conversion *conversion, trellis_sequence *sequence,
                          const trellis_text *labels)
{
    size_t column = sequence->columns ? label_column(sequence) : SIZE_MAX;
    size_t count = sequence->length * sequence->columns;
    if (column == SIZE_MAX) {
        return true;
    }
    conversion->cells = make_room(conversion->cells, &conversion->cell_room, count,
                                  sizeof *conversion->cells);
    if (!conversion->cells) {
        return false;
    }
    memcpy(conversion->cells, sequence->cells, count * sizeof *conversion->cells);
    for (size_t i = 0; i < sequence->length; i++) {
        conversion->cells[i * sequence->columns + column] = labels[i];
    }
    sequence->cells = conversion->cells;
    return true;
}

static bool lies_within(trellis_text part, trellis_text whole)
{
    return (uintptr_t)part.data >= (uintptr_t)whole.data &&
           (uintptr_t)part.data + part.size <= (uintptr_t)whole.data + whole.size;
}

/* Whether the row of each token contains its label, so that it can be replaced in place. *ret_bytes
 * bounds the size of the new rows. */
static bool rows_hold_labels(const trellis_sequence *sequence, const trellis_text *labels,
                             size_t *ret_bytes)
{
    *ret_bytes = 0;
    for (size_t r = 0; r < sequence->row_count; r++) {
        size_t token = sequence->row_token[r];
        *ret_bytes += sequence->rows[r].size;
        if (token < sequence->length) {
            *ret_bytes += labels[token].size;
            if (!lies_within(sequence->labels[token], sequence->rows[r])) {
                return false;
            }
        }
    }
    return sequence->rows && sequence->row_token;
}

static char *put(char *at, const char *from, const char *to)
{
    memcpy(at, from, (size_t)(to - from));
    return at + (to - from);
}

/* Replaces `old_label` in the row by `new_label`; returns the end of its bytes. */
static char *replace_label(char *at, trellis_text *row, trellis_text old_label,
                           trellis_text new_label)
{
    const char *begin = at, *row_end = row->data + row->size;
    at = put(at, row->data, old_label.data);
    at = put(at, new_label.data, new_label.data + new_label.size);
    at = put(at, old_label.data + old_label.size, row_end);
    *row = (trellis_text){begin, (size_t)(at - begin)};
    return at;
}

/* Rows that do not contain the label verbatim, such as JSON, are dropped: the writer makes new
 * ones. */
static bool replace_rows(struct conversion *conversion, trellis_sequence *sequence,
                         const trellis_text *labels)
{
    size_t bytes;
    if (!rows_hold_labels(sequence, labels, &bytes)) {
        sequence->rows = NULL;
        sequence->row_token = NULL;
        sequence->row_count = 0;
        return true;
    }
    conversion->rows = make_room(conversion->rows, &conversion->row_room, sequence->row_count,
                                 sizeof *conversion->rows);
    conversion->bytes = make_room(conversion->bytes, &conversion->byte_room, bytes, 1);
    if (!conversion->rows || !conversion->bytes) {
        return false;
    }
    char *at = conversion->bytes;
    for (size_t r = 0; r < sequence->row_count; r++) {
        size_t token = sequence->row_token[r];
        conversion->rows[r] = sequence->rows[r];
        if (token < sequence->length) {
            at = replace_label(at, &conversion->rows[r], sequence->labels[token], labels[token]);
        }
    }
    sequence->rows = conversion->rows;
    return true;
}

static bool relabel(struct conversion *conversion, trellis_sequence *sequence,
                    const trellis_text *labels)
{
    if (!replace_rows(conversion, sequence, labels) ||
        !replace_cells(conversion, sequence, labels)) {
        return false;
    }
    sequence->labels = labels;
    return true;
}

static trellis_status convert_sequence(void *user, const struct source *source,
                                       const trellis_sequence *sequence, trellis_error *error)
{
    struct conversion *conversion = user;
    trellis_sequence changed = *sequence;
    if (conversion->to != TRELLIS_NO_SCHEME) {
        const trellis_text *labels;
        if (!sequence->labels) {
            return set_error(error, TRELLIS_DATA, "%s:%llu: no labels to convert; see --label",
                             source->path, (unsigned long long)sequence->line);
        }
        trellis_status status = trellis_scheme_convert(conversion->from, conversion->to,
                                                       sequence->labels, sequence->length,
                                                       &conversion->storage, &labels, error);
        if (status) {
            return status;
        }
        if (!relabel(conversion, &changed, labels)) {
            return set_error(error, TRELLIS_MEMORY, "out of memory");
        }
    }
    return trellis_writer_put(conversion->writer, &changed, NULL, error);
}

static trellis_status convert(struct conversion *conversion, const struct arguments *arguments,
                              trellis_error *error)
{
    trellis_status status = resolve_format(arguments, error);
    if (!status) {
        status = trellis_writer_create(arguments->options, output_sink, &conversion->output,
                                       &conversion->writer, error);
    }
    if (!status) {
        status = for_each_sequence(arguments, convert_sequence, conversion, error);
    }
    if (!status) {
        status = trellis_writer_finish(conversion->writer, error);
    }
    trellis_writer_destroy(conversion->writer);
    return status;
}

/* Converts an HMM, given as text or as a model, to a linear model. */
static int run_linear(const struct arguments *arguments, const char *hmm)
{
    const char *path = argument(arguments, "output");
    if (!path) {
        return usage_error(arguments->command, "--linear needs -o: the model file to write");
    }
    int result = check_model_target(arguments->command, path);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = open_model(hmm, NULL, &model, &error);
    if (!status) {
        status = trellis_model_check_hmm(model, &error);
    }
    if (!status) {
        status = save_model(model, path, &error);
    }
    trellis_model_close(model);
    return status ? failure(status, &error) : EXIT_SUCCESS;
}

/* Writes a model as CRFsuite reads it. */
static int run_crfsuite(const struct arguments *arguments, const char *from)
{
    struct output output;
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = open_model(from, NULL, &model, &error);
    if (status) {
        return failure(status, &error);
    }
    int result = output_open(&output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        status = trellis_model_write_crfsuite(model, output_sink, &output, &error);
        result = output_end(&output, status, &error);
    }
    trellis_model_close(model);
    return result;
}

/* Converts a model to one of ours with the given number of bits per weight, or to that of another
 * program. */
static int run_model(const struct arguments *arguments, const char *from)
{
    const char *path = argument(arguments, "output"), *to = argument(arguments, "to");
    if (to && strcmp(to, "crfsuite") == 0) {
        return trellis_options_given(arguments->options, "bits")
                   ? usage_error(arguments->command,
                                 "--bits is for models of Trellis, not for --to")
                   : run_crfsuite(arguments, from);
    }
    if (to && strcmp(to, "trellis") != 0) {
        return usage_error(arguments->command, "--to is one of trellis, crfsuite");
    }
    if (!path) {
        return usage_error(arguments->command, "--model needs -o: the model file to write");
    }
    int result = check_model_target(arguments->command, path);
    if (result != EXIT_SUCCESS) {
        return result;
    }
    int bits = (int)strtol(trellis_options_get(arguments->options, "bits"), NULL, 10);
    trellis_model *model = NULL, *packed = NULL;
    trellis_error error = {0};
    trellis_status status = open_model(from, NULL, &model, &error);
    if (!status) {
        status = trellis_model_repack(model, bits, &packed, &error);
    }
    if (!status) {
        status = save_model(packed, path, &error);
    }
    trellis_model_close(packed);
    trellis_model_close(model);
    return status ? failure(status, &error) : EXIT_SUCCESS;
}

static int run(const struct arguments *arguments)
{
    const trellis_options *options = arguments->options;
    if (argument(arguments, "model")) {
        return run_model(arguments, argument(arguments, "model"));
    }
    if (trellis_options_given(options, "bits")) {
        return usage_error(arguments->command, "--bits needs --model: the model to convert");
    }
    if (argument(arguments, "to")) {
        return usage_error(arguments->command, "--to needs --model: the model to convert");
    }
    if (argument(arguments, "linear")) {
        return run_linear(arguments, argument(arguments, "linear"));
    }
    struct conversion conversion = {
        .from = trellis_scheme_from_name(trellis_options_get(options, "scheme")),
        .to = trellis_scheme_from_name(trellis_options_get(options, "to-scheme")),
    };
    if (conversion.to != TRELLIS_NO_SCHEME && conversion.from == TRELLIS_NO_SCHEME) {
        return usage_error(arguments->command,
                           "--to-scheme needs --scheme: the label scheme of the input");
    }
    trellis_error error = {0};
    int result = output_open(&conversion.output, argument(arguments, "output"));
    if (result == EXIT_SUCCESS) {
        trellis_status status = convert(&conversion, arguments, &error);
        result = output_end(&conversion.output, status, &error);
    }
    trellis_scheme_storage_destroy(conversion.storage);
    free(conversion.cells);
    free(conversion.rows);
    free(conversion.bytes);
    return result;
}

static const struct own_option own[] = {
    {"linear", 0, "HMM",
     "Convert an HMM instead of a corpus, given as a text of probabilities or as a model, to a "
     "linear model whose weights are log-probabilities. Needs -o."},
    {"model", 'm', "MODEL",
     "Convert a model, ours or that of another program, instead of a corpus: store its weights in "
     "--bits bits. Needs -o."},
    {"to", 0, "PROGRAM",
     "Write the --model for another program: crfsuite, if it is of order 0 or 1 without weights of "
     "first and last labels, edge attributes or a tag dictionary. [trellis]"},
    OWN_OUTPUT,
    {0},
};

const struct command command_convert = {
    .name = "convert",
    .summary = "convert corpora to another format or label scheme, and models",
    .synopsis = "[OPTION...] [FILE...]",
    .description = "Reads corpora in one format and writes them in another, or with span labels in "
                   "another scheme. Illegal label sequences are interpreted as conlleval does.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_LIMITS | TRELLIS_GROUP_WRITE,
    .with = "seed bits",
    .common = "format output-format label scheme to-scheme bits",
    .examples = "# a treebank as word/tag pairs\n"
                "trellis convert --label UPOS --output-format wordtag en.conllu > en.txt\n"
                "# from IOB2 to IOBES\n"
                "trellis convert --scheme iob2 --to-scheme iobes train.txt > train.iobes\n"
                "# an HMM given as text\n"
                "trellis convert --linear data/hmm/pidgin.txt -o pidgin.model\n"
                "# a model with 16-bit weights\n"
                "trellis convert -m pos.model --bits 16 -o small.model\n"
                "# a model of CRFsuite as one of ours, and back\n"
                "trellis convert -m chunk.crfsuite -o chunk.model\n"
                "trellis convert -m chunk.model --to crfsuite -o chunk.crfsuite\n",
    .run = run,
};

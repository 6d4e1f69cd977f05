/* convert.c - `trellis convert`: rewrites corpora in another format or label scheme. */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output_file.h"
#include "for_each_sequence.h"

struct conversion {
    struct output output;
    trellis_writer *writer;
    trellis_scheme from, to; // `to` is TRELLIS_NO_SCHEME: the labels stay as they are
    trellis_scheme_storage *storage;
    /* A sequence with its new labels: */
    trellis_text *cells; // [cell_room]
    size_t cell_room;
    trellis_text *rows; // [row_room]
    size_t row_room;
    char *bytes; // [byte_room] of the rows
    size_t byte_room;
};

/* Makes room for `need` elements in an array that need not keep what is in it. */
static bool make_room(void **array, size_t *room, size_t need, size_t size)
{
    if (need <= *room) {
        return true;
    }
    free(*array);
    *array = calloc(need, size);
    *room = *array ? need : 0;
    return *array;
}

/* A reader's labels are the very cells of the label's column, which tells that column. */
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
    if (!make_room((void **)&conversion->cells, &conversion->cell_room, count,
                   sizeof *conversion->cells)) {
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

/* Whether each row of a token has its label in it, so that it can be replaced there; adds up the
 * bytes that the rows will need at most. */
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

/* The row with `new_label` where `old_label` was; returns the end of its bytes. */
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

/* Rows that do not have the label in them as it is, such as JSON, go: the writer makes new ones. */
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
    if (!make_room((void **)&conversion->rows, &conversion->row_room, sequence->row_count,
                   sizeof *conversion->rows) ||
        !make_room((void **)&conversion->bytes, &conversion->byte_room, bytes, 1)) {
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

/* Puts the labels in the place of the old ones. */
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
            return set_error(error, TRELLIS_DATA, "%s:%llu: there are no labels to convert",
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
    trellis_status status = settle_format(arguments, error);
    if (!status) {
        status = trellis_writer_create(arguments->options, output_sink, &conversion->output,
                                       &conversion->writer, error);
    }
    if (!status) {
        status = visit_sequences(arguments, convert_sequence, conversion, error);
    }
    if (!status) {
        status = trellis_writer_finish(conversion->writer, error);
    }
    trellis_writer_destroy(conversion->writer);
    return status;
}

/* An HMM, as text or as a model, as the weights of a linear model. */
static int run_linear(const struct arguments *arguments, const char *hmm)
{
    const char *path = argument(arguments, "output");
    if (!path || strcmp(path, "-") == 0) {
        return usage_error(arguments->command, "--linear needs -o: where to write the model");
    }
    trellis_model *model = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_model_open(hmm, &model, &error);
    if (!status) {
        status = trellis_model_check_hmm(model, &error);
    }
    if (!status) {
        status = trellis_model_save(model, path, &error);
    }
    trellis_model_close(model);
    return status ? failure(status, &error) : EXIT_SUCCESS;
}

/* A model with its weights in another number of bits. */
static int run_model(const struct arguments *arguments, const char *from)
{
    const char *path = argument(arguments, "output");
    if (!path || strcmp(path, "-") == 0) {
        return usage_error(arguments->command, "--model needs -o: where to write the model");
    }
    int bits = (int)strtol(trellis_options_get(arguments->options, "bits"), NULL, 10);
    trellis_model *model = NULL, *packed = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_model_open(from, &model, &error);
    if (!status) {
        status = trellis_model_repack(model, bits, &packed, &error);
    }
    if (!status) {
        status = trellis_model_save(packed, path, &error);
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
    if (argument(arguments, "linear")) {
        return run_linear(arguments, argument(arguments, "linear"));
    }
    struct conversion conversion = {
        .from = trellis_scheme_from_name(trellis_options_get(options, "scheme")),
        .to = trellis_scheme_from_name(trellis_options_get(options, "to-scheme")),
    };
    if (conversion.to != TRELLIS_NO_SCHEME && conversion.from == TRELLIS_NO_SCHEME) {
        return usage_error(arguments->command, "--to-scheme needs --scheme, that of the input");
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
     "Convert no corpus but an HMM, a text of probabilities or a model, into a linear model whose weights "
     "are their logarithms; -o says where to."},
    {"model", 'm', "MODEL",
     "Convert no corpus but a model: its weights into as many --bits; -o says where to."},
    {"output", 'o', "FILE", "Write to FILE, which appears when all is done. [-]"},
    {0},
};

const struct command command_convert = {
    .name = "convert",
    .summary = "rewrite corpora in another format or label scheme",
    .synopsis = "[OPTION...] [FILE...]",
    .description = "Reads corpora in one format and writes them in another, or with the labels of "
                   "their spans in another scheme. Sequences with illegal labels are read by the "
                   "rules of conlleval, which give every sequence a meaning.",
    .own = own,
    .groups = TRELLIS_GROUP_READ | TRELLIS_GROUP_WRITE,
    .with = "seed bits",
    .examples = "# a treebank as words with tags\n"
                "trellis convert --label UPOS --output-format wordtag en.conllu > en.txt\n"
                "# one letter for each place in a span\n"
                "trellis convert --scheme iob2 --to-scheme iobes train.txt > train.iobes\n"
                "# the HMM of a text as a model\n"
                "trellis convert --linear data/hmm/pidgin.txt -o pidgin.model\n"
                "# a model with weights of 16 bits\n"
                "trellis convert -m pos.model --bits 16 -o small.model\n",
    .run = run,
};

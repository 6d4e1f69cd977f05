/* memory_reader.c - sequences of a corpus in memory, and of a function of the caller's. */
#include "base/structs.h"
#include "corpus/reader.h"

bool tr_take_column_names(trellis_reader *reader)
{
    const trellis_source *source = &reader->source;
    size_t count = source->corpus ? tr_corpus_column_count(source->corpus) : source->column_count;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const char *name = source->corpus         ? tr_corpus_column_name(source->corpus, i)
                           : source->column_names ? source->column_names[i]
                                                  : NULL;
        char *copy = name ? tr_copy_text(name, strlen(name)) : NULL;
        ok = (copy || !name) && tr_push(&reader->names.found, copy);
        if (!ok) {
            free(copy);
        }
    }
    reader->label_column = source->corpus         ? tr_corpus_label_column(source->corpus)
                           : source->label_column ? source->label_column - 1
                                                  : TR_NO_COLUMN;
    return ok;
}

static trellis_status read_corpus(trellis_reader *reader, trellis_error *error)
{
    const trellis_corpus *corpus = reader->source.corpus;
    if (reader->taken >= trellis_corpus_sequences(corpus)) {
        return TRELLIS_END;
    }
    if (!tr_corpus_view(corpus, reader->taken++, &reader->view)) {
        return tr_fail_memory(error);
    }
    reader->sequence = reader->view.sequence;
    return TRELLIS_OK;
}

static trellis_status read_function(trellis_reader *reader, trellis_error *error)
{
    const trellis_sequence *sequence = NULL;
    const trellis_source *source = &reader->source;
    trellis_error found = {0};
    trellis_status status = source->next(source->user, &sequence, &found);
    if (status == TRELLIS_END) {
        return status;
    }
    size_t number = ++reader->taken;
    if (status) {
        return tr_fail(error, status, "%s: sequence %zu: %s",
                       source->name ? source->name : "memory", number,
                       *found.message ? found.message : trellis_status_meaning(status));
    }
    if (!tr_struct_take(&reader->sequence, sizeof reader->sequence, sequence)) {
        return tr_fail(error, TRELLIS_OPTION, "sequence %zu: struct_size is not set", number);
    }
    return tr_sequence_check(&reader->sequence, number, error);
}

const struct tr_format tr_format_corpus = {.name = "corpus", .read = read_corpus};
const struct tr_format tr_format_function = {.name = "function", .read = read_function};

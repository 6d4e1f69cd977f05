/* source.c - what must be known of a source of sequences before it is read. */
#include "base/options.h"
#include "corpus/memory_corpus.h"
#include "corpus/corpus.h"

const char *tr_source_name(const trellis_source *source)
{
    if (source->name) {
        return source->name;
    }
    return !source->path                    ? "memory"
           : strcmp(source->path, "-") == 0 ? "standard input"
                                            : source->path;
}

bool tr_source_is_rereadable(const trellis_source *source)
{
    return source->path ? strcmp(source->path, "-") != 0 : !source->next || source->rewind;
}

bool tr_source_is_ready_made(const trellis_source *source, const trellis_options *options)
{
    return source->corpus ? tr_corpus_columns(source->corpus) == 0
           : source->next ? source->column_count == 0
                          : tr_option_is(options, "format", "crfsuite");
}

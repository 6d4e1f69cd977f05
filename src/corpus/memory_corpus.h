/* memory_corpus.h - sequences in memory, for readers and for the library itself. */
#ifndef TRELLIS_CORPUS_MEMORY_CORPUS_H
#define TRELLIS_CORPUS_MEMORY_CORPUS_H

#include "base/intern.h"

/* Room for one sequence as texts. */
struct tr_corpus_view {
    TR_ARRAY(trellis_text) cells, labels;
    TR_ARRAY(trellis_attribute) attributes;
    TR_ARRAY(size_t) attribute_begin;
    trellis_sequence sequence;
};
/* Fills the view with a sequence of the corpus, which must not change while it is used; false on
 * allocation failure. `index` must be below the number of sequences. */
bool tr_corpus_view(const trellis_corpus *corpus, size_t index, struct tr_corpus_view *view);
void tr_corpus_view_free(struct tr_corpus_view *view);

/* Columns of each sequence. */
size_t tr_corpus_columns(const trellis_corpus *corpus);
/* How many columns have been named. */
size_t tr_corpus_column_count(const trellis_corpus *corpus);
/* The name of a column, NULL if it has none. */
const char *tr_corpus_column_name(const trellis_corpus *corpus, size_t column);
/* The column of `cells` that has the label; SIZE_MAX if there is none. */
size_t tr_corpus_label_column(const trellis_corpus *corpus);

#endif

/* crfsuite.h - what the writer asks about a row of CRFsuite's format. */
#ifndef TRELLIS_CORPUS_CRFSUITE_H
#define TRELLIS_CORPUS_CRFSUITE_H

#include "corpus/reader.h"

/* The field of the label, as it is written; no data where the row has none. */
trellis_text tr_crfsuite_label(trellis_text row);

#endif

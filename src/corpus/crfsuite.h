/* crfsuite.h - what the writer needs to know of a row in CRFsuite's format. */
#ifndef TRELLIS_CORPUS_CRFSUITE_H
#define TRELLIS_CORPUS_CRFSUITE_H

#include "corpus/reader.h"

/* The field of the label, with escapes; NULL data if the row has none. */
trellis_text tr_crfsuite_label(trellis_text row);

#endif

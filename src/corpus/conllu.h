/* conllu.h - the columns of CoNLL-U that reader and writer both know. */
#ifndef TRELLIS_CORPUS_CONLLU_H
#define TRELLIS_CORPUS_CONLLU_H

enum { TR_CONLLU_FORM = 1, TR_CONLLU_UPOS = 3, TR_CONLLU_COLUMNS = 10 };

#endif

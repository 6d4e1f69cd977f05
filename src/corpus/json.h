/* json.h - JSON parsed by jansson, with running out of memory told from bad syntax. */
#ifndef TRELLIS_CORPUS_JSON_H
#define TRELLIS_CORPUS_JSON_H

#include <jansson.h>

#include "base/text.h"

/* NULL where the text is wrong, and on allocation failure, which *ret_memory (false then) tells. `flags` are
 * jansson's. */
json_t *tr_json_load(trellis_text text, size_t flags, json_error_t *wrong, bool *ret_memory);

#endif

/* json.h - parses JSON by jansson, and tells allocation failure from bad syntax. */
#ifndef TRELLIS_CORPUS_JSON_H
#define TRELLIS_CORPUS_JSON_H

#include <jansson.h>

#include "base/text.h"

/* NULL if the text is not valid JSON, or on allocation failure; then *ret_memory is false. `flags`
 * are jansson's. */
json_t *tr_json_load(trellis_text text, size_t flags, json_error_t *wrong, bool *ret_memory);

/* Whether a member of an object has a meaning of its own, and is not a column. */
bool tr_json_is_reserved(const char *key);

#endif

/* json.c - JSON parsed by jansson, with running out of memory told from bad syntax. */
#include "corpus/json.h"

/* Where memory runs out within a string, jansson calls it bad syntax; so before that is believed, there must
 * be memory, and the text must be wrong twice. */
json_t *tr_json_load(trellis_text text, size_t flags, json_error_t *wrong, bool *ret_memory)
{
    json_t *json = json_loadb(text.data, text.size, flags, wrong);
    *ret_memory = true;
    if (!json) {
        void *room = tr_alloc(text.size + 1, 1);
        *ret_memory = room;
        free(room);
        json = room ? json_loadb(text.data, text.size, flags, wrong) : NULL;
    }
    if (!json && json_error_code(wrong) == json_error_out_of_memory) {
        *ret_memory = false;
    }
    return json;
}

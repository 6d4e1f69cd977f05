/* json.c - parses JSON by jansson, and tells allocation failure from bad syntax. */
#include "corpus/json.h"

/* Within a string, jansson reports an allocation failure as bad syntax; so before that is believed,
 * an allocation of that size must succeed and the text must be refused twice. */
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

bool tr_json_is_reserved(const char *key)
{
    static const char *const reserved[] = {"tokens",    "labels",        "attributes",
                                           "weight",    "offsets",       "spans",
                                           "marginals", "all_marginals", "nbest"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof reserved / sizeof *reserved; i++) {
        found = strcmp(reserved[i], key) == 0;
    }
    return found;
}

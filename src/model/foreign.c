/* foreign.c - the models of other programs that can be opened. */
#include "model/foreign.h"

static const struct tr_foreign_format *const formats[] = {
    &tr_foreign_crfsuite,
    &tr_foreign_wapiti,
    &tr_foreign_crfpp,
};

const struct tr_foreign_format *tr_foreign_find(trellis_text bytes)
{
    for (size_t i = 0; i < TR_COUNT(formats); i++) {
        if (formats[i]->recognises(bytes)) {
            return formats[i];
        }
    }
    return NULL;
}

trellis_status tr_foreign_damaged(const struct tr_foreign_format *format, const char *path,
                                  const char *what, trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "%s: the %s model is damaged: %s", path ? path : "model",
                   format->program, what);
}

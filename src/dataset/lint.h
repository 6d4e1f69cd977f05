/* lint.h - checks data for what is usually a mistake; see the public header. */
#ifndef TRELLIS_DATASET_LINT_H
#define TRELLIS_DATASET_LINT_H

#include "base/error.h"

/* Checks a sequence that was read from a source of this name. */
trellis_status tr_lint_add(trellis_lint *lint, const trellis_reader *reader, const char *name,
                           const trellis_sequence *sequence, trellis_data_role role,
                           trellis_error *error);

#endif

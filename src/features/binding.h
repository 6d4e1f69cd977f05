/* binding.h - which column of the input is which column of the templates. */
#ifndef TRELLIS_FEATURES_BINDING_H
#define TRELLIS_FEATURES_BINDING_H

#include "features/compiled.h"

struct tr_binding {
    size_t *at; // [columns] SIZE_MAX where the input lacks an optional one
    bool made;
};

bool tr_binding_create(struct tr_binding *binding, const trellis_features *features);
void tr_binding_free(struct tr_binding *binding);
trellis_status tr_binding_make(struct tr_binding *binding, const trellis_features *features,
                               const trellis_reader *reader, size_t label_column,
                               trellis_error *error);

static inline size_t tr_binding_at(const struct tr_binding *binding, uint32_t column)
{
    return binding->at[column];
}

#endif

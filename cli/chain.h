/* chain.h - models that run one after the other: each adds its labels as a column for the next. */
#ifndef TRELLIS_CLI_CHAIN_H
#define TRELLIS_CLI_CHAIN_H

#include "arguments.h"

enum { MAX_CHAIN = 16 };

/* The models before the last one, and where they read from. */
struct chain {
    trellis_model *models[MAX_CHAIN]; // [count]
    size_t count;                     // 0: there is one model only
    trellis_model *last;              // that reads what they pass on
    bool gold;                        // the labels of the input are needed
    struct chain_stage *stages;       // [count] of the file being read
};

/* Opens the models of the option -m in the order given. Call chain_close_models() in any case. */
trellis_status chain_open_models(struct chain *chain, const struct arguments *arguments,
                                 trellis_error *error);
void chain_close_models(struct chain *chain);

/* The column that a model adds: what its label was called in training; NULL if it had no name. To be
 * freed. */
char *chain_column_name(const trellis_model *model);

/* Opens a file for the last model: its sequences have a column more for each model of the chain.
 * Close the reader first, then the chain. */
trellis_status chain_open(struct chain *chain, const char *path, const trellis_options *options,
                          trellis_reader **ret_reader, trellis_error *error);
void chain_close(struct chain *chain);

#endif

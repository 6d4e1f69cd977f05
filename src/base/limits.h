/* limits.h - how much of a machine input may take: the options of TRELLIS_GROUP_LIMITS, resolved.
 *
 * Whatever reads bytes, builds a sequence or searches takes its bounds from here; a larger input is
 * TRELLIS_LIMIT, with a message that names the option.
 */
#ifndef TRELLIS_BASE_LIMITS_H
#define TRELLIS_BASE_LIMITS_H

#include "base/options.h"

struct tr_limits {
    uint64_t memory;         // --memory; 0: none
    uint64_t length;         // tokens of a sequence
    uint64_t sequence_bytes; // of its lines
    uint64_t token_bytes;
    uint64_t file_bytes; // of a file read as a whole, decompressed
    uint64_t ratio;      // of decompressed to compressed bytes
    uint64_t matches;    // steps of regular expressions in one sequence
    uint64_t labellings; // labels in all labellings of an n-best list
};

/* The limits of a set of options; NULL for the defaults. TRELLIS_OPTION for a size that is none. */
trellis_status tr_limits_resolve(const trellis_options *options, struct tr_limits *ret_limits,
                                 trellis_error *error);
/* Bytes from "500M", "8G", "1000000". */
bool tr_parse_size(const char *text, uint64_t *ret_bytes);

#endif

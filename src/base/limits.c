/* limits.c - how much of a machine input may take: the options of TRELLIS_GROUP_LIMITS, resolved. */
#include "base/limits.h"

#include <math.h>

bool tr_parse_size(const char *text, uint64_t *ret_bytes)
{
    trellis_text number = tr_text(text);
    double bytes, unit = 1;
    if (number.size > 0) {
        const char *units = "kKmMgGtT", *at = strchr(units, number.data[number.size - 1]);
        if (at && *at) {
            unit = (double)((uint64_t)1 << (10 * ((at - units) / 2 + 1)));
            number.size--;
        }
    }
    bool ok = tr_text_real(number, &bytes) && bytes >= 0 && bytes * unit < 0x1p63;
    *ret_bytes = ok ? (uint64_t)(bytes * unit) : 0;
    return ok;
}

static trellis_status take_size(const trellis_options *options, const char *name,
                                uint64_t *ret_bytes, trellis_error *error)
{
    const char *text = tr_option_text(options, name);
    return tr_parse_size(text, ret_bytes)
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_OPTION, "--%s takes a size such as 500M or 8G, not '%s'",
                         name, text);
}

trellis_status tr_limits_resolve(const trellis_options *options, struct tr_limits *ret_limits,
                                 trellis_error *error)
{
    *ret_limits = (struct tr_limits){
        .length = (uint64_t)tr_option_integer(options, "max-length"),
        .ratio = (uint64_t)tr_option_integer(options, "max-ratio"),
        .matches = (uint64_t)tr_option_integer(options, "max-matches"),
        .labellings = (uint64_t)tr_option_integer(options, "max-labellings"),
    };
    trellis_status status = take_size(options, "memory", &ret_limits->memory, error);
    if (!status) {
        status = take_size(options, "max-sequence", &ret_limits->sequence_bytes, error);
    }
    if (!status) {
        status = take_size(options, "max-token", &ret_limits->token_bytes, error);
    }
    return status ? status : take_size(options, "max-file", &ret_limits->file_bytes, error);
}

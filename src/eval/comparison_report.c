/* comparison_report.c - the comparison of two systems as text or JSON. */
#include "eval/evaluation_report.h"

static int measures_of(const trellis_comparison *comparison)
{
    return comparison->has_spans ? TR_MEASURES : TRELLIS_PRECISION;
}

static void lines(struct tr_buffer *out, const trellis_comparison *comparison)
{
    tr_buffer_format(out, "%17s %9s %9s %10s %19s %10s\n", "", "first", "second", "difference",
                     "95% interval", "p");
    for (int m = 0; m < measures_of(comparison); m++) {
        const trellis_contrast *contrast = &comparison->measures[m];
        tr_buffer_format(out, "%17s %8.2f%% %8.2f%% %+10.2f %+8.2f to %+7.2f %10.3g\n",
                         trellis_measure_name((trellis_measure)m), 100 * contrast->first,
                         100 * contrast->second, 100 * (contrast->second - contrast->first),
                         100 * contrast->difference.low, 100 * contrast->difference.high,
                         contrast->p);
    }
    tr_buffer_format(out,
                     "p by %s%llu exchanges of labellings; tokens correct only in the first: "
                     "%llu, only in the second: %llu; McNemar's test: p = %.3g\n",
                     comparison->info.exact ? "all " : "",
                     (unsigned long long)comparison->info.exchanges,
                     (unsigned long long)comparison->info.only_first,
                     (unsigned long long)comparison->info.only_second, comparison->info.mcnemar);
}

static void json_real(struct tr_buffer *out, const char *key, double value)
{
    tr_buffer_format(out, "\"%s\": ", key);
    tr_buffer_real(out, value);
}

static void json(struct tr_buffer *out, const trellis_comparison *comparison)
{
    tr_buffer_string(out, "{\n");
    for (int m = 0; m < measures_of(comparison); m++) {
        const trellis_contrast *contrast = &comparison->measures[m];
        tr_buffer_format(out, "  \"%s\": {", trellis_measure_name((trellis_measure)m));
        json_real(out, "first", contrast->first);
        tr_buffer_string(out, ", ");
        json_real(out, "second", contrast->second);
        tr_buffer_string(out, ", \"interval\": [");
        tr_buffer_real(out, contrast->difference.low);
        tr_buffer_string(out, ", ");
        tr_buffer_real(out, contrast->difference.high);
        tr_buffer_string(out, "], ");
        json_real(out, "p", contrast->p);
        tr_buffer_string(out, "},\n");
    }
    tr_buffer_format(out, "  \"exchanges\": %llu,\n  \"exact\": %s,\n",
                     (unsigned long long)comparison->info.exchanges,
                     comparison->info.exact ? "true" : "false");
    tr_buffer_format(out, "  \"only_first\": %llu,\n  \"only_second\": %llu,\n  ",
                     (unsigned long long)comparison->info.only_first,
                     (unsigned long long)comparison->info.only_second);
    json_real(out, "mcnemar", comparison->info.mcnemar);
    tr_buffer_string(out, "\n}\n");
}

trellis_status trellis_comparison_report(const trellis_comparison *comparison,
                                         trellis_report_form form, trellis_sink sink, void *user,
                                         trellis_error *error)
{
    if (!comparison || !sink) {
        return tr_fail_null(error, __func__);
    }
    struct tr_buffer out = {0};
    if (form == TRELLIS_JSON) {
        json(&out, comparison);
    } else {
        lines(&out, comparison);
    }
    trellis_status status = tr_buffer_flush(&out, sink, user, error);
    tr_buffer_free(&out);
    return status;
}

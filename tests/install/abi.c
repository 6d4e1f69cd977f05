/* abi.c - the sizes and values that a program compiled against trellis.h has in it; tests/install/test_abi.sh
 * compares them with those of the last release. */
#include <stddef.h>
#include <stdio.h>

#include "trellis.h"

#define SIZE(type) printf("size %s %zu\n", #type, sizeof(type))
#define PLACE(type, member) printf("place %s.%s %zu\n", #type, #member, offsetof(type, member))
#define STATUS(name, number, meaning) printf("value TRELLIS_%s %d\n", #name, (int)TRELLIS_##name);

int main(void)
{
    SIZE(trellis_text);
    SIZE(trellis_attribute);
    SIZE(trellis_sequence);
    SIZE(trellis_option);
    SIZE(trellis_error);
    SIZE(trellis_progress);
    SIZE(trellis_scores);
    PLACE(trellis_sequence, cells);
    PLACE(trellis_sequence, labels);
    PLACE(trellis_sequence, attributes);
    PLACE(trellis_sequence, weight);
    PLACE(trellis_sequence, row_count);
    PLACE(trellis_error, message);
    PLACE(trellis_progress, objective);
    PLACE(trellis_progress, tokens_per_second);
    TRELLIS_STATUS_LIST(STATUS)
    return 0;
}

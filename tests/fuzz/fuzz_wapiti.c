/* fuzz_wapiti.c - any bytes as a model of Wapiti.
 *
 * They are tried as they are, behind a sound beginning, and as a list of changes to a valid file.
 * What opens is used in every way.
 */
#include "fuzz/files.h"
#include "fuzz/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATTERNS                                                                                   \
    "#rdr#4/1/0\n10:u0:%X[0,0],\n23:*1:%m[-1,0,\"^.?a*\\p$\"],\n20:u2:%t[@1,0,\"\\dx?\"],\n1:b,\n"
#define LABELS "#qrk#3\n1:A,\n1:B,\n1:O,\n"

static const char valid[] = "#mdl#2#7\n" PATTERNS LABELS
                            "#qrk#4\n6:u0:the,\n3:*1:,\n7:u2:true,\n1:b,\n"
                            "0=0x1.8p+0\n2=-0x1p-3\n3=0.5\n7=1e-2\n15=0x1.23456789abcdep-1\n17=-2\n"
                            "18=0x1p+0\n";
static const char head[] = "#mdl#1#2\n" PATTERNS LABELS;

static bool is_of_the_tool(const void *bytes, size_t size)
{
    return size >= 5 && memcmp(bytes, "#mdl#", 5) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    try_behind(head, sizeof head - 1, data, size);
    try_changes(valid, sizeof valid - 1, data, size);
    return 0;
}

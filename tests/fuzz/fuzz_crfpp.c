/* fuzz_crfpp.c - any bytes as a model of CRF++, binary or text.
 *
 * They are tried as they are, behind a sound beginning, as a double array with its weights, and as
 * a list of changes to a valid text. What opens is used in every way.
 */
#include "fuzz/files.h"
#include "fuzz/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_HEAD                                                                                  \
    "version: 100\ncost-factor: 1\nmaxid: 6\nxsize: 2\n\nA\nB\n\nU0:%x[0,0]/%x[-1,1]\nB\n\n"

static const char valid[] = TEXT_HEAD "2 B\n0 U0:a/_B-1\n\n0.5\n-1.25\n1\n0\n-0.0625\n3\n";
static const char text_head[] = TEXT_HEAD;
static const char labels_and_templates[] =
    "\4\0\0\0A\0B\0\34\0\0\0U0:%x[0,0]/%x[-1,1]\0B01\0\0\0\0";

static bool is_of_the_tool(const void *bytes, size_t size)
{
    return size >= 8 &&
           (memcmp(bytes, "d\0\0\0\0\0\0\0", 8) == 0 || memcmp(bytes, "version:", 8) == 0);
}

/* The bytes as a double array and, from 16 bytes before the end on, the weights, with a header that
 * fits. */
static void try_array(const uint8_t *data, size_t size)
{
    enum { WEIGHTS = 16 };
    size_t units = size > WEIGHTS ? (size - WEIGHTS) / 8 * 8 : 0;
    struct tr_buffer bytes = {0};
    if (units == 0) {
        return;
    }
    tr_put_u32(&bytes, 100);
    tr_put_u32(&bytes, 0);
    tr_put_u64(&bytes, 0);
    tr_put_u32(&bytes, WEIGHTS / 4);
    tr_put_u32(&bytes, 2);
    tr_put_u32(&bytes, (uint32_t)units);
    tr_buffer_add(&bytes, labels_and_templates, sizeof labels_and_templates);
    tr_buffer_add(&bytes, (const char *)data, units);
    tr_buffer_add(&bytes, (const char *)data + size - WEIGHTS, WEIGHTS);
    try_bytes(bytes.data, bytes.size);
    tr_buffer_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    try_behind(text_head, sizeof text_head - 1, data, size);
    try_array(data, size);
    try_changes(valid, sizeof valid - 1, data, size);
    return 0;
}

/* consumer.c - the smallest program that uses an installed Trellis, without the source tree. */
#include <stdio.h>
#include <string.h>
#include <trellis.h>

int main(void)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", TRELLIS_VERSION_MAJOR, TRELLIS_VERSION_MINOR,
             TRELLIS_VERSION_PATCH);
    if (strcmp(trellis_version(), expected) != 0) {
        fprintf(stderr, "header %s, library %s\n", expected, trellis_version());
        return 1;
    }

    trellis_error error;
    trellis_options *options;
    if (trellis_options_create(&options, &error) != TRELLIS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    trellis_options_destroy(options);
    printf("trellis %s\n", trellis_version());
    return 0;
}

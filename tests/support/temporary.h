/* temporary.h - temporary files and folders of tests. */
#ifndef TRELLIS_TESTS_SUPPORT_TEMPORARY_H
#define TRELLIS_TESTS_SUPPORT_TEMPORARY_H

#include <stddef.h>

/* The name of a new file with these bytes, in TRELLIS_TMP, TMPDIR or /tmp; a failure ends the test.
 * temporary_drop() takes it back. */
char *temporary_bytes(const void *data, size_t size);
char *temporary_file(const char *text);

/* The name of a new, empty folder. */
char *temporary_folder(void);

/* Removes a file, or a folder with all that is in it, and frees the name. */
void temporary_drop(char *path);

#endif

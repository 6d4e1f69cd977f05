/* temporary.c - temporary files and folders of tests. */
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ftw.h>
#include <unistd.h>

#include <cmocka.h>

/* A name for mkstemp() and mkdtemp() to fill in. */
static char *pattern(void)
{
    const char *folder = getenv("TRELLIS_TMP");
    folder = folder ? folder : getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/testXXXXXX", folder ? folder : "/tmp") > 0);
    return path;
}

char *temporary_bytes(const void *data, size_t size)
{
    char *path = pattern();
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(file, (const char *)data + done, size - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    assert_int_equal(close(file), 0);
    return path;
}

char *temporary_file(const char *text)
{
    return temporary_bytes(text, strlen(text));
}

char *temporary_folder(void)
{
    char *path = pattern();
    assert_non_null(mkdtemp(path));
    return path;
}

static int drop_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about, (void)type, (void)place;
    return remove(path);
}

void temporary_drop(char *path)
{
    nftw(path, drop_one, 8, FTW_DEPTH | FTW_PHYS);
    free(path);
}

/* suggest.c - "did you mean": the name at the smallest edit distance (Damerau 1964), at most a
 * third of its letters. */
#include "suggest.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_LETTERS = 40 };

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* d[i][j] = distance of the first i letters of a and the first j of b */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned d[MAX_LETTERS + 1][MAX_LETTERS + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_LETTERS || m > MAX_LETTERS) {
        return MAX_LETTERS;
    }
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (unsigned)(i + j);
                continue;
            }
            d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1,
                              d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[n][m];
}

void suggestion_offer(struct suggestion *suggestion, const char *name)
{
    unsigned distance = edit_distance(suggestion->asked, name);
    bool near = distance <= (strlen(name) + 1) / 3;
    if (near && (!suggestion->nearest || distance < suggestion->distance)) {
        suggestion->nearest = name;
        suggestion->distance = distance;
    }
}

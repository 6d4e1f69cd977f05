/* suggest.c - the name that somebody may have meant: the nearest one by edit distance. */
#include "base/text.h"

void trellis_suggest(trellis_suggestion *suggestion, const char *name)
{
    unsigned max = ((unsigned)strlen(name) + 1) / 3;
    unsigned distance = tr_edit_distance(suggestion->asked, name, max);
    if (distance <= max && (!suggestion->nearest || distance < suggestion->distance)) {
        suggestion->nearest = name;
        suggestion->distance = distance;
    }
}

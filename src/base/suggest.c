/* suggest.c - the name that somebody may have meant: the nearest one by edit distance. */
#include "base/structs.h"
#include "base/text.h"

void trellis_suggest(trellis_suggestion *suggestion, const char *name)
{
    trellis_suggestion s;
    if (!tr_struct_take(&s, sizeof s, suggestion) || !s.asked) {
        return;
    }
    unsigned max = ((unsigned)strlen(name) + 1) / 3;
    unsigned distance = tr_edit_distance(s.asked, name, max);
    if (distance <= max && (!s.nearest || distance < s.distance)) {
        s.nearest = name;
        s.distance = distance;
        tr_struct_give(&s, sizeof s, suggestion);
    }
}

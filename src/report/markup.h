/* markup.h - escapes untrusted text for HTML, SVG and JSON in scripts. */
#ifndef TRELLIS_REPORT_MARKUP_H
#define TRELLIS_REPORT_MARKUP_H

#include "base/text.h"

/* Text for HTML or XML, in an element or an attribute: special characters are escaped, characters
 * that XML does not allow become U+FFFD. */
void tr_markup_text(struct tr_buffer *out, trellis_text text);

/* JSON inside a script element: nothing in it can end the element or start a comment. */
void tr_markup_json(struct tr_buffer *out, trellis_text json);

#endif

/* markup.h - texts from outside as parts of pages and pictures. */
#ifndef TRELLIS_REPORT_MARKUP_H
#define TRELLIS_REPORT_MARKUP_H

#include "base/text.h"

/* As text of HTML or XML, in an element or in an attribute: what has a meaning there is escaped, what
 * neither of them allows becomes U+FFFD. */
void tr_markup_text(struct tr_buffer *out, trellis_text text);

/* JSON to stand in a script element: nothing in it can end the element or begin a comment. */
void tr_markup_json(struct tr_buffer *out, trellis_text json);

#endif

/* textform.h - the words of the text form of a model, shared by export and import.
 *
 * One item a line, fields separated by tabs. In a field `\\`, `\t`, `\n` and `\r` are escapes; in
 * place of a label, `\start` and `\end` are the ends of a sequence.
 *
 *     trellis-text  1
 *     note      key  value                 what the training noted down; `normalised  locally` makes it a
 *                                          model of decisions, such as an MEMM
 *     template  line                       the templates, line by line
 *     block     hex                        templates with their word lists, instead of `template`
 *     label     text
 *     order     k
 *     count-cap n
 *     observed-states                      a flag
 *     segments  [label  length]            semi-Markov; the longest segment of the type that begins
 *                                          with the label, 1 where there is no line
 *     forbid    from  to
 *     step      weight  label  label ...   a label gram
 *     node      weight  label  key  text   an attribute; the key in hexadecimal
 *     edge      weight  from  to  key  text
 *     word      weight  label  word        the attribute of a lone word, for models written by hand
 *     unknown   weight [label]             of an HMM: log probability of unknown words; and for
 *                                          each label, log
 *                                          P(label) + the weight of the label alone
 *     gaussian  label  column  mean  variance   a real-valued column that the label emits
 *     allow     word  label  label ...     the tag dictionary; the lines of a word add up
 *
 * A weight is a number, -inf, or log(p).
 */
#ifndef TRELLIS_MODEL_TEXTFORM_H
#define TRELLIS_MODEL_TEXTFORM_H

#include "base/text.h"

#define TR_TEXT_FORM "trellis-text"
#define TR_TEXT_VERSION 1

void tr_textform_escape(struct tr_buffer *buffer, trellis_text field);
/* Appends the field without its escapes; false where an escape is unknown. */
bool tr_textform_unescape(struct tr_buffer *buffer, trellis_text field);

#endif

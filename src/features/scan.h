/* scan.h - the words, numbers and quoted texts of a line of the template language. */
#ifndef TRELLIS_FEATURES_SCAN_H
#define TRELLIS_FEATURES_SCAN_H

#include "features/compiled.h"

/* The next byte, zero at the end of the line. */
char tr_scan_peek(const struct tr_parser *parser);
/* Skips blanks and takes `c` if it is next. */
bool tr_scan_take(struct tr_parser *parser, char c);
/* The same, where `c` must be next; `what` is for the message. */
trellis_status tr_scan_expect(struct tr_parser *parser, char c, const char *what);
/* At the end of the line, or at a comment. */
bool tr_scan_end(struct tr_parser *parser);

/* The next word; empty where there is none. Does not move. */
trellis_text tr_scan_word(struct tr_parser *parser);
bool tr_scan_take_word(struct tr_parser *parser, const char *word);

/* from[..to] */
trellis_status tr_scan_range(struct tr_parser *parser, int64_t min, int64_t max, int64_t *from,
                             int64_t *to);

/* Lengths or counts: ranges separated by blanks. */
struct tr_numbers {
    uint32_t at[64];
    size_t count;
};
trellis_status tr_scan_numbers(struct tr_parser *parser, int64_t max, struct tr_numbers *numbers);

/* The text between two `quote`s; in a regular expression a backslash escapes the quote. */
trellis_status tr_scan_quoted(struct tr_parser *parser, char quote, const char *what,
                              trellis_text *ret_text);

#endif

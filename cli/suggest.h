/* suggest.h - "did you mean": the nearest name to a misspelt one. */
#ifndef TRELLIS_CLI_SUGGEST_H
#define TRELLIS_CLI_SUGGEST_H

/* The nearest of the names offered so far; start with {.asked = "..."}. */
struct suggestion {
    const char *asked;
    const char *nearest; // NULL: none is close enough
    unsigned distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *name);

#endif

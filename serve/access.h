/* access.h - who may use the service: tokens, and pages of other origins kept out.
 *
 * A page from anywhere may send requests to a service on the reader's own machine. Two headers that
 * it cannot forge tell: Origin names the page, and must be our own address or an allowed one; Host
 * names the address it used, and must not be a domain that somebody else let point to us (DNS
 * rebinding): an IP address, localhost or an allowed name.
 */
#ifndef TRELLIS_SERVE_ACCESS_H
#define TRELLIS_SERVE_ACCESS_H

#include <pthread.h>

#include "trellis.h"

enum { MAX_TOKENS = 64, MAX_TOKEN_SIZE = 256 };

struct access {
    const char *const *hosts; // [host_count] also allowed
    size_t host_count;
    const char *const *origins; // [origin_count] also allowed
    size_t origin_count;
    const char *token_file;                  // NULL: no token is needed
    pthread_rwlock_t lock;                   // of the tokens
    char tokens[MAX_TOKENS][MAX_TOKEN_SIZE]; // padded with zero bytes
    size_t token_count;
};

/* Reads the token file, if there is one. Call it again to read it again: on failure the old tokens
 * stay. */
trellis_status access_read_tokens(struct access *access, trellis_error *error);

/* NULL stands for a header that is not there. */
bool access_host_allowed(const struct access *access, const char *host);
/* Whether a page of this origin may use a service that it knows as `host`. */
bool access_origin_allowed(const struct access *access, const char *origin, const char *host);
/* Whether it is one of those given by --allow-origin, which then needs headers of CORS. */
bool access_origin_listed(const struct access *access, const char *origin);
/* The value of the header Authorization against all tokens, in a time that depends on neither. */
bool access_token_allowed(struct access *access, const char *authorization);

#endif

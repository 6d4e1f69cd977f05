/* listen.h - the socket that the service listens on. */
#ifndef TRELLIS_SERVE_LISTEN_H
#define TRELLIS_SERVE_LISTEN_H

#include "trellis.h"

struct listener {
    int socket;
    bool loopback;     // only this machine can connect
    char address[120]; // for people: http://127.0.0.1:8080
};

/* `where` is ADDRESS:PORT, [IPv6]:PORT, PORT (of 127.0.0.1), or unix:PATH; port 0 is any free
 * one. */
trellis_status listen_on(const char *where, struct listener *ret_listener, trellis_error *error);

#endif

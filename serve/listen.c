/* listen.c - the socket that the service listens on. */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "failure.h"

enum { BACKLOG = 511 };

/* Splits ADDRESS:PORT; false if it is neither that nor PORT. */
static bool split(const char *where, char *host, size_t room, const char **ret_port)
{
    const char *colon = strrchr(where, ':');
    const char *begin = where;
    size_t size = colon ? (size_t)(colon - where) : 0;
    if (colon && where[0] == '[' && size >= 2 && colon[-1] == ']') {
        begin++;
        size -= 2;
    }
    *ret_port = colon ? colon + 1 : where;
    if (!colon || size == 0) {
        begin = "127.0.0.1";
        size = strlen(begin);
    }
    if (size >= room || !**ret_port || strspn(*ret_port, "0123456789") != strlen(*ret_port)) {
        return false;
    }
    memcpy(host, begin, size);
    host[size] = '\0';
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static void describe(struct listener *listener)
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    char host[INET6_ADDRSTRLEN] = "", port[8] = "";
    if (getsockname(listener->socket, (struct sockaddr *)&bound, &size) == 0) {
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    }
    bool v6 = bound.ss_family == AF_INET6;
    snprintf(listener->address, sizeof listener->address, "http://%s%s%s:%s", v6 ? "[" : "", host,
             v6 ? "]" : "", port);
}

static trellis_status listen_at(const struct sockaddr *address, socklen_t size,
                                struct listener *listener, trellis_error *error)
{
    int on = 1;
    listener->socket = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->socket >= 0 && address->sa_family != AF_UNIX) {
        setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (listener->socket < 0 || bind(listener->socket, address, size) != 0 ||
        listen(listener->socket, BACKLOG) != 0) {
        trellis_status status = fail(error, TRELLIS_IO, "%s", strerror(errno));
        if (listener->socket >= 0) {
            close(listener->socket);
        }
        return status;
    }
    return TRELLIS_OK;
}

static trellis_status listen_on_path(const char *path, struct listener *listener,
                                     trellis_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return fail(error, TRELLIS_OPTION, "the path has more than %zu bytes",
                    sizeof address.sun_path - 1);
    }
    memcpy(address.sun_path, path, strlen(path));
    unlink(path); // that of a service that ended
    listener->loopback = true;
    snprintf(listener->address, sizeof listener->address, "unix:%s", path);
    return listen_at((const struct sockaddr *)&address, sizeof address, listener, error);
}

static trellis_status listen_on_name(const char *where, struct listener *listener,
                                     trellis_error *error)
{
    char host[256];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    if (!split(where, host, sizeof host, &port)) {
        return fail(error, TRELLIS_OPTION, "expected ADDRESS:PORT");
    }
    int problem = getaddrinfo(host, port, &hints, &found);
    if (problem) {
        return fail(error, TRELLIS_OPTION, "%s", gai_strerror(problem));
    }
    listener->loopback = is_loopback(found->ai_addr);
    trellis_status status = listen_at(found->ai_addr, found->ai_addrlen, listener, error);
    freeaddrinfo(found);
    if (!status) {
        describe(listener);
    }
    return status;
}

trellis_status listen_on(const char *where, struct listener *ret_listener, trellis_error *error)
{
    trellis_error inner = {0};
    *ret_listener = (struct listener){.socket = -1};
    trellis_status status = strncmp(where, "unix:", 5) == 0
                                ? listen_on_path(where + 5, ret_listener, &inner)
                                : listen_on_name(where, ret_listener, &inner);
    return status ? fail(error, status, "--listen %.200s: %s", where, inner.message) : TRELLIS_OK;
}

/* connections.c - the open connections, and until when each must have made progress. */
#include "connections.h"

#include <stdlib.h>
#include <sys/socket.h>

struct connection *connections_add(struct connections *connections, int socket, double deadline)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        return NULL;
    }
    connection->socket = socket;
    atomic_init(&connection->deadline, deadline);
    pthread_mutex_lock(&connections->lock);
    connection->next = connections->first;
    if (connection->next) {
        connection->next->previous = connection;
    }
    connections->first = connection;
    pthread_mutex_unlock(&connections->lock);
    atomic_fetch_add(connections->count, 1);
    return connection;
}

void connections_remove(struct connections *connections, struct connection *connection)
{
    if (!connection) {
        return;
    }
    pthread_mutex_lock(&connections->lock);
    if (connection->previous) {
        connection->previous->next = connection->next;
    } else {
        connections->first = connection->next;
    }
    if (connection->next) {
        connection->next->previous = connection->previous;
    }
    pthread_mutex_unlock(&connections->lock);
    atomic_fetch_sub(connections->count, 1);
    free(connection);
}

size_t connections_expire(struct connections *connections, double now)
{
    size_t slow = 0;
    pthread_mutex_lock(&connections->lock);
    for (struct connection *at = connections->first; at; at = at->next) {
        double deadline = atomic_load(&at->deadline);
        if (deadline > 0 && now > deadline) {
            slow += at->busy;
            atomic_store(&at->deadline, 0);
            shutdown(at->socket, SHUT_RDWR); // the library notices and closes it
        }
    }
    pthread_mutex_unlock(&connections->lock);
    return slow;
}

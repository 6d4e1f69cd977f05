/* access.c - who may use the service: tokens, and pages of other origins kept out. */
#include "access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "failure.h"

/* ---- tokens ---------------------------------------------------------------------------------- */

/* A line without its end and blanks around it; empty for comments. */
static char *trim(char *line)
{
    line += strspn(line, " \t");
    size_t size = strlen(line);
    while (size > 0 && strchr(" \t\r\n", line[size - 1])) {
        line[--size] = '\0';
    }
    return line[0] == '#' ? line + size : line;
}

static trellis_status read_tokens(FILE *file, const char *path,
                                  char tokens[MAX_TOKENS][MAX_TOKEN_SIZE], size_t *ret_count,
                                  trellis_error *error)
{
    char line[MAX_TOKEN_SIZE + 64];
    size_t count = 0;
    while (fgets(line, sizeof line, file)) {
        const char *token = trim(line);
        size_t size = strlen(token);
        if (size == 0) {
            continue;
        }
        if (size < 16 || size >= MAX_TOKEN_SIZE || count == MAX_TOKENS) {
            return fail(error, TRELLIS_DATA,
                        "%s: expected at most %d tokens, one a line, of 16 to %d characters", path,
                        MAX_TOKENS, MAX_TOKEN_SIZE - 1);
        }
        memcpy(tokens[count++], token, size);
    }
    *ret_count = count;
    return count > 0 ? TRELLIS_OK : fail(error, TRELLIS_DATA, "%s: no tokens", path);
}

trellis_status access_read_tokens(struct access *access, trellis_error *error)
{
    const char *path = access->token_file;
    char tokens[MAX_TOKENS][MAX_TOKEN_SIZE] = {{0}};
    size_t count = 0;
    struct stat about;
    if (!path) {
        return TRELLIS_OK;
    }
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &about) != 0) {
        return fail(error, TRELLIS_IO, "%s: %s", path, strerror(errno));
    }
    trellis_status status = about.st_mode & S_IROTH
                                ? fail(error, TRELLIS_DATA,
                                       "%s: everybody may read it; use chmod o-r", path)
                                : read_tokens(file, path, tokens, &count, error);
    fclose(file);
    if (!status) {
        pthread_rwlock_wrlock(&access->lock);
        memcpy(access->tokens, tokens, sizeof tokens);
        access->token_count = count;
        pthread_rwlock_unlock(&access->lock);
    }
    return status;
}

bool access_token_allowed(struct access *access, const char *authorization)
{
    char given[MAX_TOKEN_SIZE] = {0};
    unsigned char found = 0;
    if (!access->token_file) {
        return true;
    }
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0 ||
        strlen(authorization + 7) >= sizeof given) {
        return false;
    }
    memcpy(given, authorization + 7, strlen(authorization + 7));
    pthread_rwlock_rdlock(&access->lock);
    for (size_t i = 0; i < access->token_count; i++) {
        unsigned char differs = 0;
        for (size_t k = 0; k < sizeof given; k++) {
            differs |= (unsigned char)(given[k] ^ access->tokens[i][k]);
        }
        found |= (unsigned char)((differs - 1U) >> 31); // 1 only if differs is 0
    }
    pthread_rwlock_unlock(&access->lock);
    return found;
}

/* ---- Host and Origin ------------------------------------------------------------------------- */

static bool is_listed(const char *const *list, size_t count, const char *text, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == size && strncasecmp(list[i], text, size) == 0) {
            return true;
        }
    }
    return false;
}

/* The name in HOST or HOST:PORT, without brackets. */
static trellis_text host_name(const char *host)
{
    if (host[0] == '[') {
        return (trellis_text){host + 1, strcspn(host + 1, "]")};
    }
    return (trellis_text){host, strcspn(host, ":")};
}

bool access_host_allowed(const struct access *access, const char *host)
{
    static const char *const local[] = {"localhost"};
    char name[256];
    unsigned char address[sizeof(struct in6_addr)];
    if (!host) {
        return true; // HTTP/1.0; browsers always send it
    }
    trellis_text text = host_name(host);
    if (text.size == 0 || text.size >= sizeof name) {
        return false;
    }
    memcpy(name, text.data, text.size);
    name[text.size] = '\0';
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1 ||
           is_listed(local, 1, name, text.size) ||
           is_listed(access->hosts, access->host_count, name, text.size);
}

bool access_origin_listed(const struct access *access, const char *origin)
{
    return origin && is_listed(access->origins, access->origin_count, origin, strlen(origin));
}

bool access_origin_allowed(const struct access *access, const char *origin, const char *host)
{
    if (!origin || access_origin_listed(access, origin)) {
        return true;
    }
    const char *authority = strstr(origin, "://");
    return authority && host && strcasecmp(authority + 3, host) == 0;
}

/* processors.c - how many processors this process may use: its affinity, and the quota of its
 * cgroup.
 *
 * A container on a machine with 64 processors may be given two of them, by affinity or by quota;
 * 64 threads there would wait for each other.
 */
#include "base/processors.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The processors that the scheduler may run this process on. */
static unsigned by_affinity(void)
{
    for (int size = 1024; size <= 1 << 20; size *= 4) { // larger machines need a larger set
        cpu_set_t *set = CPU_ALLOC(size);
        int count = 0;
        if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(size), set) == 0) {
            count = CPU_COUNT_S(CPU_ALLOC_SIZE(size), set);
        }
        CPU_FREE(set);
        if (count > 0) {
            return (unsigned)count;
        }
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

unsigned tr_quota_processors(const char *cpu_max)
{
    char *end;
    double quota = strtod(cpu_max, &end), period = strtod(end, NULL);
    if (!(quota > 0 && period > 0)) { // "max", or -1 with version 1
        return 0;
    }
    double processors = quota / period;
    return processors < 1 ? 1 : processors < 1e6 ? (unsigned)(processors + 0.5) : 0;
}

/* The first bytes of a small file as text; false where it cannot be read. */
static bool read_small(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) {
        close(file);
    }
    text[got < 0 ? 0 : got] = 0;
    return got > 0;
}

/* The quota of one cgroup, of version 2 or 1; 0 where there is none. */
static unsigned quota_of(const char *root, const char *group)
{
    char path[5000], text[100], period[100], both[210];
    snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
    if (read_small(path, text, sizeof text)) {
        return tr_quota_processors(text);
    }
    snprintf(path, sizeof path, "%s%s/cpu.cfs_quota_us", root, group);
    bool has_quota = read_small(path, text, sizeof text);
    snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", root, group);
    if (!has_quota || !read_small(path, period, sizeof period)) {
        return 0;
    }
    snprintf(both, sizeof both, "%.*s %s", (int)strcspn(text, "\n"), text, period);
    return tr_quota_processors(both);
}

/* The smallest quota of a cgroup and those it lies in; a container may show its own as the root. */
static unsigned smallest_quota(const char *root, char *group)
{
    unsigned smallest = 0;
    for (;;) {
        unsigned here = quota_of(root, group);
        smallest = here && (!smallest || here < smallest) ? here : smallest;
        char *slash = strrchr(group, '/');
        if (!slash) {
            return smallest;
        }
        *slash = 0;
    }
}

/* Lines of /proc/self/cgroup: "0::/path" for version 2, "1:cpu,cpuacct:/path" for version 1. */
static unsigned by_quota(void)
{
    char lines[4096];
    unsigned smallest = 0;
    if (!read_small("/proc/self/cgroup", lines, sizeof lines)) {
        return 0;
    }
    char *rest = lines;
    for (char *line; (line = strsep(&rest, "\n"));) {
        strsep(&line, ":");
        const char *controllers = strsep(&line, ":");
        if (!line || (*controllers && strncmp(controllers, "cpu,", 4) != 0 &&
                      strcmp(controllers, "cpu") != 0)) {
            continue;
        }
        unsigned here = smallest_quota(*controllers ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup",
                                       line);
        smallest = here && (!smallest || here < smallest) ? here : smallest;
    }
    return smallest;
}

unsigned trellis_processor_count(void)
{
    unsigned count = by_affinity(), quota = by_quota();
    return quota && quota < count ? quota : count;
}

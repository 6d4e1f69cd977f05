/* page.c - the page and the description of the service, embedded when it is built. */
#include <string.h>

#include "page_files.h"
#include "service.h"

struct page_file {
    const char *name;
    const unsigned char *data;
    size_t size;
};

static const struct page_file files[] = {
#define PAGE_FILE(name, data) {name, data, sizeof data - 1},
    TR_EMBEDDED_FILES(PAGE_FILE)
#undef PAGE_FILE
};

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
    };
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++) {
        if (strcmp(end, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

void answer_page(struct service *service, struct worker *worker, struct request *request)
{
    (void)service, (void)worker;
    const char *name = request->rest[0] ? request->rest : "index.html";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) == 0) {
            request->answer_type = type_of(name);
            text_add(&request->answer, (const char *)files[i].data, files[i].size);
            return;
        }
    }
    answer_problem(request, HTTP_NOT_FOUND, "there is no /%.200s; see /openapi.json", name);
}

#include "trace/report/html/web_files.h"

#include <pthread.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/model/packed_text.h"

static bool inflated;

static void inflate_all(void)
{
    inflated = true;
    for (const web_file *f = web_files; f->name; f++)
        inflated = inflated && vp_unpack(f->gz, f->gz_n, f->raw, f->raw_n);
}

int web_files_inflate(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, inflate_all);
    return inflated ? 0 : vp_fail(VP_ENOMEM, "no memory to unpack the files of the pages");
}

const web_file *web_file_find(const char *name)
{
    for (const web_file *f = web_files; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}

const char *web_file_version(const char *name)
{
    const web_file *f = web_file_find(name);
    return f ? f->etag : NULL;
}

#include "trace/report/html/web_files.h"

#include <string.h>

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

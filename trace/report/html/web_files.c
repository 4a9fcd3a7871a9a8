#include "trace/report/html/web_files.h"

#include <pthread.h>
#include <string.h>
#include <zlib.h>

#include "trace/base/err.h"

static bool inflated;

static void inflate_all(void)
{
    inflated = true;
    for (const web_file *f = web_files; f->name; f++) {
        z_stream z = {.next_in = (unsigned char *)(uintptr_t)f->gz,
                      .avail_in = (uInt)f->gz_n,
                      .next_out = f->raw,
                      .avail_out = (uInt)f->raw_n + 1}; /* the end is seen with room left only */
        inflated = inflated && inflateInit2(&z, 15 + 16) == Z_OK;
        if (inflated) {
            inflated = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == f->raw_n;
            inflateEnd(&z);
        }
    }
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

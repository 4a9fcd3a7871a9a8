#include "server/cli/export_copy.h"

#include "server/net/answer/encode.h"
#include "trace/base/err.h"

int cli_export_copy(vp_buf *b, http_source in, const char *path)
{
    char *p;
    size_t n;
    int rc;
    vp_str name = path ? vp_str_of(path) : VP_STR_NONE;
    if (vp_str_ends(name, VP_STR(".gz")) || vp_str_ends(name, VP_STR(".tgz")))
        VP_TRY(http_gzip_source(&in, in));
    while ((rc = in.next(in.ctx, &p, &n)) > 0)
        vp_buf_put(b, p, n);
    in.close(in.ctx);
    return rc < 0 ? rc : b->status;
}

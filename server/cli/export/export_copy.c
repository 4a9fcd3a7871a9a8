#include "server/cli/export/export_copy.h"

#include "server/net/answer/encode.h"
#include "trace/base/err.h"
#include "trace/base/log.h"

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

static const char *plural_suffix(uint64_t n)
{
    return n == 1 ? "" : "s";
}

void cli_export_missing(const char *file, uint64_t events, uint64_t flows)
{
    unsigned long long e = events, f = flows;
    if (events)
        vp_log(VP_LOG_WARN, "%s: %llu event%s cannot be shown", file, e, plural_suffix(e));
    if (flows) /* most traces have some, whose other ends were before or after the capture */
        vp_log(VP_LOG_DEBUG, "%s: %llu flow end%s without a slice or a second end", file, f,
               plural_suffix(f));
}

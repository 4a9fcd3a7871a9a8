#include "server/cli/export/export_stacks.h"

#include "server/cli/export/export_copy.h"
#include "server/cli/input/open.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/report/flame/stack_stream.h"

static int stream_next(void *ctx, char **p, size_t *n)
{
    return flame_stream_next(ctx, p, n);
}

static void stream_close(void *ctx)
{
    flame_stream_close(ctx);
}

static int write_stacks(const cli_options *o, const flame_stacks *s)
{
    cli_file f;
    flame_stream t;
    VP_TRY(flame_stream_open(&t, s, o->to == CLI_TO_SPEEDSCOPE ? FLAME_SPEEDSCOPE : FLAME_FOLDED));
    int rc = cli_file_open(&f, o->out);
    if (rc < 0) {
        flame_stream_close(&t);
        return rc;
    }
    return cli_file_close(
        &f, cli_export_copy(&f.buf,
                            (http_source){.next = stream_next, .close = stream_close, .ctx = &t},
                            o->out));
}

static bool warn_of(const vp_report *r, vp_severity least)
{
    bool any = false;
    for (size_t i = 0; i < r->quality_count; i++) {
        const vp_quality *q = &r->quality[i];
        if (!q->partial || q->severity < least)
            continue;
        vp_log(VP_LOG_WARN, "%s%s%s", q->file ? q->file : "", q->file ? ": " : "", q->message);
        any = true;
    }
    return any;
}

/* Warns of data missing in the sums: unreadable or incomplete files, else truncated lists. */
static void warn_of_parts(const vp_report *r)
{
    if (!warn_of(r, VP_SEV_ERROR))
        warn_of(r, VP_SEV_INFO);
}

int cli_export_stacks(const cli_options *o)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    cli_options by_stack = *o;
    vp_report *r = NULL;
    flame_stacks s = {0};
    by_stack.group = VP_GROUP_STACK;
    VP_TRY(cli_open(&c, o));
    VP_TRY(cli_analyze(&r, c, &by_stack));
    int rc = flame_stacks_of(&s, r, o->device);
    if (rc >= 0)
        rc = write_stacks(o, &s);
    if (rc >= 0)
        warn_of_parts(r);
    flame_stacks_free(&s);
    analyze_free(r);
    return rc;
}

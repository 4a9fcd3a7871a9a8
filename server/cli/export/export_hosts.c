#include "server/cli/export/export_hosts.h"

#include "server/cli/export/export_copy.h"
#include "server/cli/terminal/term.h"
#include "trace/analyze/analyze.h"
#include "trace/analyze/merge/clocks.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

bool cli_all_hosts(const cat_session *s, const cli_options *o)
{
    bool several = s->host_count > 1 && !o->host && o->to == CLI_TO_PFTRACE;
    return several || (s->host_count && o->to == CLI_TO_BUNDLE);
}

/* *out is NULL if the run cannot be analyzed; its hosts are still exported. */
static int analyze_all_hosts(vp_report **out, const catalog *c, const cat_session *s,
                             const cli_options *o)
{
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    cli_progress progress;
    *out = NULL;
    if (s->host_count < 2)
        return 0;
    cli_progress_begin(&progress, o, "reading");
    opts.depth = VP_DEPTH_FULL;
    opts.jobs = (int)o->jobs;
    opts.progress = cli_progress_bytes;
    opts.progress_ctx = &progress;
    int rc = analyze_session(out, c, s, &opts);
    cli_progress_end(&progress);
    if (rc == VP_ECANCELLED)
        return rc;
    if (rc < 0)
        vp_log(VP_LOG_WARN, "the clocks of the hosts are not aligned: %s",
               vp_error_last()->message);
    return 0;
}

int cli_all_hosts_open(rd_stream **out, ex_hosts *hosts, added_tracks *more, catalog *c,
                       const cat_session *s, const cli_options *o)
{
    VP_CLEANUP(vp_free_ptr) host_clock *clocks = vp_calloc(s->host_count + 1, sizeof *clocks);
    vp_report *r;
    VP_NEED(clocks);
    if (o->window || o->max_events > 0)
        return vp_fail(VP_EARG, "%s applies to the timeline of one host; choose it with --host",
                       o->window ? "--window" : "--max-events");
    VP_TRY(analyze_all_hosts(&r, c, s, o));
    int rc = clocks_of(clocks, s, r);
    analyze_free(r);
    VP_TRY(rc);
    VP_TRY(ex_hosts_make(hosts, c, s, clocks));
    *more = (added_tracks){.c = c, .s = s};
    added_tracks_of_hosts(more, hosts);
    return o->to == CLI_TO_BUNDLE ? ex_bundle(out, hosts) : ex_pftrace_merged(out, hosts);
}

int cli_all_hosts_end(const ex_hosts *hosts)
{
    const ex_host *out = NULL;
    size_t there = 0;
    for (size_t i = 0; i < hosts->count; i++) {
        const ex_host *h = &hosts->hosts[i];
        if (h->left_out.code) {
            vp_log(VP_LOG_WARN, "host %s skipped: %s", h->name, h->left_out.message);
            out = out ? out : h;
            continue;
        }
        there++;
        cli_export_missing(h->file->name, h->missing_events, h->missing_flows);
        if (h->damage.code)
            vp_log(VP_LOG_WARN, "%s is damaged; the readable part was exported: %s", h->file->name,
                   h->damage.message);
    }
    return there || !out ? 0 : vp_fail_at(vp_fail_copy(&out->left_out), out->name, -1, -1);
}

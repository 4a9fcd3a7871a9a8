/* C API: exports the timeline of a host. */
#include "server/api/handles.h"
#include "server/routes/traces/added_tracks.h"
#include "trace/base/fs.h"
#include "trace/export/exporters.h"

static int find_export_host(const cat_host **out, const cat_session *s, const char *name)
{
    *out = s->host_count == 1 && !name ? &s->hosts[0]
           : name                      ? catalog_host(s, vp_str_of(name))
                                       : NULL;
    if (*out)
        return 0;
    if (!s->host_count)
        return vp_fail(VP_EEMPTY, "%s has no timeline", s->name);
    return name ? vp_fail(VP_EEMPTY, "%s has no host \"%s\"", s->name, name)
                : vp_fail(VP_EARG, "%s has %zu hosts with one timeline each; give the name of one",
                          s->name, s->host_count);
}

static int pick_of_export_options(ex_pick *p, const vp_export_options *o)
{
    *p = (ex_pick){.most = o->max_events,
                   .window = o->window_end_ns != 0 || o->window_start_ns != 0,
                   .from_ns = o->window_start_ns,
                   .until_ns = o->window_end_ns};
    if (p->window && (p->from_ns < 0 || p->until_ns <= p->from_ns))
        return vp_fail(VP_EARG, "the window must end after its start, and neither can be negative");
    return 0;
}

static int copy_stream_to_fd(int fd, rd_stream *s, const catalog *c, const cat_file *f)
{
    char *p;
    size_t n;
    int rc;
    while ((rc = s->next(s, &p, &n)) > 0) {
        VP_TRY(
            catalog_check(c, f)); /* otherwise parts of two versions of the file would be mixed */
        VP_TRY(vp_fs_write_all(fd, p, n));
    }
    return rc;
}

int vp_export_write(const vp_catalog *c, const vp_session *s, vp_export_form form,
                    const vp_export_options *opts, int fd)
{
    static const vp_export_options defaults = VP_EXPORT_OPTIONS_INIT;
    VP_CLEANUP(added_tracks_free) added_tracks more = {0};
    VP_CLEANUP(rd_stream_close) rd_stream *stream = NULL;
    const cat_host *h;
    const cat_file *f = NULL;
    ex_pick pick;
    if (!c || !s)
        return vp_fail(VP_EARG, "no catalog or run");
    if (form != VP_EXPORT_PFTRACE && form != VP_EXPORT_PERFETTO_JSON)
        return vp_fail(VP_EARG, "unknown export format %d", (int)form);
    opts = opts ? opts : &defaults;
    VP_TRY(vp_check_version(opts->version, defaults.version, "vp_export_options",
                            "VP_EXPORT_OPTIONS_INIT"));
    VP_TRY(pick_of_export_options(&pick, opts));
    VP_TRY(find_export_host(&h, api_session(s), opts->host));
    added_tracks_init(&more, &pick, NULL, (catalog *)(uintptr_t)c, api_session(s), h);
    int rc = ex_open_host(&stream, &f, form == VP_EXPORT_PFTRACE ? EX_PFTRACE : EX_JSON,
                          api_catalog(c), api_session(s), h, &pick);
    if (rc >= 0)
        rc = copy_stream_to_fd(fd, stream, api_catalog(c), f);
    return rc < 0 ? vp_fail_at(rc, f ? f->name : h->name, -1, -1) : 0;
}

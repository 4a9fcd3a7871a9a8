#include "server/routes/traces/trace_hosts.h"

#include <string.h>

#include "server/routes/traces/added_tracks.h"
#include "trace/analyze/merge/clocks.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/hosts.h"

/* The stream reads through the descriptors of the catalog, so it holds a reference. */
typedef struct held_hosts {
    rd_stream *s;
    catalog *c;
    ex_hosts hosts;
    added_tracks more;
    damage_list *damages;
} held_hosts;

static int held_hosts_next(void *ctx, char **p, size_t *n)
{
    held_hosts *h = ctx;
    int rc = h->s->next(h->s, p, n);
    for (size_t i = 0; !rc && i < h->hosts.count; i++)
        if (h->hosts.hosts[i].damage.code)
            damage_note(h->damages, h->hosts.hosts[i].file, h->hosts.hosts[i].damage.message);
    return rc;
}

static void held_hosts_client(void *ctx, bool (*gone)(const void *of), const void *of)
{
    held_hosts *h = ctx;
    added_tracks_client(&h->more, gone, of);
}

static void held_hosts_close(void *ctx)
{
    held_hosts *h = ctx;
    rd_stream_close(&h->s);
    added_tracks_free(&h->more);
    ex_hosts_free(&h->hosts);
    catalog_free(h->c);
    vp_free(h);
}

bool trace_hosts_is(const cat_session *s, const char *name)
{
    return s->host_count &&
           (!strcmp(name, TRACE_HOSTS_PFTRACE) || !strcmp(name, TRACE_HOSTS_BUNDLE));
}

bool trace_hosts_exact(const cat_session *s)
{
    for (size_t i = 0; i < s->host_count && !catalog_host(s, VP_STR("all")); i++)
        if (ex_half(EX_PFTRACE, s, &s->hosts[i]))
            return true;
    return false;
}

/* A tag of all files that the response is made of; it changes when one changes. */
static vp_file_id files_id_of_session(const cat_session *s)
{
    vp_file_id id = {0};
    for (size_t i = 0; i < s->file_count; i++) {
        const cat_file *f = &s->files[i];
        uint64_t of[] = {f->id.dev, f->id.ino, (uint64_t)f->id.size, (uint64_t)f->id.mtime_ns,
                         f->is_member ? f->member_index + UINT64_C(1) : 0};
        id.dev = vp_fingerprint(of, sizeof of, id.dev);
        id.ino = vp_fingerprint(of, sizeof of, ~id.dev);
        id.mtime_ns = f->id.mtime_ns > id.mtime_ns ? f->id.mtime_ns : id.mtime_ns;
    }
    return id;
}

/* Without a report hosts are sent without alignment: a run that cannot be analyzed still has
 * timelines. */
static int place_hosts(host_clock *clocks, http_req *rq, catalog *c, const cat_session *s)
{
    VP_CLEANUP(store_release) store_report *r = NULL;
    const store_wanted w = {VP_GROUP_NAME, VP_DEPTH_FULL, VP_UNKNOWN, VP_WHERE_DEVICE};
    const store_asker who = site_asker(rq);
    if (s->host_count < 2)
        return clocks_of(clocks, s, NULL);
    int rc = store_get(&r, site_of(rq)->store, c, s, &w, &who);
    if (rc == VP_EBUSY || rc == VP_ECANCELLED || rc == VP_ENOMEM)
        return rc;
    return clocks_of(clocks, s, rc < 0 ? NULL : store_report_of(r));
}

static int make_stream(held_hosts *h, http_req *rq, const cat_session *s, bool bundle)
{
    VP_CLEANUP(vp_free_ptr) host_clock *clocks = vp_calloc(s->host_count + 1, sizeof *clocks);
    VP_NEED(clocks);
    VP_TRY(place_hosts(clocks, rq, h->c, s));
    VP_TRY(ex_hosts_make(&h->hosts, h->c, s, clocks));
    h->more = (added_tracks){
        .st = site_of(rq)->store, .c = h->c, .s = s, .who = site_until_stop(site_of(rq))};
    added_tracks_of_hosts(&h->more, &h->hosts);
    return bundle ? ex_bundle(&h->s, &h->hosts) : ex_pftrace_merged(&h->s, &h->hosts);
}

int trace_hosts_send(http_req *rq, catalog *c, const cat_session *s, const char *name)
{
    bool bundle = !strcmp(name, TRACE_HOSTS_BUNDLE);
    bool encoded = !bundle && http_wants_gzip(rq);
    const vp_file_id id = files_id_of_session(s);
    if (!bundle && !trace_hosts_exact(s))
        return http_fail(rq, 422, "no host of this run has a timeline for this format");
    http_entity e = {.type = bundle ? "application/gzip" : "application/octet-stream",
                     .gzipped = encoded};
    http_entity_etag(&e, &id, bundle ? VP_VERSION "b" : encoded ? VP_VERSION "n" : VP_VERSION "m");
    if (http_finished(rq, &e) || http_not_modified(rq, &e))
        return 0;
    held_hosts *h = vp_calloc(1, sizeof *h);
    VP_NEED(h);
    h->c = catalog_ref(c);
    h->damages = site_of(rq)->damages;
    int rc = make_stream(h, rq, s, bundle);
    if (rc < 0) {
        held_hosts_close(h);
        return rc;
    }
    const http_source src = {held_hosts_next, held_hosts_close, h, held_hosts_client,
                             &h->more.lacking};
    return http_stream(rq, src, bundle || encoded, &e);
}

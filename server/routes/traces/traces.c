/* /trace: timelines for Perfetto, and the original files. */
#include <stdio.h>
#include <string.h>

#include "server/routes/routes.h"
#include "server/routes/site/site_query.h"
#include "server/routes/traces/added_tracks.h"
#include "server/routes/traces/trace_hosts.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/exporters.h"

/* In ms: a small file is not checked again within this time. */
#define SAME_MS 1000

/* ---- rd_stream as an http_source ------------------------------------------------------------ */

/* The stream reads through the descriptors of the catalog, so it holds a reference. */
typedef struct held_stream {
    rd_stream *s;
    catalog *c;
    const cat_file *f; /* the catalog's */
    damage_list *damages;
    ex_pick pick;
    added_tracks more;
} held_stream;

static int held_stream_next(void *ctx, char **p, size_t *n)
{
    held_stream *h = ctx;
    int rc = h->s->next(h->s, p, n);
    if (rc)
        return rc;
    VP_TRY(catalog_check(h->c, h->f)); /* otherwise a part would be served as the whole file */
    if (h->s->damage.code)
        damage_note(h->damages, h->f, h->s->damage.message);
    return 0;
}

static void held_stream_client(void *ctx, bool (*gone)(const void *of), const void *of)
{
    held_stream *h = ctx;
    added_tracks_client(&h->more, gone, of);
}

static void held_stream_close(void *ctx)
{
    held_stream *h = ctx;
    rd_stream_close(&h->s);
    added_tracks_free(&h->more);
    catalog_free(h->c);
    vp_free(h);
}

/* A held stream that is not open yet. It holds a reference to the catalog. NULL: out of memory. */
static held_stream *held_stream_new(const http_req *rq, catalog *c, const cat_file *f)
{
    held_stream *h = vp_calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->c = catalog_ref(c);
    h->f = f;
    h->damages = site_of(rq)->damages;
    return h;
}

/* rc: result of opening the stream. */
static int send_held(http_req *rq, held_stream *h, int rc, bool gzip, const http_entity *e)
{
    if (rc < 0) {
        held_stream_close(h);
        return rc;
    }
    const http_source src = {held_stream_next, held_stream_close, h, held_stream_client,
                             &h->more.lacking};
    return http_stream(rq, src, gzip, e);
}

/* ---- Perfetto-ready JSON -------------------------------------------------------------------- */

/* The format requested by the suffix after a host name. */
typedef struct wanted {
    const char *suffix;
    ex_form form;
    bool gzip;        /* a .gz file, sent as it is */
    const char *type; /* of the content */
    const char *tag;  /* of the entity, in this format and content coding */
    const char *encoded_tag;
} wanted;

static const wanted forms[] = {
    {".json.gz", EX_JSON, true, "application/gzip", VP_VERSION "z", VP_VERSION "z"},
    {".json", EX_JSON, false, "application/json", VP_VERSION "j", VP_VERSION "e"},
    {".pftrace", EX_PFTRACE, false, "application/octet-stream", VP_VERSION "p", VP_VERSION "q"},
};

/* "HOST.json" and similar; the name of a host can contain dots. */
static const cat_host *host_of_file_name(const cat_session *s, vp_str name, const wanted **form)
{
    *form = NULL;
    for (size_t k = 0; !*form && k < sizeof forms / sizeof forms[0]; k++)
        if (vp_str_ends(name, vp_str_of(forms[k].suffix)))
            *form = &forms[k];
    if (!*form)
        return NULL;
    return catalog_host(s, vp_str_head(name, name.n - strlen((*form)->suffix)));
}

static void trace_entity(http_entity *e, const cat_file *f, const char *type, const char *made)
{
    char tag[24];
    *e = (http_entity){.type = type};
    if (f->is_member)
        snprintf(tag, sizeof tag, "%s%x", made, f->member_index);
    else
        snprintf(tag, sizeof tag, "%s", made);
    http_entity_etag(e, &f->id, tag);
}

/* first: f is the file that reports are made from; analysis tracks match only its events. */
static int send_trace(http_req *rq, catalog *c, const cat_session *s, const cat_host *host,
                      const cat_file *f, bool first, const wanted *form)
{
    http_entity e;
    bool encoded = http_wants_gzip(rq) && !form->gzip;
    trace_entity(&e, f, form->type, encoded ? form->encoded_tag : form->tag);
    e.gzipped = encoded;
    if (http_finished(rq, &e) || http_not_modified(rq, &e))
        return 0;
    held_stream *h = held_stream_new(rq, c, f);
    VP_NEED(h);
    h->pick.early = true;
    h->more.who = site_until_stop(site_of(rq));
    if (first)
        added_tracks_init(&h->more, &h->pick, site_of(rq)->store, h->c, s, host);
    int rc = ex_open(&h->s, form->form, c, f, &h->pick);
    return send_held(rq, h, rc, form->gzip || encoded, &e);
}

int route_trace_json(http_req *rq)
{
    const wanted *form;
    const cat_session *s;
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    VP_TRY(site_session(&c, &s, rq));
    const cat_host *h = host_of_file_name(s, vp_str_of(http_param(rq, 1)), &form);
    const cat_file *f = h ? ex_half(form->form, s, h) : NULL;
    if (!h && trace_hosts_is(s, http_param(rq, 1)))
        return trace_hosts_send(rq, c, s, http_param(rq, 1));
    if (!h)
        return http_fail(rq, 404,
                         "no such host in this run; use HOST.json, HOST.json.gz or HOST.pftrace, "
                         "or " TRACE_HOSTS_PFTRACE " or " TRACE_HOSTS_BUNDLE);
    if (!f)
        return http_fail(rq, 422, "this host has no timeline for this format");
    int rc = send_trace(rq, c, s, h, f, true, form);
    const cat_file *other = ex_other_half(form->form, s, h, f);
    bool unreadable = rc == VP_ECORRUPT || rc == VP_EUNSUPPORTED || rc == VP_EEMPTY;
    return unreadable && other ? send_trace(rq, c, s, h, other, false, form) : rc;
}

/* ---- Files as they are ---------------------------------------------------------------------- */

static const cat_file *file_of(const cat_session *s, const char *name)
{
    for (size_t i = 0; i < s->file_count; i++)
        if (!strcmp(s->files[i].name, name))
            return &s->files[i];
    return NULL;
}

static int send_member(http_req *rq, catalog *c, const cat_file *f, const http_entity *e)
{
    held_stream *h = held_stream_new(rq, c, f);
    VP_NEED(h);
    return send_held(rq, h, catalog_stream(&h->s, c, f, true), false, e);
}

int route_trace_raw(http_req *rq)
{
    int fd;
    http_entity e;
    const cat_session *s;
    VP_CLEANUP(site_drop_catalog) catalog *c = NULL;
    VP_TRY(site_session(&c, &s, rq));
    const cat_file *f = file_of(s, http_param(rq, 1));
    if (!f)
        return http_fail(rq, 404, "no such file in this run");
    trace_entity(&e, f, "application/octet-stream", "");
    e.filename = f->name;
    if (f->is_member || catalog_is_elsewhere(c))
        return http_finished(rq, &e) || http_not_modified(rq, &e) ? 0 : send_member(rq, c, f, &e);
    VP_TRY(catalog_fd(&fd, c, f));
    http_keep(rq, SAME_MS);
    return http_file(rq, fd, &e);
}

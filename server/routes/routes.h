/* The web site: a table {methods, pattern, handler}, and what its handlers share. Handlers live
 * in one file a family: pages_*.c (HTML and hand-off), data.c (JSON and traces), assets.c.
 * Included by server/api and server/cli, which start a site, and by the handlers. */
#ifndef VP_ROUTES_ROUTES_H
#define VP_ROUTES_ROUTES_H

#include <stdbool.h>

#include "server/net/http.h"
#include "server/remote/browser.h"
#include "server/routes/damage.h"
#include "server/routes/store.h"

typedef enum site_ui { SITE_UI_BOTH, SITE_UI_PERFETTO, SITE_UI_TENSORBOARD, SITE_UI_NONE } site_ui;

typedef struct site_options {
    const char *profile_dir;
    const char *host;      /* NULL: loopback */
    int port;              /* as in http_config */
    const char *unix_path; /* as in http_config, all five */
    bool inherit;
    const char *path_prefix;
    const char *access_log;
    bool access_log_json;
    const char *token;
    const char *const *allow_hosts, *const *allow_origins; /* NULL-terminated, may be NULL */
    site_ui ui;
    const char *perfetto_ui; /* "https://ui.perfetto.dev" */
    const char *tensorboard; /* base URL; NULL: http://127.0.0.1:<tensorboard_port> */
    int tensorboard_port;    /* 6006 */
    size_t top;              /* rows of the op table where the query names no n */
    /* TensorBoard may keep its caches in the profile directory. */
    bool tensorboard_in_place;
    /* It is started also where a token is required, though it asks nobody for one. */
    bool tensorboard_unguarded;
} site_options;
#define SITE_OPTIONS_INIT                                                                          \
    {                                                                                              \
        .port = -1, .perfetto_ui = "https://ui.perfetto.dev", .tensorboard_port = 6006, .top = 20  \
    }

typedef struct site {
    site_options opts; /* texts are copies */
    store *store;
    http_server *http;
    void *tensorboard; /* state of pages_tensorboard.c; made and freed by its two functions */
    void *extraction;  /* of extract.c, likewise */
    damage_list *damages;
} site;

/* Scans the directory and serves it. VP_ENOTFOUND: no such path; VP_EBUSY: no port. */
int site_start(site **out, const site_options *opts);
void site_stop(site *s);
/* "both", "perfetto", "tensorboard", "none"; false for anything else. */
bool site_ui_of(const char *name, site_ui *out);

/* Appends where a browser is to land: the index, or with a session its page, Perfetto hand-off or
 * TensorBoard link as opts.ui says; with the token, if there is one. */
int site_url(vp_buf *b, const site *s, const cat_session *session);
/* The same page by its parts, for who opens a browser (there is no token then). */
void site_page(browser_page *out, const site *s, const cat_session *session);

/* The table of routes; it ends with a NULL pattern. Tests ask every method of every one. */
const http_route *site_routes(void);

static inline site *site_of(const http_req *rq)
{
    return http_ctx(rq);
}

/* ---- The handlers, by file ------------------------------------------------------------------ */

http_handler route_static;                                           /* assets.c */
http_handler route_health, route_ready, route_metrics, route_rescan; /* operations.c */
http_handler route_sessions_json, route_report_json, route_ops_json,
    route_findings_json;                                                /* api.c */
http_handler route_trace_json, route_trace_raw;                         /* traces.c */
http_handler page_index, page_session, page_perfetto, page_tensorboard; /* pages_*.c */
http_handler page_compare, page_compare_form, route_compare_json;       /* compare.c */
http_handler page_op, route_ops_csv;                                    /* pages_session.c */
http_handler page_headline, route_state_json; /* what app.js asks for: pages_index.c */
http_handler route_live, route_live_capture;  /* live.c */
http_handler route_extract;                   /* extract.c */

/* http_config.refused. refused.c */
int page_refused(http_req *rq, int status, const char *why);

/* The TensorBoard that /tensorboard/ID leads to: made by site_start, ended by site_stop (which may
 * take 3 s where one was started). pages_tensorboard.c */
int tensorboard_open(site *s);
void tensorboard_close(site *s);

/* What POST /api/v1/extract unpacks, into a temporary directory that goes when the site stops.
 * Opened before the store, which reads the copies; closed after it. extract.c */
int extraction_open(site *s, cat_copies *copies);
void extraction_cancel(site *s);
void extraction_close(site *s);

/* For VP_CLEANUP. */
static inline void site_drop_catalog(catalog **c)
{
    catalog_free(*c);
}

/* The session that the first (the i-th) {} of the path names, in a catalog reference that the
 * caller frees; VP_ENOTFOUND. Only exact ids: a path never searches. */
int site_session(catalog **c, const cat_session **s, const http_req *rq);
int site_session_at(catalog **c, const cat_session **s, const http_req *rq, size_t i);
/* The view of the query: top (n), by, device, host. VP_EARG names the bad value. */
int site_view(vp_view *v, const http_req *rq);
/* `group` of the query; VP_EARG. */
int site_group(vp_group *g, const http_req *rq);
/* `where` of the query; VP_EARG. */
int site_where(vp_where *w, const http_req *rq);
/* Whose question to the store a request is: its client's, as long as that is there. */
store_asker site_asker(const http_req *rq);
/* The half of a host's profile that /trace sends as JSON; NULL when neither is readable. */
const cat_file *site_trace_file(const cat_session *s, const cat_host *h);
/* The report of a session, or of the one step that `step` of the query names: the full one, or the
 * tables of host zones. VP_EARG: that is no number; VP_ENOTFOUND: the session has no such step;
 * else as store_get. */
int site_report(store_report **out, const http_req *rq, catalog *c, const cat_session *s,
                vp_group group, vp_where where);

#endif

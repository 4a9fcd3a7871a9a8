/* The web site: its options, its state while it serves, and its URLs. */
#ifndef VP_ROUTES_SITE_H
#define VP_ROUTES_SITE_H

#include <stdbool.h>

#include "server/net/http.h"
#include "server/local/browser.h"
#include "server/routes/store/damage.h"
#include "server/routes/store/store.h"

typedef enum site_ui { SITE_UI_BOTH, SITE_UI_PERFETTO, SITE_UI_TENSORBOARD, SITE_UI_NONE } site_ui;

typedef struct site_options {
    const char *profile_dir;
    mirror *mirror;      /* the caller's: profile_dir is its address; NULL: that lies here */
    const char *watched; /* where a watch of that address keeps its state; NULL: profile_dir */
    http_options http;   /* origins: the Perfetto UI's is added */
    site_ui ui;
    const char *perfetto_ui;  /* "https://ui.perfetto.dev"; NULL: that of perfetto_dir alone */
    const char *perfetto_dir; /* a build of the Perfetto UI on this machine; NULL: none */
    const char *tensorboard;  /* base URL; NULL: http://127.0.0.1:<tensorboard_port> */
    int tensorboard_port;     /* 6006 */
    size_t top;               /* rows of the op table where the query names no n */
    bool keep_ranks_apart;    /* as in cat_options */
    /* TensorBoard may keep its caches in the profile directory. */
    bool tensorboard_in_place;
    /* It is started also where a token is required, though it asks nobody for one. */
    bool tensorboard_unguarded;
    /* Where captures over the network land, absolute, if their process runs
     * (server/local/outside_capture.h); NULL: nowhere, and no_captures says why, a constant. */
    const char *captures, *no_captures;
    /* What devices can do, as in vp_report_options; texts outlive the site. */
    const char *chip;
    double peak_tflops, peak_gb_s;
    /* Where sources lie that profiles name by a relative path, absolute; NULL: nobody knows. */
    const char *source_root;
} site_options;
#define SITE_OPTIONS_INIT                                                                          \
    {                                                                                              \
        .http.port = -1, .perfetto_ui = "https://ui.perfetto.dev", .tensorboard_port = 6006,       \
        .top = 20                                                                                  \
    }

typedef struct site {
    site_options opts; /* texts are copies */
    store *store;
    struct timelines *timelines;
    http_server *http;
    struct ui_server *perfetto;    /* of opts.perfetto_dir; NULL: none is served */
    struct tb *tensorboard;        /* made and freed by pages_tensorboard.c */
    struct extraction *extraction; /* by extraction.c, likewise */
    struct captures *captures;     /* by capture_jobs.c; NULL: nothing is captured */
    damage_list *damages;
} site;

/* "both", "perfetto", "tensorboard", "none"; false for anything else. */
bool site_ui_of(const char *name, site_ui *out);

/* Appends where a browser is to land: the index, or with a session its page, Perfetto hand-off or
 * TensorBoard link as opts.ui says; with the token, if there is one. */
int site_url(vp_buf *b, const site *s, const cat_session *session);
/* The same page by its parts, for who opens a browser (there is no token then). */
void site_page(browser_page *out, const site *s, const cat_session *session);

/* For VP_CLEANUP. */
static inline void site_drop_catalog(catalog **c)
{
    catalog_free(*c);
}

static inline site *site_of(const http_req *rq)
{
    return http_ctx(rq);
}

/* A store_asker that waits until the server stops. */
store_asker site_until_stop(const site *s);

#endif

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
    mirror *mirror; /* owned by the caller; profile_dir is its URL; NULL: profile_dir is local */
    const char *watched; /* directory with the state of a watch of that URL; NULL: profile_dir */
    http_options http;   /* origins: the origin of the Perfetto UI is added */
    site_ui ui;
    const char *perfetto_ui;  /* "https://ui.perfetto.dev"; NULL: only the UI of perfetto_dir */
    const char *perfetto_dir; /* a build of the Perfetto UI on this machine; NULL: none */
    const char *tensorboard;  /* base URL; NULL: http://127.0.0.1:<tensorboard_port> */
    int tensorboard_port;     /* 6006 */
    size_t top;               /* default number of rows of the op table */
    bool keep_ranks_apart;    /* as in cat_options */
    /* TensorBoard may keep its caches in the profile directory. */
    bool tensorboard_in_place;
    /* Start TensorBoard although it has no authentication and this server requires a token. */
    bool tensorboard_unguarded;
    /* Absolute directory for network captures, if the capture process runs
     * (server/local/outside_capture.h); NULL: no captures, and no_captures is the reason, a
     * constant. */
    const char *captures, *no_captures;
    /* Peaks of devices, as in vp_report_options; texts outlive the site. */
    const char *chip;
    double peak_tflops, peak_gb_s;
    /* Absolute directory for relative source paths of profiles; NULL: unknown. */
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
    struct ui_server *perfetto;    /* serves opts.perfetto_dir; NULL: not served */
    struct tb *tensorboard;        /* created and freed by pages_tensorboard.c */
    struct extraction *extraction; /* likewise by extraction.c */
    struct captures *captures;     /* by capture_jobs.c; NULL: captures are not possible */
    damage_list *damages;
} site;

/* "both", "perfetto", "tensorboard", "none"; false for other names. */
bool site_ui_of(const char *name, site_ui *out);

/* Appends the URL to open in a browser: the index, or with a run its page, Perfetto hand-off or
 * TensorBoard link, depending on opts.ui; with the token, if there is one. */
int site_url(vp_buf *b, const site *s, const cat_session *session);
/* The same URL in parts, for opening a browser; there is no token then. */
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

#include "server/routes/site_start.h"

#include <string.h>
#include <time.h>

#include "server/routes/extraction.h"
#include "server/routes/handoff/pages_tensorboard.h"
#include "server/routes/handoff/ui_server.h"
#include "server/routes/live/capture_jobs.h"
#include "server/routes/routes.h"
#include "server/routes/site/refused.h"
#include "server/routes/timeline/timelines.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static int copy_option_text(const char **text)
{
    if (*text && !(*text = vp_strdup(*text)))
        return vp_no_memory();
    return 0;
}

/* Copies the options that handlers use later. http_start copies those of the server. */
static int copy_options(site_options *to, const site_options *from)
{
    *to = (site_options){.http.port = from->http.port,
                         .ui = from->ui,
                         .tensorboard_port = from->tensorboard_port,
                         .tensorboard_in_place = from->tensorboard_in_place,
                         .tensorboard_unguarded = from->tensorboard_unguarded,
                         .top = from->top,
                         .profile_dir = from->profile_dir,
                         .watched = from->watched,
                         .perfetto_ui = from->perfetto_ui,
                         .perfetto_dir = from->perfetto_dir,
                         .tensorboard = from->tensorboard,
                         .captures = from->captures,
                         .no_captures = from->no_captures,
                         .source_root = from->source_root,
                         .chip = from->chip,
                         .peak_tflops = from->peak_tflops,
                         .peak_gb_s = from->peak_gb_s};
    const char **texts[] = {&to->profile_dir, &to->perfetto_ui, &to->perfetto_dir,
                            &to->tensorboard, &to->captures,    &to->watched};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int rc = copy_option_text(texts[i]);
        if (rc < 0) {
            for (size_t k = i; k < sizeof texts / sizeof *texts; k++)
                *texts[k] = NULL;
            return rc;
        }
    }
    return 0;
}

static void cancel_work(void *ctx)
{
    site *s = ctx;
    store_cancel(s->store);
    extraction_cancel(s);
}

/* "https://host:port" of a URL. */
static char *origin_of_url(const char *url)
{
    const char *host = strstr(url, "://");
    return vp_strndup(url, host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0);
}

/* Starts the server. A Perfetto UI that was set by an option may fetch traces, like the public one.
 */
static int start_site_http(site *s, const site_options *opts)
{
    size_t n = 0;
    while (opts->http.allow_origins && opts->http.allow_origins[n])
        n++;
    VP_CLEANUP(vp_free_ptr)
    char *ui = origin_of_url(s->opts.perfetto_ui ? s->opts.perfetto_ui : "");
    VP_CLEANUP(vp_free_ptr) const char **origins = vp_calloc(n + 2, sizeof *origins);
    VP_NEED(ui && origins);
    for (size_t i = 0; i < n; i++)
        origins[i] = opts->http.allow_origins[i];
    origins[n] = ui[0] ? ui : NULL;
    http_config cfg = {.opts = opts->http,
                       .routes = site_routes(),
                       .ctx = s,
                       .refused = page_refused,
                       .cancel = cancel_work};
    cfg.opts.allow_origins = origins;
    return http_start(&s->http, &cfg);
}

int site_start(site **out, const site_options *opts)
{
    site *s = vp_calloc(1, sizeof *s);
    VP_NEED(s);
    cat_copies copies;
    tzset(); /* localtime_r does not have to call it, and concurrent calls would race */
    int rc = copy_options(&s->opts, opts);
    if (!rc)
        rc = extraction_open(s, &copies);
    if (!rc)
        rc =
            store_open(&s->store, opts->profile_dir, &copies, opts->mirror, opts->keep_ranks_apart);
    if (!rc)
        store_set_peaks(s->store, opts->chip, opts->peak_tflops, opts->peak_gb_s);
    if (!rc)
        rc = timelines_open(&s->timelines, s->store, VP_TIMELINE_KEPT_MAX, VP_TIMELINE_LATE_EVENTS);
    if (!rc)
        rc = damage_new(&s->damages);
    if (!rc)
        rc = tensorboard_open(s);
    if (!rc)
        rc = captures_open(s);
    if (!rc && opts->perfetto_dir && !opts->http.unix_path)
        rc = ui_server_start(&s->perfetto, opts->perfetto_dir, opts->http.port);
    if (!rc)
        rc = start_site_http(s, opts);
    if (rc < 0) {
        site_stop(s);
        return rc;
    }
    *out = s;
    return 0;
}

void site_stop(site *s)
{
    if (!s)
        return;
    http_stop(s->http);
    captures_close(s);
    ui_server_stop(s->perfetto);
    tensorboard_close(s);
    if (s->store)
        store_cancel(s->store); /* the server never started, so there are no other references */
    timelines_close(s->timelines);
    store_close(s->store);
    extraction_close(s);
    damage_free(s->damages);
    vp_free((void *)(uintptr_t)s->opts.profile_dir);
    vp_free((void *)(uintptr_t)s->opts.perfetto_ui);
    vp_free((void *)(uintptr_t)s->opts.perfetto_dir);
    vp_free((void *)(uintptr_t)s->opts.tensorboard);
    vp_free((void *)(uintptr_t)s->opts.captures);
    vp_free((void *)(uintptr_t)s->opts.watched);
    vp_free(s);
}

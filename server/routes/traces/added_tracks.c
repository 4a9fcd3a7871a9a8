#include "server/routes/traces/added_tracks.h"

#include <stdatomic.h>

#include "trace/analyze/analyze.h"
#include "trace/base/err.h"
#include "trace/base/log.h"

static bool has_client_gone(const void *of)
{
    const added_tracks *t = of;
    return (t->who.gone && t->who.gone(t->who.ctx)) ||
           (t->client.gone && t->client.gone(t->client.ctx));
}

/* Temporary errors: memory and time depend on other requests. */
static bool may_pass(int rc)
{
    return rc == VP_ENOMEM || rc == VP_ELIMIT || rc == VP_EBUSY || rc == VP_ECANCELLED;
}

/* The two files of a host can have different time origins. */
static bool is_of_exported(const added_tracks *t, const derived *made)
{
    const cat_file *analyzed = &t->s->files[made->file];
    if (!t->pick->file || t->pick->file == analyzed)
        return true;
    vp_log(VP_LOG_WARN, "%s is exported without analysis tracks; the analysis is of %s",
           t->pick->file->name, analyzed->name);
    return false;
}

static int stop_when_asked(void *ctx, int64_t done, int64_t total)
{
    added_tracks *t = ctx;
    (void)done;
    (void)total;
    return atomic_load(&t->stop);
}

static int analyze_added_tracks(void *ctx)
{
    added_tracks *t = ctx;
    vp_report_options opts = VP_REPORT_OPTIONS_INIT;
    opts.progress = stop_when_asked;
    opts.progress_ctx = t;
    return analyze_derived(&t->made, t->c, t->s, t->h, &opts);
}

static int make_added_tracks(void *ctx, const derived **out)
{
    added_tracks *t = ctx;
    const store_asker who = {has_client_gone, t};
    if (has_client_gone(t)) {
        t->lacking = true;
        return 0; /* *out is NULL */
    }
    const derived *made = NULL;
    int rc = t->st ? store_get_tracks(&t->held, t->st, t->c, t->s, t->h, &who)
                   : vp_aside_join(&t->aside, 0);
    t->lacking = t->lacking || may_pass(rc);
    if (rc >= 0)
        made = t->st ? store_tracks_of(t->held) : t->made;
    if (rc < 0)
        vp_log(VP_LOG_WARN, "%s is exported without analysis tracks: %s", t->h->name,
               vp_error_last()->message);
    else if (made && made->left_out)
        vp_log(VP_LOG_WARN, "%s: %llu slices of the analysis omitted (too many)", t->h->name,
               (unsigned long long)made->left_out);
    if (made && !is_of_exported(t, made)) {
        t->lacking = true; /* the better file may have been too large at this moment */
        made = NULL;
    }
    *out = made;
    return 0;
}

void added_tracks_init(added_tracks *t, ex_pick *pick, store *st, catalog *c, const cat_session *s,
                       const cat_host *h)
{
    *t = (added_tracks){.added = {.make = make_added_tracks, .ctx = t},
                        .st = st,
                        .c = c,
                        .s = s,
                        .h = h,
                        .pick = pick,
                        .who = t->who,
                        .client = t->client,
                        .lacking = t->lacking};
    pick->added = &t->added;
    if (!st && !pick->most) /* which omits added tracks */
        vp_aside_start(&t->aside, analyze_added_tracks, t);
}

static void init_tracks_of_host(void *ctx, const cat_host *h, ex_pick *pick)
{
    added_tracks *t = ctx;
    added_tracks_free(t);
    added_tracks_init(t, pick, t->st, t->c, t->s, h);
}

void added_tracks_of_hosts(added_tracks *t, ex_hosts *hosts)
{
    hosts->prepare = init_tracks_of_host;
    hosts->ctx = t;
}

void added_tracks_client(added_tracks *t, bool (*gone)(const void *of), const void *of)
{
    t->client = (store_asker){gone, of};
}

void added_tracks_free(added_tracks *t)
{
    ex_added_free(&t->added);
    atomic_store(&t->stop, true);
    vp_aside_wait(&t->aside);
    t->aside = (vp_aside){0};
    derived_free(t->made);
    t->made = NULL;
    store_release(&t->held);
}

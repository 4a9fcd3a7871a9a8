#include "trace/analyze/load.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

/* A program without a device has no framework paths, but zones within zones: "main/frame/draw".
 * Each event's kind becomes one of its path. Paths end at PATH_DEPTH; of more than PATHS_MAX the
 * rest keeps kinds without one. */
#define PATH_DEPTH 64u
#define PATHS_MAX 65536u

typedef struct open_zone {
    int64_t end;
    uint32_t kind; /* of its path */
} open_zone;

typedef struct paths {
    trace *t;
    vp_map known; /* kind of the path around << 32 | own kind, to the kind of both */
    vp_buf text;
    open_zone open[PATH_DEPTH];
    size_t depth;
} paths;

/* A '/' parts the zones of a path; where a function is written is no part of its name. */
static int put_name(vp_buf *b, vp_str name)
{
    name = vp_str_head(name, vp_str_find(name, VP_STR(" (")));
    for (size_t i = 0; i < name.n; i++)
        vp_buf_putc(b, name.p[i]);
    for (size_t i = b->n - name.n; b->status >= 0 && i < b->n; i++)
        if (b->p[i] == '/')
            b->p[i] = ':';
    return name.n ? b->status : vp_buf_puts(b, "(no name)");
}

static int kind_in(uint32_t *out, paths *p, uint32_t around, uint32_t kind)
{
    uint64_t key = (uint64_t)around << 32 | kind;
    trace *t = p->t;
    *out = vp_map_get(&p->known, key);
    if (*out != VP_MAP_NONE)
        return 0;
    *out = kind;
    if (p->known.count >= PATHS_MAX)
        return 0;
    trace_kind k = t->kinds[kind];
    p->text.n = 0;
    if (around != SINK_NONE) {
        vp_buf_str(&p->text, trace_str(t, t->kinds[around].scope));
        vp_buf_putc(&p->text, '/');
    }
    VP_TRY(put_name(&p->text, trace_str(t, k.name)));
    VP_TRY(vp_intern_put(&t->names, vp_buf_view(&p->text), &k.scope));
    VP_TRY(vp_grow(&t->kinds, &t->kind_cap, (size_t)t->kind_count + 1, sizeof k, VP_INTERN_MAX));
    t->kinds[t->kind_count] = k;
    *out = t->kind_count++;
    return vp_map_set(&p->known, key, *out);
}

static int one_track(paths *p, trace_track *k)
{
    p->depth = 0;
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = k->start_ps[i], end = start + k->dur_ps[i];
        while (p->depth && p->open[p->depth - 1].end <= start)
            p->depth--;
        size_t at = k->spans ? 0 : p->depth; /* the innermost that holds all of it */
        while (at && p->open[at - 1].end < end)
            at--;
        VP_TRY(kind_in(&k->kind[i], p, at ? p->open[at - 1].kind : SINK_NONE, k->kind[i]));
        if (p->depth < PATH_DEPTH)
            p->open[p->depth++] = (open_zone){end, k->kind[i]};
    }
    return 0;
}

int call_paths(trace *t)
{
    paths p = {.t = t};
    int rc = 0;
    vp_map_init(&p.known);
    vp_buf_init(&p.text, SIZE_MAX / 8);
    for (uint32_t i = 0; rc >= 0 && i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            rc = one_track(&p, &t->tracks[i]);
    vp_map_free(&p.known);
    vp_buf_free(&p.text);
    return rc;
}

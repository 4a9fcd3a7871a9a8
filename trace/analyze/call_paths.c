/* `--group scope` and `--group stack` without a device: call paths of zones replace framework
 * paths. */
#include <ctype.h>
#include <string.h>

#include "trace/analyze/load.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/numbered_name.h"

/* A program without a device has no framework paths, but nested zones: "main/frame/draw". The kind
 * of each event becomes that of its path. TensorFlow's ops on CPU are the exception: their names
 * are their paths in the graph, independent of the caller. A path ends at PATH_DEPTH components;
 * beyond PATHS_MAX paths, events keep their kinds. */
#define PATH_DEPTH 64u
#define PATHS_MAX 65536u

typedef struct open_zone {
    int64_t end;
    uint32_t kind; /* of the event's path */
} open_zone;

typedef struct paths {
    trace *t;
    vp_map known; /* kind of the enclosing path << 32 | own kind → kind of both */
    vp_buf text;
    bool tensorflow;
    open_zone open[PATH_DEPTH];
    size_t depth;
} paths;

static bool is_one_of(char c, const char *more)
{
    return isalnum((unsigned char)c) || (c && strchr(more, c));
}

/* The path in "model/dense/MatMul:MatMul" (old versions omit the type); empty if the name is not
 * that of an op. The accepted characters are those of XProf. */
static vp_str path_of_op(vp_str name)
{
    size_t n = 0;
    while (n < name.n && is_one_of(name.p[n], n ? "_./>-" : "."))
        n++;
    vp_str path = vp_str_head(name, n), type = vp_str_skip(name, n + 1);
    if (n == name.n)
        return memchr(name.p, '/', n) ? path : VP_STR_NONE;
    bool is_op = n && name.p[n] == ':' && type.n && !islower((unsigned char)*type.p) &&
                 !isdigit((unsigned char)*type.p);
    for (size_t i = 0; is_op && i < type.n; i++)
        is_op = is_one_of(type.p[i], "_");
    return is_op ? path : VP_STR_NONE;
}

/* Zones of other programs may have names like ops, so TensorFlow is identified by the executor that
 * runs its ops, or by its threads. */
static bool is_tensorflow(const trace *t)
{
    bool is = false;
    for (uint32_t i = 0; i < t->kind_count && !is; i++)
        is = vp_str_starts(trace_str(t, t->kinds[i].name), VP_STR("ExecutorState::"));
    for (uint32_t i = 0; i < t->track_count && !is; i++)
        is = vp_str_starts(trace_str(t, t->tracks[i].name), VP_STR("tf_"));
    return is;
}

/* A '/' separates the zones of a path; the source file of a function is not part of its name. */
static int put_zone_name(vp_buf *b, vp_str name)
{
    name = vp_str_head(name, vp_str_find(name, VP_STR(" (")));
    name = links_without_step_number(name);
    for (size_t i = 0; i < name.n; i++)
        vp_buf_putc(b, name.p[i]);
    for (size_t i = b->n - name.n; b->status >= 0 && i < b->n; i++)
        if (b->p[i] == '/')
            b->p[i] = ':';
    return name.n ? b->status : vp_buf_puts(b, "(no name)");
}

static int path_kind_in(uint32_t *out, paths *p, uint32_t around, uint32_t kind)
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
    vp_str name = trace_str(t, k.name), op = p->tensorflow ? path_of_op(name) : VP_STR_NONE;
    p->text.n = 0;
    if (around != SINK_NONE && !op.n) {
        vp_buf_str(&p->text, trace_str(t, t->kinds[around].scope));
        vp_buf_putc(&p->text, '/');
    }
    VP_TRY(op.n ? vp_buf_str(&p->text, op) : put_zone_name(&p->text, name));
    VP_TRY(vp_intern_put(&t->names, vp_buf_view(&p->text), &k.scope));
    VP_TRY(vp_grow(&t->kinds, &t->kind_cap, (size_t)t->kind_count + 1, sizeof k, VP_INTERN_MAX));
    t->kinds[t->kind_count] = k;
    *out = t->kind_count++;
    return vp_map_set(&p->known, key, *out);
}

static int paths_of_track(paths *p, trace_track *k)
{
    p->depth = 0;
    for (size_t i = 0; i < k->count; i++) {
        int64_t start = trace_start(k, i), end = start + trace_dur(k, i);
        while (p->depth && p->open[p->depth - 1].end <= start)
            p->depth--;
        size_t at = k->spans ? 0 : p->depth; /* the innermost zone that contains all of it */
        while (at && p->open[at - 1].end < end)
            at--;
        uint32_t kind;
        VP_TRY(path_kind_in(&kind, p, at ? p->open[at - 1].kind : SINK_NONE, trace_kind_of(k, i)));
        VP_TRY(trace_times_set_kind(&k->own, i, kind));
        if (p->depth < PATH_DEPTH)
            p->open[p->depth++] = (open_zone){end, kind};
    }
    return 0;
}

int call_paths(trace *t)
{
    paths p = {.t = t, .tensorflow = is_tensorflow(t)};
    int rc = 0;
    vp_map_init(&p.known);
    vp_buf_init(&p.text, SIZE_MAX / 8);
    for (uint32_t i = 0; rc >= 0 && i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            rc = paths_of_track(&p, &t->tracks[i]);
    vp_map_free(&p.known);
    vp_buf_free(&p.text);
    return rc;
}

#include "trace/analyze/host/compile_roots.h"

#include <stdlib.h>

#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

typedef struct search {
    compile_roots *r;
    const trace *t;
    const host_kinds *kinds;
    vp_map by_name; /* a call's name → function */
    uint32_t track;
    size_t first;    /* the first root of this thread */
    vp_map by_frame; /* number of a frame of torch.compile → function */
    uint32_t call;   /* the function of the outermost call that is open */
    int64_t call_start, call_end;
    int64_t covered_to; /* until then the thread compiles, traces or lowers */
    int64_t covered_ps;
    bool calls; /* the thread calls functions */
} search;

static int function_named(uint32_t *out, search *s, vp_sid name)
{
    compile_roots *r = s->r;
    uint32_t i = vp_map_get(&s->by_name, name);
    if (i == VP_MAP_NONE) {
        i = (uint32_t)r->function_count;
        VP_TRY(vp_grow(&r->functions, &r->function_cap, r->function_count + 1, sizeof *r->functions,
                       UINT32_MAX - 1));
        VP_TRY(vp_map_set(&s->by_name, name, i));
        r->functions[r->function_count++] =
            (compile_function){.name = name, .frame = -1, .track = UINT32_MAX, .end = INT64_MIN};
    }
    *out = i;
    return 0;
}

/* A call begins. JAX nests one PjitFunction(f) in another: only the outermost of a name is a call.
 */
static int on_call(search *s, vp_sid name, int64_t start, int64_t end)
{
    uint32_t i;
    VP_TRY(function_named(&i, s, name));
    compile_function *f = &s->r->functions[i];
    s->calls = true;
    if (f->track != s->track || start >= f->end) {
        f->calls++;
        f->track = s->track;
        f->end = end;
    }
    if (start >= s->call_end) {
        s->call = i;
        s->call_start = start;
        s->call_end = end;
    }
    return 0;
}

static int on_compile(search *s, int64_t start, int64_t end)
{
    compile_roots *r = s->r;
    compile_root *last = r->n > s->first ? &r->v[r->n - 1] : NULL;
    if (last && start < last->end) {
        last->end = end > last->end ? end : last->end;
        return 0;
    }
    VP_TRY(vp_grow(&r->v, &r->cap, r->n + 1, sizeof *r->v, VP_EVENTS_MAX));
    bool called = start < s->call_end;
    int64_t since = s->call_start;
    if (called && last && last->end > since)
        since = last->end;
    r->v[r->n++] = (compile_root){.start = start,
                                  .end = end,
                                  .track = s->track,
                                  .function = called ? s->call : NO_FUNCTION,
                                  .prepare = called && start > since ? start - since : 0,
                                  .frame = -1,
                                  .recompile = -1};
    return 0;
}

/* "0/1" after `mark` in a name: frame and recompile of torch.compile. */
static bool parse_compile_id(vp_str name, vp_str mark, int64_t *frame, int64_t *recompile)
{
    size_t at = vp_str_find(name, mark);
    if (at == name.n)
        return false;
    name = vp_str_skip(name, at + mark.n);
    size_t slash = vp_str_find(name, VP_STR("/")), end = slash + 1;
    while (end < name.n && name.p[end] >= '0' && name.p[end] <= '9')
        end++;
    return slash < name.n && vp_str_to_i64(vp_str_head(name, slash), frame) && *frame >= 0 &&
           vp_str_to_i64(vp_str_skip(vp_str_head(name, end), slash + 1), recompile) &&
           *recompile >= 0;
}

static int frame_function(uint32_t *out, search *s, int64_t frame)
{
    compile_roots *r = s->r;
    *out = vp_map_get(&s->by_frame, (uint64_t)frame);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&r->functions, &r->function_cap, r->function_count + 1, sizeof *r->functions,
                   UINT32_MAX - 1));
    *out = (uint32_t)r->function_count;
    VP_TRY(vp_map_set(&s->by_frame, (uint64_t)frame, *out));
    r->functions[r->function_count++] = (compile_function){
        .frame = frame, .first = INT64_MAX, .last = -1, .track = UINT32_MAX, .end = INT64_MIN};
    return 0;
}

static int set_root_frame(search *s, compile_root *root, int64_t frame, int64_t recompile)
{
    uint32_t i;
    VP_TRY(frame_function(&i, s, frame));
    root->frame = frame;
    root->recompile = recompile;
    root->function = i;
    compile_function *f = &s->r->functions[i];
    f->last = recompile > f->last ? recompile : f->last;
    f->first = recompile < f->first ? recompile : f->first;
    return 0;
}

/* A function that goes on behind a graph break is called. */
static int on_resume(search *s, vp_sid name)
{
    uint32_t i;
    VP_TRY(function_named(&i, s, name));
    s->r->functions[i].calls++;
    return 0;
}

/* torch.compile names what it compiles inside the compilation, or only the region that runs
 * next. */
static int on_region(search *s, vp_sid kind, int64_t start)
{
    vp_str name = trace_str(s->t, kind);
    compile_roots *r = s->r;
    compile_root *last = r->n > s->first ? &r->v[r->n - 1] : NULL;
    int64_t frame, recompile;
    uint32_t i;
    if (parse_compile_id(name, VP_STR("compile_id="), &frame, &recompile)) {
        bool own = last && start < last->end && last->frame < 0 && last->function == NO_FUNCTION;
        return own ? set_root_frame(s, last, frame, recompile) : 0;
    }
    if (!parse_compile_id(name, VP_STR("Torch-Compiled Region: "), &frame, &recompile))
        return on_resume(s, kind);
    if (last && last->frame < 0 && last->function == NO_FUNCTION && last->end <= start)
        VP_TRY(set_root_frame(s, last, frame, recompile));
    VP_TRY(frame_function(&i, s, frame));
    r->functions[i].calls++;
    return 0;
}

static void on_cache(search *s, int64_t start, bool miss)
{
    compile_function *f = start < s->call_end ? &s->r->functions[s->call] : NULL;
    s->r->reads += !miss;
    s->r->misses += miss;
    if (f) {
        f->reads += !miss;
        f->misses += miss;
    }
}

static int search_on_event(search *s, const trace_track *k, size_t i)
{
    uint32_t flags = host_kind_flags(s->kinds, trace_kind_of(k, i));
    int64_t start = trace_start(k, i), end = start + trace_dur(k, i);
    if (flags & HK_CALL)
        VP_TRY(on_call(s, s->t->kinds[trace_kind_of(k, i)].name, start, end));
    if (flags & HK_COMPILE)
        VP_TRY(on_compile(s, start, end));
    if (flags & HK_REGION)
        VP_TRY(on_region(s, s->t->kinds[trace_kind_of(k, i)].name, start));
    if (flags & (HK_CACHE | HK_CACHE_MISS))
        on_cache(s, start, flags & HK_CACHE_MISS);
    if ((flags & (HK_COMPILE | HK_LOWER)) && end > s->covered_to) {
        s->covered_ps += end - (start > s->covered_to ? start : s->covered_to);
        s->covered_to = end;
    }
    return 0;
}

static int on_thread(search *s, uint32_t track)
{
    const trace_track *k = &s->t->tracks[track];
    compile_roots *r = s->r;
    s->track = track;
    s->first = r->n;
    s->call_start = s->call_end = s->covered_to = INT64_MIN;
    s->covered_ps = 0;
    s->calls = false;
    for (size_t i = host_marked_from(s->kinds, k, 0); i < k->count;
         i = host_marked_from(s->kinds, k, i + 1))
        VP_TRY(search_on_event(s, k, i));
    r->lower_ps += s->covered_ps;
    for (size_t i = s->first; i < r->n; i++) {
        r->lower_ps -= r->v[i].end - r->v[i].start;
        r->v[i].helper = !s->calls;
    }
    return 0;
}

int compile_roots_regions(uint32_t **out, const compile_roots *r, const trace *t,
                          const host_kinds *kinds)
{
    uint32_t *of_kind = *out = vp_calloc((size_t)t->kind_count + 1, sizeof *of_kind);
    int64_t frame, recompile;
    vp_map by_frame;
    int rc = 0;
    VP_NEED(of_kind);
    vp_map_init(&by_frame);
    for (size_t i = 0; rc >= 0 && i < r->function_count; i++)
        if (r->functions[i].frame >= 0)
            rc = vp_map_set(&by_frame, (uint64_t)r->functions[i].frame, (uint32_t)i);
    for (uint32_t k = 0; rc >= 0 && k < t->kind_count; k++) {
        of_kind[k] = NO_FUNCTION;
        if ((host_kind_flags(kinds, k) & HK_REGION) &&
            parse_compile_id(trace_str(t, t->kinds[k].name), VP_STR("Torch-Compiled Region: "),
                             &frame, &recompile))
            of_kind[k] = vp_map_get(&by_frame, (uint64_t)frame);
    }
    vp_map_free(&by_frame);
    return rc;
}

static int by_root_start(const void *a, const void *b)
{
    const compile_root *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->track > y->track) - (x->track < y->track);
}

/* Drops roots on threads of a compiler's pool that lie inside a root of another thread: they are
 * part of it. Roots come by start, so only two can contain the next one: those on different threads
 * that reach farthest. */
static void drop_helpers(compile_roots *r)
{
    compile_root far[2] = {{.end = INT64_MIN, .track = UINT32_MAX},
                           {.end = INT64_MIN, .track = UINT32_MAX}};
    size_t n = 0;
    if (r->n)
        qsort(r->v, r->n, sizeof *r->v, by_root_start);
    for (size_t i = 0; i < r->n; i++) {
        compile_root x = r->v[i];
        const compile_root *other = far[0].track == x.track ? &far[1] : &far[0];
        if (x.helper && other->end >= x.end)
            continue;
        r->v[n++] = x;
        if (x.end <= far[0].end && far[0].track != x.track) {
            if (x.end > far[1].end)
                far[1] = x;
        } else if (x.end > far[0].end) {
            if (far[0].track != x.track)
                far[1] = far[0];
            far[0] = x;
        }
    }
    r->n = n;
}

int compile_roots_find(compile_roots *out, const trace *t, const host_kinds *kinds)
{
    search s = {.r = out, .t = t, .kinds = kinds};
    int rc = 0;
    vp_map_init(&s.by_name);
    vp_map_init(&s.by_frame);
    for (uint32_t i = 0; rc >= 0 && i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            rc = on_thread(&s, i);
    vp_map_free(&s.by_name);
    vp_map_free(&s.by_frame);
    if (rc >= 0)
        drop_helpers(out);
    return rc;
}

void compile_roots_free(compile_roots *r)
{
    vp_free(r->v);
    vp_free(r->functions);
    *r = (compile_roots){0};
}

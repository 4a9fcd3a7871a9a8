/* The rows of an XSpace: processes, threads, their order. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/xspace_json.h"
#include "trace/image/xspace_fields.h"
#include "trace/read/names/roles.h"

static int keep_name(xj_layout *l, xs_window *w, const xw_field *f, vp_str *out)
{
    const uint8_t *p;
    size_t have, n = f->u < XJ_NAME_MAX ? (size_t)f->u : XJ_NAME_MAX;
    VP_TRY(n ? xw_need(w, f->offset, n, &p, &have) : 0);
    char *copy = vp_arena_strndup(&l->arena, n ? (const char *)p : "", n);
    VP_NEED(copy);
    *out = (vp_str){copy, n};
    return 0;
}

static void damaged(xj_layout *l, int64_t at)
{
    if (l->damage < 0)
        l->damage = at;
}

/* What a line says of itself. */
typedef struct line_head {
    xj_track track;
    int64_t display_id;
    vp_str display;
} line_head;

static int take_head(line_head *h, xj_layout *l, xs_window *w, const xw_field *f)
{
    if (f->wire == VP_PB_LEN)
        return f->number == XLINE_NAME           ? keep_name(l, w, f, &h->track.name)
               : f->number == XLINE_DISPLAY_NAME ? keep_name(l, w, f, &h->display)
                                                 : 0;
    if (f->wire != VP_PB_VARINT)
        return 0;
    if (f->number == XLINE_ID)
        h->track.id = (int64_t)f->u;
    else if (f->number == XLINE_TIMESTAMP_NS)
        h->track.timestamp_ns = (int64_t)f->u;
    else if (f->number == XLINE_DISPLAY_ID)
        h->display_id = (int64_t)f->u;
    return 0;
}

/* display_id and display_name stand behind the events, so every line is walked to its end. */
static int walk_line(xj_layout *l, xs_window *w, line_head *h, xj_scan *scan)
{
    int64_t at = h->track.offset;
    xw_field f;
    int rc;
    while ((rc = xw_next(w, &at, h->track.end, &f)) > 0) {
        bool event = f.number == XLINE_EVENTS;
        l->any_event = l->any_event || event;
        VP_TRY(event && f.wire == VP_PB_LEN ? xj_scan_event(scan, w, &f) : take_head(h, l, w, &f));
    }
    if (rc == VP_ECORRUPT)
        damaged(l, at);
    return rc == VP_ECORRUPT ? 0 : rc;
}

static int add_track(xj_layout *l, xs_window *w, int64_t offset, int64_t end, uint32_t number)
{
    line_head h = {.track = {.plane = (uint32_t)l->plane_count,
                             .offset = offset,
                             .end = end,
                             .number = number,
                             .name = VP_STR("")}};
    xj_track *t = &h.track;
    xj_scan scan = {.pick = l->pick};
    int rc = walk_line(l, w, &h, &scan);
    xj_scan_free(&scan);
    VP_TRY(rc);
    t->id = h.display_id ? h.display_id : t->id;
    t->name = h.display.n ? h.display : t->name;
    t->events = scan.events;
    t->least_ns = scan.least_ns;
    t->unsorted = scan.unsorted;
    t->overlapping = scan.overlapping;
    VP_TRY(vp_grow(&l->tracks, &l->track_cap, l->track_count + 1, sizeof *t, VP_TRACKS_MAX));
    l->tracks[l->track_count++] = *t;
    return 0;
}

static int add_plane(xj_layout *l, xs_window *w, int64_t offset, int64_t end)
{
    xj_plane pl = {.offset = offset, .end = end, .name = VP_STR("")};
    uint32_t lines = 0;
    int64_t at = offset;
    xw_field f;
    int rc;
    while ((rc = xw_next(w, &at, end, &f)) > 0) {
        if (f.number == XPLANE_ID && f.wire == VP_PB_VARINT)
            pl.id = (int64_t)f.u;
        else if (f.number == XPLANE_NAME && f.wire == VP_PB_LEN)
            VP_TRY(keep_name(l, w, &f, &pl.name));
        else if (f.number == XPLANE_LINES && f.wire == VP_PB_LEN)
            VP_TRY(add_track(l, w, f.offset, at, ++lines));
    }
    if (rc == VP_ECORRUPT) {
        damaged(l, at);
        if (f.overrun && f.number == XPLANE_LINES && f.wire == VP_PB_LEN)
            VP_TRY(add_track(l, w, f.offset, end, ++lines));
    } else if (rc < 0) {
        return rc;
    }
    VP_TRY(vp_grow(&l->planes, &l->plane_cap, l->plane_count + 1, sizeof pl, VP_PROCESSES_MAX));
    l->planes[l->plane_count++] = pl;
    return 0;
}

static int find_planes(xj_layout *l, xs_window *w)
{
    int64_t at = 0;
    xw_field f;
    int rc;
    while ((rc = xw_next(w, &at, w->size, &f)) > 0)
        if (f.number == XSPACE_PLANES && f.wire == VP_PB_LEN)
            VP_TRY(add_plane(l, w, f.offset, at));
    if (rc == VP_ECORRUPT) {
        damaged(l, at);
        return f.overrun && f.number == XSPACE_PLANES && f.wire == VP_PB_LEN
                   ? add_plane(l, w, f.offset, w->size)
                   : 0;
    }
    return rc;
}

/* jaxlib shows the host, and the first family of devices that there is. */
static const char *device_family(const xj_layout *l)
{
    static const char *const families[] = {"/device:GPU:", "/device:TPU:", "/device:CUSTOM:"};
    for (size_t k = 0; k < sizeof families / sizeof families[0]; k++)
        for (size_t i = 0; i < l->plane_count; i++)
            if (vp_str_starts(l->planes[i].name, vp_str_of(families[k])))
                return families[k];
    return NULL;
}

static int by_plane(const void *a, const void *b)
{
    const xj_track *x = a, *y = b;
    if (x->plane != y->plane)
        return x->plane < y->plane ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The host first, as jaxlib has it, then what else it shows, then what only we show: pids are given
 * out in this order. */
static int order_planes(xj_layout *l)
{
    const char *family = device_family(l);
    size_t n = 0;
    VP_CLEANUP(vp_free_ptr) uint32_t *moved = vp_calloc(l->plane_count + 1, sizeof *moved);
    VP_CLEANUP(vp_free_ptr) xj_plane *ordered = vp_calloc(l->plane_count + 1, sizeof *ordered);
    VP_NEED(moved && ordered);
    for (int rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < l->plane_count; i++) {
            vp_str name = l->planes[i].name;
            bool host = vp_str_eq(name, VP_STR("/host:CPU"));
            bool device = family && vp_str_starts(name, vp_str_of(family));
            if (rank != (host ? 0 : device ? 1 : 2))
                continue;
            moved[i] = (uint32_t)n;
            ordered[n] = l->planes[i];
            ordered[n].host = host;
            ordered[n++].device = rd_process_kind(name, NULL) != SINK_PROCESS_HOST;
        }
    }
    memcpy(l->planes, ordered, n * sizeof *ordered);
    for (size_t i = 0; i < l->track_count; i++) {
        xj_track *t = &l->tracks[i];
        t->plane = moved[t->plane];
        t->sort = l->planes[t->plane].host ? t->number : (uint32_t)(uint64_t)t->id;
        t->async = rd_role_of(l->planes[t->plane].name, t->name) == SINK_ROLE_ASYNC;
    }
    if (l->track_count)
        qsort(l->tracks, l->track_count, sizeof *l->tracks, by_plane);
    return 0;
}

static void choose_base(xj_layout *l)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < l->track_count; i++)
        if (l->tracks[i].timestamp_ns > XS_EPOCH_NS && l->tracks[i].timestamp_ns < least)
            least = l->tracks[i].timestamp_ns;
    l->base_ns = least == INT64_MAX ? 0 : least;
    for (size_t i = 0; i < l->track_count; i++) {
        xj_track *t = &l->tracks[i];
        t->start_ns = t->timestamp_ns - (t->timestamp_ns >= l->base_ns ? l->base_ns : 0);
    }
}

/* When a line's first event is, on the clock of all lines. false: it has none that is shown. */
static bool first_of(const xj_track *t, int64_t *at)
{
    return t->events && !__builtin_add_overflow(t->start_ns, t->least_ns, at) &&
           *at >= -(VP_TIME_MAX_PS / 1000) && *at <= XS_EPOCH_NS;
}

/* Perfetto drops what is before time 0 (perfetto.md 2.2): where a shown event is, all move. */
static void choose_shift(xj_layout *l)
{
    int64_t first;
    for (size_t i = 0; i < l->track_count; i++)
        if (first_of(&l->tracks[i], &first) && first < -l->shift_ns)
            l->shift_ns = -first;
}

static int64_t first_event(const xj_layout *l)
{
    int64_t first = INT64_MAX, at;
    for (size_t i = 0; i < l->track_count; i++)
        if (first_of(&l->tracks[i], &at) && at < first)
            first = at;
    return first == INT64_MAX ? 0 : first + l->shift_ns;
}

/* By pid and tid, a process before its threads; of several lines with one tid the last one counts,
 * as in jaxlib. */
static int by_tid(const void *a, const void *b)
{
    const xj_row *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->process != y->process)
        return x->process ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->order > y->order ? -1 : x->order < y->order;
}

static bool same_row(const xj_row *a, const xj_row *b)
{
    return a->pid == b->pid && a->process == b->process && a->tid == b->tid;
}

/* What has no event shows nothing. */
static int make_rows(xj_layout *l)
{
    size_t n = 0, kept = 0;
    l->rows = vp_calloc(2 * l->track_count + 1, sizeof *l->rows);
    VP_NEED(l->rows);
    for (size_t i = 0; i < l->track_count; i++) {
        const xj_track *t = &l->tracks[i];
        const xj_plane *pl = &l->planes[t->plane];
        if (!t->events)
            continue;
        l->rows[n] = (xj_row){.pid = pl->pid,
                              .sort = pl->pid,
                              .owner = pl->owner,
                              .order = n,
                              .name = pl->name,
                              .process = true};
        n++;
        l->rows[n] = (xj_row){.pid = pl->pid,
                              .tid = t->tid,
                              .sort = t->sort,
                              .owner = pl->owner,
                              .thread = t->thread,
                              .order = n,
                              .name = t->name};
        n++;
    }
    if (n)
        qsort(l->rows, n, sizeof *l->rows, by_tid);
    for (size_t i = 0; i < n; i++)
        if (!kept || !same_row(&l->rows[kept - 1], &l->rows[i]))
            l->rows[kept++] = l->rows[i];
    l->row_count = kept;
    return 0;
}

/* A name at least; where the file is damaged, an event. */
static bool has_content(const xj_layout *l)
{
    bool any = l->damage < 0 && l->track_count;
    for (size_t i = 0; l->damage < 0 && !any && i < l->plane_count; i++)
        any = l->planes[i].name.n > 0;
    return any || l->any_event;
}

int xj_layout_make(xj_layout *l, xs_window *w, ex_pick *pick)
{
    *l = (xj_layout){.damage = -1, .pick = pick};
    vp_arena_init(&l->arena);
    vp_map_init(&l->taken);
    VP_TRY(find_planes(l, w));
    if (!has_content(l)) {
        vp_fail(VP_ECORRUPT, l->damage < 0 ? "not an XSpace: no plane could be read"
                                           : "damaged or cut off before the first event");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, l->damage);
    }
    choose_base(l);
    VP_TRY(order_planes(l));
    choose_shift(l);
    if (pick) {
        pick->moved_ns = l->shift_ns;
        ex_pick_decide(pick, first_event(l));
    }
    VP_TRY(xj_ids_choose(l));
    return make_rows(l);
}

void xj_layout_free(xj_layout *l)
{
    vp_arena_free(&l->arena);
    vp_map_free(&l->taken);
    vp_free(l->planes);
    vp_free(l->tracks);
    vp_free(l->rows);
}

/* `{"ph":"M",…,"name":"KIND_what","args":{"what":` of a process or thread. */
static void row_head(vp_buf *b, const xj_row *r, const char *what)
{
    vp_buf_printf(b, "{\"ph\":\"M\",\"pid\":%u", r->pid);
    if (!r->process)
        vp_buf_printf(b, ",\"tid\":%u", r->tid);
    vp_buf_printf(b, ",\"name\":\"%s_%s\",\"args\":{\"%s\":", r->process ? "process" : "thread",
                  what, what);
}

void xj_put_row(vp_buf *b, const xj_row *r)
{
    if (r->name.n) { /* Perfetto refuses an empty one (perfetto.md 2.2) */
        row_head(b, r, "name");
        xj_quote(b, r->name);
        vp_buf_puts(b, "}},\n");
    }
    row_head(b, r, "sort_index");
    vp_buf_printf(b, "%u}}", r->sort);
}

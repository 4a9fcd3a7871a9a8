/* The rows of an XSpace: processes, threads, their order. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/quote.h"
#include "trace/export/xspace/xspace_json.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/semantics/roles.h"

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

static void layout_note_damage(xj_layout *l, int64_t at)
{
    if (l->damage < 0)
        l->damage = at;
}

/* ---- Reading the layout ---------------------------------------------------------------------- */

static int layout_take_line_head(xj_layout *l, xs_window *w, const xw_field *f)
{
    xj_here *h = &l->here;
    if (f->wire == VP_PB_LEN)
        return f->number == XLINE_NAME           ? keep_name(l, w, f, &h->t.name)
               : f->number == XLINE_DISPLAY_NAME ? keep_name(l, w, f, &h->display)
                                                 : 0;
    if (f->wire != VP_PB_VARINT)
        return 0;
    if (f->number == XLINE_ID)
        h->t.id = (int64_t)f->u;
    else if (f->number == XLINE_TIMESTAMP_NS)
        h->t.timestamp_ns = (int64_t)f->u;
    else if (f->number == XLINE_DISPLAY_ID)
        h->display_id = (int64_t)f->u;
    return 0;
}

static void begin_line(xj_layout *l, int64_t offset, int64_t end)
{
    xj_here *h = &l->here;
    h->t = (xj_track){.plane = (uint32_t)l->plane_count,
                      .offset = offset,
                      .end = end,
                      .number = ++h->lines,
                      .name = VP_STR("")};
    h->display_id = 0;
    h->display = VP_STR_NONE;
    h->scan = (xj_scan){.pick = l->pick};
    h->line = offset;
    h->in_line = true;
}

static int end_line(xj_layout *l)
{
    xj_here *h = &l->here;
    xj_track *t = &h->t;
    t->id = h->display_id ? h->display_id : t->id;
    t->name = h->display.n ? h->display : t->name;
    t->events = h->scan.events;
    t->least_ns = h->scan.least_ns;
    t->unsorted = h->scan.unsorted;
    t->overlapping = h->scan.overlapping;
    xj_scan_free(&h->scan);
    h->in_line = false;
    VP_TRY(vp_grow(&l->tracks, &l->track_cap, l->track_count + 1, sizeof *t, VP_TRACKS_MAX));
    l->tracks[l->track_count++] = *t;
    return 0;
}

/* display_id and display_name follow the events, so every line is walked to its end. The result of
 * all three walks is 1: finished; 0: at `until`. */
static int walk_line(xj_layout *l, xs_window *w, int64_t until)
{
    xj_here *h = &l->here;
    xw_field f;
    int rc = 1;
    while (h->line < until && (rc = xw_next(w, &h->line, h->t.end, &f)) > 0) {
        bool event = f.number == XLINE_EVENTS;
        l->any_event = l->any_event || event;
        VP_TRY(event && f.wire == VP_PB_LEN ? xj_scan_event(&h->scan, w, &f)
                                            : layout_take_line_head(l, w, &f));
    }
    if (rc > 0)
        return 0;
    if (rc == VP_ECORRUPT)
        layout_note_damage(l, h->line);
    else
        VP_TRY(rc);
    VP_TRY(end_line(l));
    return 1;
}

static void begin_plane(xj_layout *l, int64_t offset, int64_t end)
{
    xj_here *h = &l->here;
    h->p = (xj_plane){.offset = offset, .end = end, .name = VP_STR("")};
    h->lines = 0;
    h->plane = offset;
    h->last_line = false;
    h->in_plane = true;
}

static int end_plane(xj_layout *l)
{
    l->here.in_plane = false;
    VP_TRY(vp_grow(&l->planes, &l->plane_cap, l->plane_count + 1, sizeof *l->planes,
                   VP_PROCESSES_MAX));
    l->planes[l->plane_count++] = l->here.p;
    return 0;
}

/* Up to its next line, or its end. */
static int walk_plane(xj_layout *l, xs_window *w)
{
    xj_here *h = &l->here;
    xw_field f;
    int rc = 0;
    while (!h->last_line && (rc = xw_next(w, &h->plane, h->p.end, &f)) > 0) {
        if (f.number == XPLANE_ID && f.wire == VP_PB_VARINT) {
            h->p.id = (int64_t)f.u;
        } else if (f.number == XPLANE_NAME && f.wire == VP_PB_LEN) {
            VP_TRY(keep_name(l, w, &f, &h->p.name));
        } else if (f.number == XPLANE_LINES && f.wire == VP_PB_LEN) {
            begin_line(l, f.offset, h->plane);
            return 1;
        }
    }
    if (rc < 0 && rc != VP_ECORRUPT)
        return rc;
    if (rc == VP_ECORRUPT)
        layout_note_damage(l, h->plane);
    if (rc == VP_ECORRUPT && f.overrun && f.number == XPLANE_LINES && f.wire == VP_PB_LEN) {
        h->last_line = true;
        begin_line(l, f.offset, h->p.end);
        return 1;
    }
    VP_TRY(end_plane(l));
    return 1;
}

/* Up to the next plane: 1; 0: none. */
static int walk_space(xj_layout *l, xs_window *w)
{
    xj_here *h = &l->here;
    xw_field f;
    int rc = 0;
    while (!h->last_plane && (rc = xw_next(w, &h->space, w->size, &f)) > 0) {
        if (f.number == XSPACE_PLANES && f.wire == VP_PB_LEN) {
            begin_plane(l, f.offset, h->space);
            return 1;
        }
    }
    if (rc != VP_ECORRUPT)
        return rc;
    layout_note_damage(l, h->space);
    h->last_plane = true;
    if (!f.overrun || f.number != XSPACE_PLANES || f.wire != VP_PB_LEN)
        return 0;
    begin_plane(l, f.offset, w->size);
    return 1;
}

int xj_layout_find(xj_layout *l, xs_window *w, int64_t until)
{
    for (;;) {
        int rc = l->here.in_line    ? walk_line(l, w, until)
                 : l->here.in_plane ? walk_plane(l, w)
                                    : walk_space(l, w);
        VP_TRY(rc);
        if (!rc)
            return !l->here.in_line;
    }
}

/* ---- Selecting the layout -------------------------------------------------------------------- */

/* jaxlib shows the host, and the first kind of devices that exists. */
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

/* The host first, as in jaxlib, then the other planes that jaxlib shows, then those that only we
 * show: pids are assigned in this order. */
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

static void layout_choose_base(xj_layout *l)
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

/* The time of a line's first event, on the common clock. false: no visible event. */
static bool first_event_time(const xj_track *t, int64_t *at)
{
    return t->events && !__builtin_add_overflow(t->start_ns, t->least_ns, at) &&
           *at >= -(VP_TIME_MAX_PS / 1000) && *at <= XS_EPOCH_NS;
}

/* Perfetto drops events before time 0 (docs/reference/perfetto.md#time-precision): if a visible
 * event is there, all move. */
static void layout_choose_shift(xj_layout *l)
{
    int64_t first;
    for (size_t i = 0; i < l->track_count; i++)
        if (first_event_time(&l->tracks[i], &first) && first < -l->shift_ns)
            l->shift_ns = -first;
}

static int64_t first_event(const xj_layout *l)
{
    int64_t first = INT64_MAX, at;
    for (size_t i = 0; i < l->track_count; i++)
        if (first_event_time(&l->tracks[i], &at) && at < first)
            first = at;
    return first == INT64_MAX ? 0 : first + l->shift_ns;
}

/* By pid and tid, a process before its threads; of several lines with one tid the last one is used,
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

/* Rows without events are not shown. */
static int layout_make_rows(xj_layout *l)
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

/* At least a name; if the file is damaged, an event. */
static bool layout_has_content(const xj_layout *l)
{
    bool any = l->damage < 0 && l->track_count;
    for (size_t i = 0; l->damage < 0 && !any && i < l->plane_count; i++)
        any = l->planes[i].name.n > 0;
    return any || l->any_event;
}

void xj_layout_init(xj_layout *l, ex_pick *pick)
{
    *l = (xj_layout){.damage = -1, .pick = pick};
    vp_arena_init(&l->arena);
    vp_map_init(&l->taken);
}

int xj_layout_make(xj_layout *l)
{
    ex_pick *pick = l->pick;
    if (!layout_has_content(l)) {
        vp_fail(VP_ECORRUPT, l->damage < 0 ? "not an XSpace: no plane could be read"
                                           : "damaged or truncated before the first event");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, l->damage);
    }
    layout_choose_base(l);
    VP_TRY(order_planes(l));
    layout_choose_shift(l);
    if (pick) {
        pick->moved_ns = l->shift_ns;
        ex_pick_decide(pick, first_event(l));
    }
    VP_TRY(xj_ids_choose(l));
    return layout_make_rows(l);
}

void xj_layout_free(xj_layout *l)
{
    xj_scan_free(&l->here.scan);
    ex_pick_forget(l->pick);
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
    if (r->name.n) { /* Perfetto refuses an empty name (docs/reference/perfetto.md#event-fields) */
        row_head(b, r, "name");
        ex_quote(b, r->name);
        vp_buf_puts(b, "}},\n");
    }
    row_head(b, r, "sort_index");
    vp_buf_printf(b, "%u}}", r->sort);
}

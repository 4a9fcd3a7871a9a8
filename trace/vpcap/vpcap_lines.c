#include "trace/vpcap/vpcap_lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_window.h"

/* An event that is stored in memory because it does not go through its thread's window. */
typedef struct kept {
    int64_t start, dur;
    size_t offset; /* of its bytes in `bytes` */
    uint32_t n, line, correlation;
    uint32_t rank;       /* among events of one start: higher ones come first */
    bool by_correlation; /* how its group is found; else by its thread's steps */
} kept;

struct vl_lines {
    const vpcap *v;
    const vl_encoder *enc;
    vp_arena arena;
    vp_intern names; /* additional to the image's; id 0 is not used */
    uint32_t image_names;
    vl_plane *planes;
    vl_line *lines;
    size_t plane_count, plane_cap, line_count, line_cap;
    uint32_t *line_of_track;
    uint32_t counters; /* the line of counters, or VPCAP_NONE */
    vg_groups groups;
    kept *kept;
    size_t kept_count, kept_cap, kept_at;
    vp_buf bytes;
    vw_window window;
    uint32_t line; /* the current line */
    vg_walk walk;
    int64_t groups_out[2 * VW_BLOCK]; /* groups of the zones that leave the window */
};

/* Bytes of stored events: spans of explicit tracks, counters, and long zones. */
#define KEPT_BYTES_MAX (UINT64_C(16) << 30)

static vp_str lines_copy_text(vl_lines *l, vp_str s)
{
    return (vp_str){vp_arena_strndup(&l->arena, s.p ? s.p : "", s.n), s.n};
}

int vl_plane_of(uint32_t *out, vl_lines *l, vl_kind kind, int64_t ordinal, vp_str name,
                vp_str model)
{
    for (uint32_t i = 0; i < l->plane_count; i++)
        if (vp_str_eq(l->planes[i].name, name)) {
            *out = i;
            return 0;
        }
    vl_plane p = {kind, ordinal, lines_copy_text(l, name), lines_copy_text(l, model)};
    VP_NEED(p.name.p && p.model.p);
    VP_TRY(vp_grow(&l->planes, &l->plane_cap, l->plane_count + 1, sizeof p, VP_PROCESSES_MAX));
    *out = (uint32_t)l->plane_count;
    l->planes[l->plane_count++] = p;
    return 0;
}

int vl_line_add(uint32_t *out, vl_lines *l, uint32_t plane, int64_t id, vp_str name)
{
    vl_line line = {
        .plane = plane, .id = id, .name = lines_copy_text(l, name), .thread = VPCAP_NONE};
    VP_NEED(line.name.p);
    VP_TRY(vp_grow(&l->lines, &l->line_cap, l->line_count + 1, sizeof line, VP_TRACKS_MAX));
    *out = (uint32_t)l->line_count;
    l->lines[l->line_count++] = line;
    return 0;
}

int vl_name_add(uint32_t *out, vl_lines *l, vp_str name)
{
    vp_sid id;
    VP_TRY(vp_intern_put(&l->names, name, &id));
    *out = l->image_names + id;
    return 0;
}

const vpcap *vl_image(const vl_lines *l)
{
    return l->v;
}

const vl_plane *vl_plane_at(const vl_lines *l, uint32_t plane)
{
    return &l->planes[plane];
}

uint32_t vl_thread_of(const vl_lines *l, int64_t tid, vp_str *line_name)
{
    for (size_t i = 0; i < l->line_count; i++)
        if (l->lines[i].thread != VPCAP_NONE && l->lines[i].id == tid) {
            *line_name = l->lines[i].name;
            return l->lines[i].thread;
        }
    return VPCAP_NONE;
}

int vl_launch_note(vl_lines *l, uint32_t thread, const vpcap_event *e)
{
    return l->enc->wants_groups ? vg_note(&l->groups, thread, e) : 0;
}

uint32_t vl_names(const vl_lines *l)
{
    return l->image_names + (uint32_t)l->names.count;
}

vpcap_name vl_name_at(const vl_lines *l, uint32_t i)
{
    if (i < l->image_names)
        return vpcap_name_at(l->v, i);
    return (vpcap_name){.name = vp_intern_get(&l->names, i - l->image_names)};
}

/* Stores an event. Of zones with the same start, the one that ended last encloses the others; of
 * counter values, the last one is valid. */
static int keep_line_event(vl_lines *l, uint32_t line, const vpcap_event *e, bool by_correlation)
{
    size_t offset = l->bytes.n;
    uint32_t at = (uint32_t)l->kept_count;
    VP_TRY(vp_grow(&l->kept, &l->kept_cap, l->kept_count + 1, sizeof *l->kept, VP_EVENTS_MAX));
    VP_TRY(l->enc->encode(l->enc->ctx, l, &l->lines[line], e, &l->bytes));
    l->kept[at] = (kept){.start = e->start_ps,
                         .dur = e->dur_ps,
                         .offset = offset,
                         .n = (uint32_t)(l->bytes.n - offset),
                         .line = line,
                         .correlation = e->correlation,
                         .rank = e->kind == VPCAP_COUNTER ? UINT32_MAX - at : at,
                         .by_correlation = by_correlation};
    l->kept_count++;
    l->lines[line].events++;
    return 0;
}

int vl_span_add(vl_lines *l, uint32_t line, const vpcap_event *e)
{
    return keep_line_event(l, line, e, true);
}

static int add_counter(vl_lines *l, const vpcap_event *e)
{
    if (l->counters == VPCAP_NONE)
        VP_TRY(vl_line_add(&l->counters, l, 0, 0, VP_STR("_counters_")));
    return keep_line_event(l, l->counters, e, false);
}

/* Handles an event of the first pass: stores it, or records what groups need. */
static int note_first_pass_event(vl_lines *l, uint32_t thread, bool late, const vpcap_event *e)
{
    if (e->kind == VPCAP_SPAN)
        return e->track < vpcap_tracks(l->v) ? vl_span_add(l, l->line_of_track[e->track], e) : 0;
    if (e->kind == VPCAP_COUNTER)
        return add_counter(l, e);
    bool groups = e->kind == VPCAP_STEP || e->flow_in || e->flow_out || e->correlation;
    if (groups && l->enc->wants_groups)
        VP_TRY(vg_note(&l->groups, thread, e));
    if (late)
        return keep_line_event(l, thread, e, false);
    l->lines[thread].events++;
    return 0;
}

static int look_at_thread(vl_lines *l, uint32_t thread)
{
    vpcap_cursor *c;
    vpcap_event e;
    vpcap_notes m = VPCAP_NOTES_INIT(VW_BLOCK);
    int rc = vpcap_cursor_new(&c, l->v, thread);
    if (rc < 0)
        return rc;
    while (rc >= 0 && vpcap_next_notable(c, &m, &e) > 0)
        rc = note_first_pass_event(l, thread, m.late, &e);
    l->lines[thread].events += m.passed;
    vpcap_cursor_free(c);
    return rc;
}

/* Adds a line per thread: thread i of the image is line i. */
static int add_threads(vl_lines *l)
{
    char text[40];
    uint32_t host = 0, line = 0;
    VP_TRY(vl_plane_of(&host, l, VL_HOST, 0, VP_STR("/host:CPU"), VP_STR_NONE));
    for (uint32_t i = 0; i < vpcap_threads(l->v); i++) {
        vpcap_thread t = vpcap_thread_at(l->v, i);
        int n = snprintf(text, sizeof text, "thread %lld", (long long)t.tid);
        VP_TRY(vl_line_add(&line, l, host, t.tid, t.name.n ? t.name : (vp_str){text, (size_t)n}));
        l->lines[line].thread = i;
    }
    return 0;
}

static int add_device_plane(uint32_t *plane, vl_lines *l, const vpcap_device *d)
{
    static const char *const prefixes[] = {
        [VP_CAPTURE_GPU] = "GPU", [VP_CAPTURE_TPU] = "TPU", [VP_CAPTURE_CUSTOM] = "CUSTOM"};
    static const vl_kind kinds[] = {
        [VP_CAPTURE_GPU] = VL_GPU, [VP_CAPTURE_TPU] = VL_TPU, [VP_CAPTURE_CUSTOM] = VL_CUSTOM};
    char text[300];
    bool known = d->kind == VP_CAPTURE_GPU || d->kind == VP_CAPTURE_TPU;
    int kind = known ? d->kind : VP_CAPTURE_CUSTOM;
    vp_str model = known ? VP_STR_NONE : vp_str_head(d->model, 200);
    int n = snprintf(text, sizeof text, "/device:%s:%.*s%s%d", prefixes[kind], VP_STR_ARG(model),
                     model.n ? ":" : "", d->ordinal);
    return vl_plane_of(plane, l, kinds[kind], known ? d->ordinal : (int64_t)l->plane_count,
                       (vp_str){text, (size_t)n}, d->model);
}

/* Readers recognize the lines of a device by name (docs/reference/xprof.md#line-names) and take no
 * other line for ops, so other lines are named like streams. */
static bool is_known_line(vp_str name)
{
    static const char *const known[] = {
        "XLA Ops",     "Async XLA Ops", "XLA Modules",          "Steps",        "XLA TraceMe",
        "Source code", "Framework Ops", "Framework Name Scope", "Launch Stats", "_counters_"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (vp_str_eq(name, vp_str_of(known[i])))
            return true;
    return vp_str_starts(name, VP_STR("Stream #"));
}

static int add_track_line(vl_lines *l, uint32_t i, const uint32_t *planes)
{
    char text[400];
    vpcap_track t = vpcap_track_at(l->v, i);
    uint32_t plane = t.device < vpcap_devices(l->v) ? planes[t.device] : 0;
    int64_t id = 1;
    for (size_t k = 0; k < l->line_count; k++)
        id += l->lines[k].plane == plane;
    if (plane && !is_known_line(t.name)) {
        int n = snprintf(text, sizeof text, "Stream #%lld(%.*s)", (long long)id,
                         VP_STR_CUT(t.name, 300u));
        t.name = (vp_str){text, (size_t)n};
    }
    return vl_line_add(&l->line_of_track[i], l, plane, id, t.name);
}

static int add_track_lines(vl_lines *l)
{
    uint32_t devices = vpcap_devices(l->v), tracks = vpcap_tracks(l->v);
    VP_CLEANUP(vp_free_ptr) uint32_t *planes = vp_calloc((size_t)devices + 1, sizeof *planes);
    l->line_of_track = vp_calloc((size_t)tracks + 1, sizeof *l->line_of_track);
    VP_NEED(planes && l->line_of_track);
    for (uint32_t i = 0; i < devices; i++) {
        vpcap_device d = vpcap_device_at(l->v, i);
        VP_TRY(add_device_plane(&planes[i], l, &d));
    }
    for (uint32_t i = 0; i < tracks; i++)
        VP_TRY(add_track_line(l, i, planes));
    return 0;
}

static int by_line(const void *pa, const void *pb)
{
    const kept *a = pa, *b = pb;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->dur != b->dur)
        return a->dur > b->dur ? -1 : 1;
    return a->rank > b->rank ? -1 : 1;
}

static int find_all_lines(vl_lines *l, vl_more_fn *more, void *more_ctx)
{
    VP_TRY(add_threads(l));
    VP_TRY(add_track_lines(l));
    for (uint32_t i = 0; i < vpcap_threads(l->v); i++)
        VP_TRY(look_at_thread(l, i));
    if (more)
        VP_TRY(more(more_ctx, l));
    if (l->kept_count)
        qsort(l->kept, l->kept_count, sizeof *l->kept, by_line);
    return vg_resolve(&l->groups);
}

static int emit_kept(vl_lines *l, const kept *k)
{
    int64_t group = k->by_correlation ? vg_of_correlation(&l->groups, k->correlation)
                                      : vg_walk_group(&l->walk, k->start, k->start + k->dur);
    return l->enc->event(l->enc->ctx, l->bytes.p + k->offset, k->n, group);
}

/* Start of the line's next stored event. */
static int64_t kept_next(const vl_lines *l)
{
    bool any = l->kept_at < l->kept_count && l->kept[l->kept_at].line == l->line;
    return any ? l->kept[l->kept_at].start : INT64_MAX;
}

/* Writes the stored events that start at or before `start`. */
static int emit_kept_until(vl_lines *l, int64_t start)
{
    while (l->kept_at < l->kept_count && l->kept[l->kept_at].line == l->line &&
           l->kept[l->kept_at].start <= start)
        VP_TRY(emit_kept(l, &l->kept[l->kept_at++]));
    return 0;
}

static int64_t group_of(vl_lines *l, const vpcap_plain *e)
{
    return vg_walk_group(&l->walk, e->start_ps, e->start_ps + e->dur_ps);
}

/* Number of the next n entries that are plain and precede every stored event. */
static uint32_t plain_entries_before_kept(vl_lines *l, const uint32_t *order, uint32_t n)
{
    const vpcap_plain *v = l->window.entries;
    int64_t before = kept_next(l);
    uint32_t i = 0;
    while (i < n && !v[order[i]].more && v[order[i]].start_ps < before)
        i++;
    for (uint32_t k = 0; l->enc->wants_groups && k < i; k++)
        l->groups_out[k] = group_of(l, &v[order[k]]);
    return i;
}

static int emit_leaving(vl_lines *l, const uint32_t *order, uint32_t n)
{
    const vl_encoder *enc = l->enc;
    while (n) {
        const vpcap_plain *e = &l->window.entries[*order];
        uint32_t run = 1;
        VP_TRY(emit_kept_until(l, e->start_ps));
        if (e->more) {
            vp_str bytes = vw_bytes_at(&l->window, *order);
            VP_TRY(enc->event(enc->ctx, bytes.p, bytes.n, group_of(l, e)));
        } else {
            run = plain_entries_before_kept(l, order, n);
            VP_TRY(enc->plain(enc->ctx, l, &l->lines[l->line], l->window.entries, order, run,
                              enc->wants_groups ? l->groups_out : NULL));
        }
        order += run;
        n -= run;
    }
    return 0;
}

static int stream_leave_window(vl_lines *l, int64_t limit)
{
    int n = vw_leave(&l->window, limit);
    VP_TRY(n);
    VP_TRY(emit_leaving(l, l->window.order, (uint32_t)n));
    vw_turn(&l->window);
    return 0;
}

static int into_window(vl_lines *l, const vpcap_event *e)
{
    vp_buf *bytes = vw_bytes(&l->window);
    size_t offset = bytes->n;
    VP_TRY(l->enc->encode(l->enc->ctx, l, &l->lines[l->line], e, bytes));
    vw_add(&l->window, e->start_ps, e->dur_ps, offset);
    return 0;
}

/* Writes plain zones as long as nothing else occurs between them. */
static int stream_plain(vl_lines *l, vpcap_cursor *c, vpcap_notes *m)
{
    for (;;) {
        uint32_t n = vpcap_take_plain(c, m, vw_room(&l->window), VW_BLOCK);
        if (!n)
            return 0;
        vw_push(&l->window, n);
        if (m->turned)
            VP_TRY(stream_leave_window(l, vpcap_limit_ps(l->v, m)));
    }
}

static int stream_thread(vl_lines *l, vpcap_cursor *c)
{
    vpcap_event e;
    vpcap_notes m = VPCAP_NOTES_INIT(VW_BLOCK);
    vw_clear(&l->window);
    for (;;) {
        VP_TRY(stream_plain(l, c, &m));
        if (!vpcap_next_noted(c, &m, &e))
            return stream_leave_window(l, INT64_MAX);
        if (e.kind != VPCAP_SPAN && e.kind != VPCAP_COUNTER && !m.late)
            VP_TRY(into_window(l, &e));
        if (m.turned)
            VP_TRY(stream_leave_window(l, vpcap_limit_ps(l->v, &m)));
    }
}

static int write_line(vl_lines *l, uint32_t line)
{
    const vl_line *k = &l->lines[line];
    vpcap_cursor *c;
    l->line = line;
    VP_TRY(l->enc->line_begin(l->enc->ctx, k));
    vg_walk_begin(&l->walk, &l->groups, k->thread);
    if (k->thread != VPCAP_NONE) {
        VP_TRY(vpcap_cursor_new(&c, l->v, k->thread));
        int rc = stream_thread(l, c);
        vpcap_cursor_free(c);
        VP_TRY(rc);
    }
    VP_TRY(emit_kept_until(l, INT64_MAX));
    return l->enc->line_end(l->enc->ctx, k);
}

/* Stored events are sorted by line, so lines are written in their order, plane by plane. */
static int write_plane(vl_lines *l, uint32_t plane)
{
    VP_TRY(l->enc->plane_begin(l->enc->ctx, l, &l->planes[plane]));
    l->kept_at = 0;
    for (uint32_t i = 0; i < l->line_count; i++) {
        while (l->kept_at < l->kept_count && l->kept[l->kept_at].line < i)
            l->kept_at++;
        if (l->lines[i].plane == plane && l->lines[i].events)
            VP_TRY(write_line(l, i));
    }
    return l->enc->plane_end(l->enc->ctx, l, &l->planes[plane]);
}

static int write_all_lines(vl_lines *l, vl_more_fn *more, void *more_ctx)
{
    VP_TRY(vp_intern_init(&l->names, &l->arena));
    VP_TRY(vw_init(&l->window));
    VP_TRY(find_all_lines(l, more, more_ctx));
    for (uint32_t i = 0; i < l->plane_count; i++)
        VP_TRY(write_plane(l, i));
    return 0;
}

int vl_write(const vpcap *v, const vl_encoder *enc, vl_more_fn *more, void *more_ctx)
{
    vl_lines l = {.v = v, .enc = enc, .image_names = vpcap_names(v), .counters = VPCAP_NONE};
    vp_arena_init(&l.arena);
    vp_buf_init(&l.bytes, KEPT_BYTES_MAX);
    int rc = write_all_lines(&l, more, more_ctx);
    vw_free(&l.window);
    vg_free(&l.groups);
    vp_buf_free(&l.bytes);
    vp_intern_free(&l.names);
    vp_arena_free(&l.arena);
    vp_free(l.kept);
    vp_free(l.planes);
    vp_free(l.lines);
    vp_free(l.line_of_track);
    return rc;
}

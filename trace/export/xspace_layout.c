/* The rows of an XSpace as jaxlib's JSON has them: processes, threads, their order. */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/xspace_json.h"
#include "trace/image/xspace_fields.h"

/* jaxlib's ids (xprof.md 3.1): devices 1 + plane id up to 500, custom devices the 200 after it, and
 * behind those the host. */
#define HOST_PID 701u
#define LAST_DEVICE_PID 500u
/* Names of lines; longer ones are cut, they are only shown. */
#define NAME_MAX_BYTES (64u << 10)

static int keep_name(xj_layout *l, xs_window *w, const xw_field *f, vp_str *out)
{
    const uint8_t *p;
    size_t have, n = f->u < NAME_MAX_BYTES ? (size_t)f->u : NAME_MAX_BYTES;
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

/* display_id and display_name stand behind the events, so every line is walked to its end. */
static int add_track(xj_layout *l, xs_window *w, int64_t offset, int64_t end, uint32_t number)
{
    xj_track t = {.plane = (uint32_t)l->plane_count,
                  .offset = offset,
                  .end = end,
                  .number = number,
                  .name = VP_STR("")};
    int64_t display_id = 0, at = offset;
    vp_str display = VP_STR_NONE;
    xw_field f;
    int rc;
    while ((rc = xw_next(w, &at, end, &f)) > 0) {
        if (f.wire == VP_PB_VARINT && f.number == XLINE_ID)
            t.id = (int64_t)f.u;
        else if (f.wire == VP_PB_VARINT && f.number == XLINE_TIMESTAMP_NS)
            t.timestamp_ns = (int64_t)f.u;
        else if (f.wire == VP_PB_VARINT && f.number == XLINE_DISPLAY_ID)
            display_id = (int64_t)f.u;
        else if (f.wire == VP_PB_LEN && f.number == XLINE_NAME)
            VP_TRY(keep_name(l, w, &f, &t.name));
        else if (f.wire == VP_PB_LEN && f.number == XLINE_DISPLAY_NAME)
            VP_TRY(keep_name(l, w, &f, &display));
        else
            l->any_event |= f.number == XLINE_EVENTS;
    }
    if (rc == VP_ECORRUPT)
        damaged(l, at);
    else if (rc < 0)
        return rc;
    t.id = display_id ? display_id : t.id;
    t.name = display.n ? display : t.name;
    VP_TRY(vp_grow(&l->tracks, &l->track_cap, l->track_count + 1, sizeof t, VP_TRACKS_MAX));
    l->tracks[l->track_count++] = t;
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

/* jaxlib's pid, unless another plane has it: two devices in one process would lie over each other.
 * Planes of one name are one process. */
static int choose_pids(xj_layout *l)
{
    VP_CLEANUP(vp_map_free) vp_map taken; /* pid → its plane */
    VP_CLEANUP(vp_map_free) vp_map named; /* hash of a name → its first plane */
    uint32_t next = LAST_DEVICE_PID + 1;
    vp_map_init(&taken);
    vp_map_init(&named);
    for (uint32_t i = 0; i < l->plane_count; i++) {
        xj_plane *pl = &l->planes[i];
        uint64_t name = vp_hash(pl->name.p, pl->name.n, 0);
        uint32_t same = vp_map_get(&named, name);
        if (same != VP_MAP_NONE && vp_str_eq(l->planes[same].name, pl->name)) {
            pl->pid = l->planes[same].pid;
            continue;
        }
        pl->pid = pl->host ? HOST_PID : (uint32_t)(1 + (uint64_t)pl->id);
        if (!pl->pid || (!pl->host && pl->pid == HOST_PID) ||
            vp_map_get(&taken, pl->pid) != VP_MAP_NONE) {
            while (next == HOST_PID || vp_map_get(&taken, next) != VP_MAP_NONE)
                next++;
            pl->pid = next;
        }
        VP_TRY(vp_map_set(&taken, pl->pid, i));
        VP_TRY(vp_map_set(&named, name, i));
    }
    return 0;
}

static int by_plane(const void *a, const void *b)
{
    const xj_track *x = a, *y = b;
    if (x->plane != y->plane)
        return x->plane < y->plane ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Keeps what is shown, the host first as jaxlib has it. */
static int choose_planes(xj_layout *l)
{
    const char *family = device_family(l);
    size_t n = 0;
    VP_CLEANUP(vp_free_ptr) uint32_t *moved = vp_calloc(l->plane_count, sizeof *moved);
    VP_CLEANUP(vp_free_ptr) xj_plane *kept = vp_calloc(l->plane_count, sizeof *kept);
    VP_NEED(moved && kept);
    for (size_t i = 0; i < l->plane_count; i++)
        moved[i] = UINT32_MAX;
    for (int host = 1; host >= 0; host--) {
        for (size_t i = 0; i < l->plane_count; i++) {
            vp_str name = l->planes[i].name;
            if (!(host ? vp_str_eq(name, VP_STR("/host:CPU"))
                       : family && vp_str_starts(name, vp_str_of(family))))
                continue;
            moved[i] = (uint32_t)n;
            kept[n] = l->planes[i];
            kept[n++].host = host;
        }
    }
    memcpy(l->planes, kept, n * sizeof *kept);
    l->plane_count = n;
    size_t tracks = 0;
    for (size_t i = 0; i < l->track_count; i++) {
        l->tracks[i].plane = moved[l->tracks[i].plane];
        if (l->tracks[i].plane != UINT32_MAX)
            l->tracks[tracks++] = l->tracks[i];
    }
    l->track_count = tracks;
    if (tracks)
        qsort(l->tracks, tracks, sizeof *l->tracks, by_plane);
    return 0;
}

typedef struct thread_key {
    uint32_t pid, tid;
    int64_t id;
    size_t track;
} thread_key;

static int by_thread(const void *a, const void *b)
{
    const thread_key *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static uint64_t taken_key(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

/* jaxlib's tid is the low half of the line's id. It stays unless another line of the process has
 * it under another id, or it is 0 and Perfetto, which takes tid 0 for the pid, would lay it over
 * the line whose tid that is (perfetto.md 2.2); those get the smallest free ones. */
static int move_tids(xj_layout *l, const thread_key *keys, vp_map *taken)
{
    uint32_t next = 0;
    for (size_t i = 0; i < l->track_count; i++) {
        const thread_key *k = &keys[i], *before = i ? k - 1 : NULL;
        bool same_pid = before && before->pid == k->pid;
        bool same_thread = same_pid && before->id == k->id;
        next = same_pid ? next : 1;
        if (same_thread) {
            l->tracks[k->track].tid = l->tracks[before->track].tid;
            continue;
        }
        bool shared = same_pid && before->tid == k->tid;
        bool zero = !k->tid && vp_map_get(taken, taken_key(k->pid, k->pid)) != VP_MAP_NONE;
        l->tracks[k->track].tid = k->tid;
        if (!shared && !zero)
            continue;
        while (next == k->pid || vp_map_get(taken, taken_key(k->pid, next)) != VP_MAP_NONE)
            next++;
        l->tracks[k->track].tid = next;
        VP_TRY(vp_map_set(taken, taken_key(k->pid, next), 0));
    }
    return 0;
}

static int choose_tids(xj_layout *l)
{
    VP_CLEANUP(vp_free_ptr) thread_key *keys = vp_calloc(l->track_count + 1, sizeof *keys);
    VP_CLEANUP(vp_map_free) vp_map taken;
    vp_map_init(&taken);
    VP_NEED(keys);
    for (size_t i = 0; i < l->track_count; i++) {
        const xj_track *t = &l->tracks[i];
        keys[i] = (thread_key){l->planes[t->plane].pid, (uint32_t)(uint64_t)t->id, t->id, i};
        VP_TRY(vp_map_set(&taken, taken_key(keys[i].pid, keys[i].tid), 0));
    }
    qsort(keys, l->track_count, sizeof *keys, by_thread);
    return move_tids(l, keys, &taken);
}

static void choose_base(xj_layout *l)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < l->track_count; i++)
        if (l->tracks[i].timestamp_ns > XS_EPOCH_NS && l->tracks[i].timestamp_ns < least)
            least = l->tracks[i].timestamp_ns;
    l->base_ns = least == INT64_MAX ? 0 : least;
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

static int make_rows(xj_layout *l)
{
    size_t n = 0, kept = 0;
    l->rows = vp_calloc(l->plane_count + l->track_count + 1, sizeof *l->rows);
    VP_NEED(l->rows);
    for (size_t i = 0; i < l->plane_count; i++, n++)
        l->rows[n] = (xj_row){.pid = l->planes[i].pid,
                              .sort = l->planes[i].pid,
                              .order = n,
                              .name = l->planes[i].name,
                              .process = true};
    for (size_t i = 0; i < l->track_count; i++, n++) {
        const xj_track *t = &l->tracks[i];
        const xj_plane *pl = &l->planes[t->plane];
        l->rows[n] = (xj_row){.pid = pl->pid,
                              .tid = t->tid,
                              .order = n,
                              .name = t->name,
                              .sort = pl->host ? t->number : t->tid};
    }
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

int xj_layout_make(xj_layout *l, xs_window *w)
{
    *l = (xj_layout){.damage = -1};
    vp_arena_init(&l->arena);
    VP_TRY(find_planes(l, w));
    if (!has_content(l)) {
        vp_fail(VP_ECORRUPT, l->damage < 0 ? "not an XSpace: no plane could be read"
                                           : "damaged or cut off before the first event");
        return vp_fail_at(VP_ECORRUPT, NULL, -1, l->damage);
    }
    choose_base(l);
    VP_TRY(choose_planes(l));
    VP_TRY(choose_pids(l));
    VP_TRY(choose_tids(l));
    return make_rows(l);
}

void xj_layout_free(xj_layout *l)
{
    vp_arena_free(&l->arena);
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
        vp_json_quote(b, r->name);
        vp_buf_puts(b, "}},\n");
    }
    row_head(b, r, "sort_index");
    vp_buf_printf(b, "%u}}", r->sort);
}

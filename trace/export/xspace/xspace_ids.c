/* Pids and tids of an XSpace: those of jaxlib (docs/reference/xprof.md#trace-json), unless Perfetto
 * would confuse two (docs/reference/perfetto.md#event-fields). */
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/xspace/xspace_json.h"
#include "trace/read/semantics/roles.h"

/* Devices have 1 + plane id up to 500, custom devices the 200 after it, and behind those comes the
 * host. */
#define HOST_PID 701u
#define LAST_DEVICE_PID 500u

/* Siblings are next to their thread, so that they are easy to find. */
#define NEAR 64u

/* jaxlib's pid, unless another plane has it: two devices in one process would overlap. Planes with
 * the same name are one process. */
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
        pl->owner = i;
        if (same != VP_MAP_NONE && vp_str_eq(l->planes[same].name, pl->name)) {
            pl->pid = l->planes[same].pid;
            pl->owner = same;
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

static uint64_t pid_tid_key(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

/* Perfetto treats tid 0 as the pid, and a tid equal to the pid as the main thread. */
static bool is_usable_tid(uint32_t pid, uint32_t tid)
{
    return tid && tid != pid;
}

static bool is_free_tid(const xj_layout *l, uint32_t pid, uint32_t tid)
{
    return is_usable_tid(pid, tid) && vp_map_get(&l->taken, pid_tid_key(pid, tid)) == VP_MAP_NONE;
}

int xj_ids_fresh(xj_layout *l, const xj_track *t, uint32_t *tid)
{
    uint32_t pid = l->planes[t->plane].pid;
    xj_plane *owner = &l->planes[l->planes[t->plane].owner];
    for (uint32_t i = 1; i <= NEAR; i++) {
        *tid = t->tid + i;
        if (is_free_tid(l, pid, *tid))
            return vp_map_set(&l->taken, pid_tid_key(pid, *tid), 0);
    }
    while (!is_free_tid(l, pid, owner->next_tid))
        owner->next_tid++;
    *tid = owner->next_tid;
    return vp_map_set(&l->taken, pid_tid_key(pid, *tid), 0);
}

typedef struct thread_key {
    uint32_t pid, tid;
    int64_t id;
    size_t track;
} thread_key;

static int by_pid_and_tid(const void *a, const void *b)
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

/* jaxlib's tid is the low half of the line's id. It is kept unless another line of the process has
 * it with another id or in another plane, or Perfetto would confuse it with the pid. Lines of two
 * planes are two threads, or the names of both planes would be loaded alternately, event by event.
 */
static int move_tids(xj_layout *l, const thread_key *keys)
{
    for (size_t i = 0; i < l->track_count; i++) {
        const thread_key *k = &keys[i], *before = i ? k - 1 : NULL;
        bool same_tid = before && before->pid == k->pid && before->tid == k->tid;
        xj_track *t = &l->tracks[k->track];
        t->thread = (uint32_t)k->track;
        t->tid = k->tid;
        if (same_tid && before->id == k->id && l->tracks[before->track].plane == t->plane) {
            t->tid = l->tracks[before->track].tid;
            t->thread = l->tracks[before->track].thread;
        } else if (same_tid || !is_usable_tid(k->pid, k->tid)) {
            VP_TRY(xj_ids_fresh(l, t, &t->tid));
        }
    }
    return 0;
}

static int choose_tids(xj_layout *l)
{
    VP_CLEANUP(vp_free_ptr) thread_key *keys = vp_calloc(l->track_count + 1, sizeof *keys);
    VP_NEED(keys);
    for (size_t i = 0; i < l->track_count; i++) {
        const xj_track *t = &l->tracks[i];
        keys[i] = (thread_key){l->planes[t->plane].pid, (uint32_t)(uint64_t)t->id, t->id, i};
        VP_TRY(vp_map_set(&l->taken, pid_tid_key(keys[i].pid, keys[i].tid), 0));
    }
    qsort(keys, l->track_count, sizeof *keys, by_pid_and_tid);
    return move_tids(l, keys);
}

/* Makes the lines of one thread adjacent; otherwise the order is unchanged. */
static int by_first_line(const void *a, const void *b)
{
    const xj_track *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->plane != y->plane)
        return x->plane < y->plane ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int prefix_device_name(xj_layout *l, xj_track *t)
{
    vp_str device = rd_device_prefix(l->planes[t->plane].name);
    if (!device.n || !t->name.n)
        return 0;
    size_t n = device.n + 1 + t->name.n;
    char *text = vp_arena_alloc(&l->arena, n);
    VP_NEED(text);
    memcpy(text, device.p, device.n);
    text[device.n] = ' ';
    memcpy(text + device.n + 1, t->name.p, t->name.n);
    t->name = (vp_str){text, n};
    return 0;
}

/* If several lines are one thread, the last one names it, as in jaxlib. */
static int name_threads(xj_layout *l)
{
    for (size_t i = l->track_count; i-- > 0;) {
        xj_track *t = &l->tracks[i];
        VP_TRY(prefix_device_name(l, t));
        if (i + 1 == l->track_count || t[1].thread != t->thread)
            continue;
        t->name = t[1].name;
        t->sort = t[1].sort;
    }
    return 0;
}

int xj_ids_choose(xj_layout *l)
{
    VP_TRY(choose_pids(l));
    VP_TRY(choose_tids(l));
    if (l->track_count)
        qsort(l->tracks, l->track_count, sizeof *l->tracks, by_first_line);
    return name_threads(l);
}

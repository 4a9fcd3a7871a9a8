#include "trace/export/shared/added.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/times.h"

static int by_device_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The smallest numbers that the file does not use. */
static void number_groups(ex_added *a)
{
    uint32_t next = 1;
    size_t at = 0;
    for (size_t i = 0; i < a->tracks->group_count; i++) {
        for (; at < a->pid_count && a->pids[at] <= next; at++)
            next += a->pids[at] == next;
        a->group_pid[i] = next++;
    }
}

int ex_added_make(ex_added *a)
{
    if (a->made)
        return 0;
    a->made = true;
    return a->make(a->ctx, &a->tracks);
}

int ex_added_begin(ex_added *a, const ex_pick *pick, const uint32_t *pids, size_t pid_count,
                   int64_t shift_ns)
{
    if (a->begun)
        return a->tracks && a->track < a->tracks->track_count;
    a->begun = true;
    if (pick->most) /* only this many of the file's own slices are requested */
        return 0;
    VP_TRY(ex_added_make(a));
    if (!a->tracks || !a->tracks->track_count)
        return 0;
    a->pick = pick;
    a->shift_ns = shift_ns;
    a->pids = vp_realloc_array(NULL, pid_count + 1, sizeof *a->pids);
    a->group_pid = vp_realloc_array(NULL, a->tracks->group_count + 1, sizeof *a->group_pid);
    VP_NEED(a->pids && a->group_pid);
    if (pid_count)
        memcpy(a->pids, pids, pid_count * sizeof *pids);
    a->pid_count = pid_count;
    qsort(a->pids, pid_count, sizeof *a->pids, by_device_number);
    number_groups(a);
    return 1;
}

void ex_added_free(ex_added *a)
{
    vp_free(a->pids);
    vp_free(a->group_pid);
    vp_free(a->named);
    *a = (ex_added){.make = a->make, .ctx = a->ctx};
}

/* Converts a time of the group to the exported clock. false: not possible. */
static bool exported_ns(int64_t *out, const ex_added *a, const derived_group *g, int64_t ps)
{
    int64_t zero;
    return !__builtin_add_overflow(ps, g->shift_ps, &ps) &&
           !__builtin_add_overflow(a->tracks->file_origin_ns, a->shift_ns, &zero) &&
           !__builtin_add_overflow(ex_round_ns(ps), zero, out);
}

static bool in_window(const ex_pick *p, const ex_added_slice *s)
{
    return !p->window || (s->start_ns < p->until_ns && s->end_ns > p->from_ns);
}

/* For idle time, a length is the difference of the rounded sums. */
static void round_length(ex_added *a, ex_added_slice *s)
{
    a->exact_ps += s->from->end_ps - s->from->start_ps;
    int64_t length = ex_round_ns(a->exact_ps) - a->told_ns;
    a->told_ns += length;
    s->start_ns = s->start_ns > a->last_end_ns ? s->start_ns : a->last_end_ns;
    s->end_ns = a->last_end_ns = s->start_ns + length;
}

static void begin_added_track(ex_added *a)
{
    a->exact_ps = a->told_ns = 0;
    a->last_end_ns = INT64_MIN;
}

int ex_added_next(ex_added *a, ex_added_slice *out)
{
    const derived_track *t = &a->tracks->tracks[a->track];
    const derived_group *g = &a->tracks->groups[t->group];
    if (!a->slice)
        begin_added_track(a);
    while (a->slice < t->count) {
        const derived_slice *s = &a->tracks->slices[t->first + a->slice++];
        out->from = s;
        if (!exported_ns(&out->start_ns, a, g, s->start_ps) ||
            !exported_ns(&out->end_ns, a, g, s->end_ps))
            continue; /* no window has it */
        if (t->kind == DERIVED_IDLE)
            round_length(a, out);
        if (in_window(a->pick, out))
            return 1;
    }
    uint32_t group = t->group;
    a->slice = 0;
    a->told = false;
    if (++a->track < a->tracks->track_count && a->tracks->tracks[a->track].group != group)
        a->group_track = a->track;
    return 0;
}

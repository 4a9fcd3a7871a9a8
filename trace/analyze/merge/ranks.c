#include "trace/analyze/merge/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/analyze/merge/whole.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/order.h"

/* Ranges of missing ranks that a message lists. */
#define RANGES_MAX 10u
#define RANKS_MAX (1 << 24)
/* Reports of one job are not further apart, as in the catalog (docs/reference/ranks.md). */
#define APART_NS (INT64_C(10) * 1000000000)
#define PS_PER_NS 1000

int ranks_of_host(vp_report *part, vp_arena *arena, const cat_session *s, const cat_file *f)
{
    uint32_t world = s->world ? s->world : f->rank.world;
    part->world_size = world ? (int64_t)world : VP_UNKNOWN;
    if (!f->rank.has_rank)
        return 0;
    part->ranks = vp_arena_zalloc(arena, sizeof *part->ranks);
    VP_NEED(part->ranks);
    part->ranks[0] = (vp_rank){part->hosts[0], (int64_t)f->rank.rank};
    part->rank_count = 1;
    return 0;
}

/* ---- Merging ---- */

static int by_rank(const void *pa, const void *pb)
{
    const vp_rank *a = pa, *b = pb;
    int order = vp_order(a->rank, b->rank);
    return order ? order : merge_order(a->host, b->host);
}

static int64_t common_world_size(const merging *m)
{
    int64_t world = VP_UNKNOWN;
    for (size_t i = 0; i < m->count; i++) {
        int64_t one = m->parts[i].r->world_size;
        if (one > 0 && world > 0 && one != world)
            return VP_UNKNOWN;
        world = one > 0 ? one : world;
    }
    return world;
}

/* Appends the ranks in [from, to), unless enough ranges are listed. */
static void put_missing_range(vp_buf *b, size_t *ranges, int64_t from, int64_t to)
{
    if (from >= to || ++*ranges > RANGES_MAX + 1)
        return;
    if (*ranges > RANGES_MAX)
        vp_buf_puts(b, ", …");
    else if (from + 1 == to)
        vp_buf_printf(b, "%s%lld", *ranges > 1 ? ", " : "", (long long)from);
    else
        vp_buf_printf(b, "%s%lld-%lld", *ranges > 1 ? ", " : "", (long long)from,
                      (long long)to - 1);
}

static int note_missing_ranks(merging *m)
{
    vp_report *r = m->r;
    int64_t next = 0, count = 0, size;
    size_t ranges = 0;
    if (!r->rank_count || r->rank_count < r->host_count || r->world_size > RANKS_MAX)
        return 0;
    size = r->world_size > 0 ? r->world_size : r->ranks[r->rank_count - 1].rank + 1;
    VP_CLEANUP(vp_buf_free) vp_buf list, text;
    vp_buf_init(&list, 1024);
    vp_buf_init(&text, 2048);
    for (size_t i = 0; i < r->rank_count; i++) {
        int64_t rank = r->ranks[i].rank;
        put_missing_range(&list, &ranges, next, rank);
        count += rank >= next;
        next = rank >= next ? rank + 1 : next;
    }
    put_missing_range(&list, &ranges, next, size);
    if (!ranges)
        return 0;
    vp_buf_printf(&text, "%lld of %s%lld ranks of the job; missing: %s", (long long)count,
                  r->world_size > 0 ? "" : "at least ", (long long)size, vp_buf_cstr(&list));
    r->quality[r->quality_count++] =
        (vp_quality){.code = RANKS_MISSING_CODE,
                     .severity = count > 1 ? VP_SEV_WARNING : VP_SEV_INFO,
                     .message = merge_text(m, vp_buf_cstr(&text)),
                     .event = -1,
                     .byte = -1};
    return 0;
}

int ranks_merge(merging *m)
{
    vp_report *r = m->r;
    size_t n = 0;
    r->world_size = common_world_size(m);
    for (size_t i = 0; i < m->count; i++)
        n += m->parts[i].r->rank_count;
    r->ranks = merge_room(m, n, sizeof *r->ranks);
    if (m->out_of_memory)
        return vp_no_memory();
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->parts[i].r->rank_count; k++) {
            const vp_rank *one = &m->parts[i].r->ranks[k];
            if (one->rank < 0 || one->rank >= RANKS_MAX) /* a report from a file may be damaged */
                continue;
            r->ranks[r->rank_count++] = (vp_rank){merge_text(m, one->host), one->rank};
        }
    if (r->rank_count)
        qsort(r->ranks, r->rank_count, sizeof *r->ranks, by_rank);
    return note_missing_ranks(m);
}

/* ---- Whether reports are of one job ---- */

static const char *first_host(const vp_report *r)
{
    return r->host_count && r->hosts[0] ? r->hosts[0] : "-";
}

static int check_world_sizes(const vp_report *const *parts, size_t n, size_t *which)
{
    size_t known = n;
    for (size_t i = 0; i < n; i++) {
        if (parts[i]->world_size <= 0)
            continue;
        if (known == n)
            known = i;
        *which = i;
        if (parts[i]->world_size != parts[known]->world_size)
            return vp_fail(VP_EARG,
                           "not of one job: world size %lld, but host %.100s has world size %lld; "
                           "--force merges them nevertheless",
                           (long long)parts[i]->world_size, first_host(parts[known]),
                           (long long)parts[known]->world_size);
    }
    return 0;
}

static bool are_of_one_run(const vp_report *const *parts, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (merge_order(parts[i]->session_id, parts[0]->session_id) != 0 ||
            merge_order(parts[i]->session_path, parts[0]->session_path) != 0 ||
            !parts[i]->session_path)
            return false;
    return true;
}

/* Reports of one run that share a rank are left to the merge: one of them is given twice. */
static int check_rank_numbers(const vp_report *const *parts, size_t n, size_t *which)
{
    vp_map seen VP_CLEANUP(vp_map_free);
    vp_map_init(&seen);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < parts[i]->rank_count; k++) {
            uint64_t rank = (uint64_t)parts[i]->ranks[k].rank;
            uint32_t other = vp_map_get(&seen, rank);
            *which = i;
            if (other != VP_MAP_NONE && other != i &&
                !are_of_one_run((const vp_report *const[]){parts[i], parts[other]}, 2))
                return vp_fail(VP_EARG,
                               "not of one job: rank %lld, which host %.100s of another report "
                               "has, too; --force merges them nevertheless",
                               (long long)rank, first_host(parts[other]));
            VP_TRY(vp_map_set(&seen, rank, (uint32_t)i));
        }
    return 0;
}

typedef struct span_of_part {
    int64_t from_ns, to_ns;
    size_t part;
} span_of_part;

static int by_begin(const void *pa, const void *pb)
{
    const span_of_part *a = pa, *b = pb;
    int order = vp_order(a->from_ns, b->from_ns);
    return order ? order : vp_order((int64_t)a->part, (int64_t)b->part);
}

static int check_times(const vp_report *const *parts, size_t n, size_t *which)
{
    size_t known = 0;
    VP_CLEANUP(vp_free_ptr) span_of_part *spans = vp_calloc(n, sizeof *spans);
    VP_NEED(spans);
    for (size_t i = 0; i < n; i++) {
        const vp_report *r = parts[i];
        int64_t length = r->capture_ps > 0 ? r->capture_ps : r->end_ps > 0 ? r->end_ps : 0;
        span_of_part *s = &spans[known];
        *s = (span_of_part){r->base_unix_ns, 0, i};
        known += r->base_unix_ns > 0 && r->events > 0 &&
                 !__builtin_add_overflow(s->from_ns, length / PS_PER_NS, &s->to_ns);
    }
    qsort(spans, known, sizeof *spans, by_begin);
    for (size_t i = 1; i < known; i++) {
        const span_of_part *before = &spans[i - 1];
        if (spans[i].to_ns < before->to_ns)
            spans[i].to_ns = before->to_ns;
        if (spans[i].from_ns - before->to_ns <= APART_NS)
            continue;
        *which = spans[i].part;
        return vp_fail(VP_EARG,
                       "not of one job: it begins %lld s after the end of the report of host "
                       "%.100s; --force merges them nevertheless",
                       (long long)((spans[i].from_ns - before->to_ns) / 1000000000),
                       first_host(parts[before->part]));
    }
    return 0;
}

int report_check_job(const vp_report *const *parts, size_t n, size_t *which)
{
    *which = 0;
    VP_TRY(check_world_sizes(parts, n, which));
    VP_TRY(check_rank_numbers(parts, n, which));
    return are_of_one_run(parts, n) ? 0 : check_times(parts, n, which);
}

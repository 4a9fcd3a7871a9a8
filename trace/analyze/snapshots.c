#include "trace/analyze/snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/memory/dynamic_profiles.h"
#include "trace/analyze/memory/dynamic_snapshot.h"
#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/read/pprof/pprof.h"

/* Holders listed for each device of a snapshot, the largest first. */
#define HOLDERS_MAX 20u /* with the row of all others */

static bool is_snapshot(const cat_file *f)
{
    return (f->kind.format == RD_PPROF || f->kind.format == RD_SNAPSHOT) && !f->why;
}

bool snapshots_any(const cat_session *s)
{
    for (size_t i = 0; i < s->file_count; i++)
        if (is_snapshot(&s->files[i]))
            return true;
    return false;
}

static int copy_report_text(const char **out, vp_report *r, const char *s)
{
    *out = s ? vp_arena_strndup(r->owner_, s, strlen(s)) : NULL;
    return s && !*out ? vp_no_memory() : 0;
}

/* Reserves one more in an array of an arena. */
static int one_more(void **items, size_t count, vp_report *r, size_t size)
{
    char *v = vp_arena_zalloc(r->owner_, (count + 1) * size);
    VP_NEED(v);
    if (count)
        memcpy(v, *items, count * size);
    *items = v;
    return 0;
}

static bool is_same_holder_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int add_holders(vp_memory *m, vp_report *r, const pp_profile *p, const char *device)
{
    m->top = vp_arena_zalloc(r->owner_, HOLDERS_MAX * sizeof *m->top);
    VP_NEED(m->top);
    int64_t left = m->peak_bytes;
    for (size_t i = 0; i < p->holder_count && m->top_count < HOLDERS_MAX - 1; i++) {
        const pp_holder *h = &p->holders[i];
        vp_memory_item *item = &m->top[m->top_count];
        if (!is_same_holder_text(h->device, device) || h->bytes <= 0)
            continue;
        VP_TRY(mem_profile_holder(&item->name, r->owner_, h));
        VP_TRY(copy_report_text(&item->source, r, h->source));
        item->bytes = h->bytes;
        item->count = h->count;
        item->step = VP_UNKNOWN;
        left -= h->bytes;
        m->top_count++;
    }
    if (m->top_count && left > 0)
        m->top[m->top_count++] = (vp_memory_item){
            .name = "(others)", .bytes = left, .count = VP_UNKNOWN, .step = VP_UNKNOWN};
    return 0;
}

/* Entries by device. Samples without a device are executables, which hold no bytes: they are left
 * out if there are devices. */
static int add_profile_devices(vp_report *r, const pp_profile *p, const char *file,
                               pp_profile *const *all, size_t n)
{
    for (size_t i = 0; i < p->device_count; i++) {
        const pp_device *d = &p->devices[i];
        char name[320];
        vp_memory m = {.peak_bytes = d->bytes,
                       .peak_start_ps = VP_NO_TIME,
                       .total_bytes = VP_UNKNOWN,
                       .lifetime_peak_bytes = VP_UNKNOWN,
                       .reserved_bytes = VP_UNKNOWN,
                       .reserved_peak_bytes = VP_UNKNOWN,
                       .fragmented_bytes = VP_UNKNOWN,
                       .fragmented_of_bytes = VP_UNKNOWN,
                       .allocations = VP_UNKNOWN,
                       .frees = VP_UNKNOWN,
                       .end_bytes = VP_UNKNOWN,
                       .allocated_bytes = VP_UNKNOWN,
                       .out_of_memory = VP_UNKNOWN,
                       .steps = VP_UNKNOWN,
                       .step_allocations = VP_UNKNOWN,
                       .leak_steps = VP_UNKNOWN};
        if (!d->bytes && p->device_count > 1)
            continue;
        snprintf(name, sizeof name, d->name ? "%.200s %.100s" : "%.200s", file, d->name);
        VP_TRY(copy_report_text(&m.allocator, r, name));
        VP_TRY(add_holders(&m, r, p, d->name));
        if (n)
            VP_TRY(mem_profile_growth(&m, r->owner_, all, n, d->name));
        VP_TRY(one_more((void **)&r->memory, r->memory_count, r, sizeof m));
        r->memory[r->memory_count++] = m;
    }
    return 0;
}

static int add_snapshot_quality(vp_report *r, const cat_file *f, vp_quality q, const char *message)
{
    VP_TRY(copy_report_text(&q.message, r, message));
    VP_TRY(copy_report_text(&q.file, r, f->path));
    VP_TRY(one_more((void **)&r->quality, r->quality_count, r, sizeof q));
    r->quality[r->quality_count++] = q;
    r->partial = r->partial || q.partial;
    return 0;
}

static int note_failure(vp_report *r, const cat_file *f)
{
    const vp_error *e = vp_error_last();
    return add_snapshot_quality(r, f,
                                (vp_quality){.code = "unreadable",
                                             .severity = VP_SEV_WARNING,
                                             .event = e->event,
                                             .byte = e->offset,
                                             .partial = true},
                                e->message);
}

/* Times of a history are relative to its first entry; those of the report to its base. Times that
 * are days apart have no place in it. */
static void place_rows(mem_snapshot *s, const vp_report *r)
{
    const int64_t day_ns = INT64_C(86400) * 1000000000;
    int64_t shift = 0;
    bool known = s->first_unix_ns != VP_UNKNOWN && r->base_unix_ns != VP_UNKNOWN &&
                 !__builtin_sub_overflow(s->first_unix_ns, r->base_unix_ns, &shift) &&
                 shift < day_ns && shift > -day_ns;
    for (size_t i = 0; i < s->row_count; i++) {
        vp_memory *m = &s->rows[i];
        if (m->peak_start_ps != VP_NO_TIME)
            m->peak_start_ps = known ? m->peak_start_ps + shift * 1000 : VP_NO_TIME;
        for (size_t k = 0; known && k < m->sample_count; k++)
            m->sample_start_ps[k] += shift * 1000;
    }
}

static int add_snapshot(vp_report *r, const cat_file *f, rd_stream *in)
{
    mem_snapshot s;
    char message[160];
    VP_TRY(mem_snapshot_read(&s, r->owner_, in, f->name));
    if (r->base_unix_ns == VP_UNKNOWN && !r->host_count)
        r->base_unix_ns = s.first_unix_ns;
    place_rows(&s, r);
    for (size_t i = 0; i < s.row_count; i++) {
        VP_TRY(one_more((void **)&r->memory, r->memory_count, r, sizeof *s.rows));
        r->memory[r->memory_count++] = s.rows[i];
    }
    if (s.cut_at >= 0)
        VP_TRY(
            add_snapshot_quality(r, f,
                                 (vp_quality){.code = "truncated",
                                              .severity = VP_SEV_WARNING,
                                              .event = -1,
                                              .byte = s.cut_at,
                                              .partial = true},
                                 "the snapshot is truncated; the data before that point is shown"));
    if (!s.odd)
        return 0;
    snprintf(message, sizeof message,
             "%lld blocks or entries of the snapshot have no size and are left out",
             (long long)s.odd);
    return add_snapshot_quality(r, f,
                                (vp_quality){.code = "bad-event",
                                             .severity = VP_SEV_WARNING,
                                             .event = -1,
                                             .byte = -1,
                                             .partial = true},
                                message);
}

/* The profiles of a run, which are compared with each other after all were read. */
typedef struct named_profile {
    pp_profile *p;
    const cat_file *file;
} named_profile;

typedef struct profiles {
    named_profile *v;
    size_t n;
} profiles;

static int add_profile_file(profiles *all, vp_report *r, const catalog *c, const cat_file *f)
{
    VP_CLEANUP(rd_stream_close) rd_stream *in = NULL;
    VP_TRY(catalog_stream(&in, c, f, false));
    if (f->kind.format == RD_SNAPSHOT)
        return add_snapshot(r, f, in);
    VP_TRY(pp_read(&all->v[all->n].p, in));
    all->v[all->n++].file = f;
    return 0;
}

/* Names that are the same but for their numbers ("step9.prof", "step10.prof"). */
static bool differ_by_number_only(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

/* The time of a profile: the recorded one, which JAX's profiles lack, else its number, else the
 * time of its file. */
static int by_profile_time(const void *a, const void *b)
{
    const named_profile *x = a, *y = b;
    int64_t p = x->p->time_ns, q = y->p->time_ns;
    if (p <= 0 || q <= 0) {
        if (differ_by_number_only(x->file->name, y->file->name))
            return strverscmp(x->file->name, y->file->name);
        p = x->file->mtime_ns;
        q = y->file->mtime_ns;
    }
    return p != q ? (p < q ? -1 : 1) : strverscmp(x->file->name, y->file->name);
}

/* The last of several gets the growth from each to the next. */
static int add_profiles(profiles *all, vp_report *r)
{
    VP_CLEANUP(vp_free_ptr) pp_profile **v = vp_calloc(all->n + 1, sizeof *v);
    VP_NEED(v);
    qsort(all->v, all->n, sizeof *all->v, by_profile_time);
    for (size_t i = 0; i < all->n; i++)
        v[i] = all->v[i].p;
    for (size_t i = 0; i < all->n; i++) {
        bool last = i + 1 == all->n && i;
        VP_TRY(add_profile_devices(r, v[i], all->v[i].file->name, v, last ? all->n : 0));
    }
    return 0;
}

static int add_profile_files(profiles *all, vp_report *r, const catalog *c, const cat_session *s)
{
    all->v = vp_calloc(s->file_count + 1, sizeof *all->v);
    VP_NEED(all->v);
    for (size_t i = 0; i < s->file_count; i++) {
        const cat_file *f = &s->files[i];
        if (!is_snapshot(f))
            continue;
        int rc = add_profile_file(all, r, c, f);
        if (rc == VP_ENOMEM)
            return rc;
        if (rc < 0)
            VP_TRY(note_failure(r, f));
    }
    return add_profiles(all, r);
}

int snapshots_add(vp_report *r, const catalog *c, const cat_session *s)
{
    profiles all = {0};
    int rc = add_profile_files(&all, r, c, s);
    for (size_t i = 0; i < all.n; i++)
        pp_free(all.v[i].p);
    vp_free(all.v);
    return rc;
}

static int fill_snapshot_report(vp_report *r, const catalog *c, const cat_session *s,
                                const vp_report_options *opts)
{
    VP_TRY(copy_report_text(&r->session_id, r, s->id));
    VP_TRY(copy_report_text(&r->session_name, r, s->name));
    VP_TRY(copy_report_text(&r->session_path, r, s->path));
    VP_TRY(copy_report_text(&r->session_kind, r, s->kind));
    r->captured_unix_ns = s->captured_unix_ns;
    r->base_unix_ns = r->capture_ps = VP_UNKNOWN;
    r->group = opts->group;
    r->depth = opts->depth;
    r->files = vp_arena_zalloc(r->owner_, s->file_count * sizeof *r->files);
    VP_NEED(r->files);
    for (; r->file_count < s->file_count; r->file_count++) {
        const cat_file *f = &s->files[r->file_count];
        vp_report_file *x = &r->files[r->file_count];
        *x = (vp_report_file){NULL, rd_format_name(f->kind.format), f->bytes, VP_UNKNOWN, false};
        VP_TRY(copy_report_text(&x->path, r, f->path));
    }
    r->compile.cache_hits = r->compile.cache_misses = VP_UNKNOWN;
    VP_TRY(snapshots_add(r, c, s));
    if (!r->memory_count && r->partial) { /* no snapshot could be read */
        const vp_quality *q = &r->quality[0];
        vp_fail(VP_ECORRUPT, "%s", q->message);
        return vp_fail_at(VP_ECORRUPT, q->file, q->event, q->byte);
    }
    return report_finish(r);
}

int snapshots_report(vp_report **out, const catalog *c, const cat_session *s,
                     const vp_report_options *opts)
{
    vp_report *r = NULL;
    VP_TRY(report_new(&r));
    int rc = fill_snapshot_report(r, c, s, opts);
    if (rc < 0) {
        analyze_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

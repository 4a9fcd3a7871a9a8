#include "trace/read/xspace/xspace.h"

#include <stdio.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_xspace.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xs_workers.h"

static int note_quality(xs_reader *r, const char *code, sink_severity severity, vp_str text,
                        int64_t byte, bool partial)
{
    return r->out->quality(r->out, &(sink_quality){code, severity, text, -1, byte, partial});
}

static int note_count(xs_reader *r, uint64_t n, const char *code, const char *what)
{
    char text[160];
    if (!n)
        return 0;
    int len = snprintf(text, sizeof text, "%llu events %s", (unsigned long long)n, what);
    return note_quality(r, code, SINK_WARNING, (vp_str){text, (size_t)len}, -1, false);
}

static int note_bad_costs(xs_reader *r)
{
    char text[160];
    if (!r->bad_costs)
        return 0;
    int len = snprintf(text, sizeof text,
                       "%llu kinds of ops with impossible FLOP or byte counts, treated as unknown",
                       (unsigned long long)r->bad_costs);
    return note_quality(r, "bad-cost", SINK_WARNING, (vp_str){text, (size_t)len}, -1, false);
}

/* A peak of 0, or one that is not a number, is ignored: the peak is then looked up. */
static int note_bad_peak(xs_reader *r, const xs_plane *pl)
{
    const xs_value *v = &pl->stats[XS_STAT_PEAK];
    char text[160];
    if (!v->wire || xs_value_times(v, 1000) > 0)
        return 0;
    int len = snprintf(text, sizeof text, "the peak rate in %.*s is invalid and is not used",
                       VP_STR_CUT(pl->name, 60u));
    return note_quality(r, "bad-peak", SINK_WARNING, (vp_str){text, (size_t)len}, pl->offset,
                        false);
}

static int add_plane(xs_reader *r, int64_t offset, int64_t end)
{
    VP_TRY(vp_grow(&r->planes, &r->plane_cap, r->plane_count + 1, sizeof *r->planes,
                   VP_PROCESSES_MAX));
    xs_plane *pl = &r->planes[r->plane_count];
    *pl = (xs_plane){0};
    r->plane_count++;
    VP_TRY(xs_plane_read(pl, &r->w, offset, end, r->want_host, r->opts && r->opts->launches));
    r->graphs = r->graphs || pl->graphs;
    if (pl->damage >= 0 && r->first_damage < 0)
        r->first_damage = pl->damage;
    return 0;
}

static const char dropped_events[] = "dropped-events";

/* Notes events that a device's profiler reports as dropped. */
static int note_dropped_events(xs_reader *r, const xs_plane *pl)
{
    char text[200];
    int64_t n = xs_value_i64(&pl->stats[XS_STAT_DROPPED]);
    if (n <= 0)
        return 0;
    int len = snprintf(text, sizeof text, "%lld events of %.*s were dropped by the profiler",
                       (long long)n, VP_STR_CUT(pl->name, 60u));
    return note_quality(r, dropped_events, SINK_WARNING, (vp_str){text, (size_t)len}, pl->offset,
                        true);
}

/* XSpace.errors and .warnings: messages of the profiler for the user. */
static int add_message(xs_reader *r, const xw_field *f)
{
    const uint8_t *p;
    size_t have, n = f->u < 800 ? (size_t)f->u : 800;
    VP_TRY(xw_need(&r->w, f->offset, n, &p, &have));
    vp_str text = {(const char *)p, n};
    bool error = f->number == XSPACE_ERRORS;
    bool dropped = vp_str_find_nocase(text, VP_STR("dropped")) < n;
    bool ring = vp_str_starts(text, VP_STR(VX_RING));
    bool part = vp_str_starts(text, VP_STR(VX_UNFINISHED));
    bool open = vp_str_starts(text, VP_STR(VX_OPEN));
    return note_quality(r,
                        dropped                                   ? dropped_events
                        : part || open                            ? "unfinished"
                        : vp_str_starts(text, VP_STR(VX_CUT_OFF)) ? "cut-off"
                        : ring                                    ? "ring"
                        : error                                   ? "profiler-error"
                                                                  : "profiler-warning",
                        error          ? SINK_ERROR
                        : ring || open ? SINK_INFO
                                       : SINK_WARNING,
                        text, -1, dropped || part);
}

static int find_planes(xs_reader *r)
{
    int64_t at = 0;
    xw_field f;
    for (;;) {
        int64_t from = at;
        int rc = xw_next(&r->w, &at, r->w.size, &f);
        if (rc == VP_ECORRUPT) {
            if (r->first_damage < 0)
                r->first_damage = from;
            return f.overrun && f.number == XSPACE_PLANES && f.wire == VP_PB_LEN
                       ? add_plane(r, f.offset, r->w.size)
                       : 0;
        }
        if (rc <= 0)
            return rc;
        if (f.wire == VP_PB_LEN && f.number == XSPACE_PLANES)
            VP_TRY(add_plane(r, f.offset, at));
        else if (f.wire == VP_PB_LEN && (f.number == XSPACE_ERRORS || f.number == XSPACE_WARNINGS))
            VP_TRY(add_message(r, &f));
    }
}

static int tell_program(xs_reader *r, const xs_hlo *h, vp_str name)
{
    bool wanted = r->out->program && (r->graphs || (r->opts && r->opts->programs));
    sink_program p = {(uint64_t)h->program_id, name, h->proto};
    return wanted ? r->out->program(r->out, &p) : 0;
}

/* Indexes HLO protos by program id: by a stat if there is one, else by the id of the metadata. */
static int index_hlo(xs_reader *r, xs_plane *pl)
{
    const vp_map *ids = &pl->meta_by_id;
    for (size_t i = 0; ids->slots && i <= ids->mask; i++) {
        xs_value st[XS_STAT_ROLES] = {0};
        vp_str name, display;
        if (ids->slots[i].value == VP_MAP_NONE)
            continue;
        xs_meta_decode(pl, pl->meta[ids->slots[i].value].bytes, &name, &display, st);
        if (!st[XS_STAT_HLO_PROTO].text.n)
            continue;
        xs_hlo h = {.program_id = xs_value_i64(&st[XS_STAT_PROGRAM_ID]),
                    .proto = st[XS_STAT_HLO_PROTO].text};
        if (!st[XS_STAT_PROGRAM_ID].wire)
            h.program_id = (int64_t)ids->slots[i].key;
        VP_TRY(vp_grow(&r->hlo, &r->hlo_cap, r->hlo_count + 1, sizeof h, VP_INTERN_MAX));
        r->hlo[r->hlo_count] = h;
        VP_TRY(vp_map_set(&r->hlo_by_program, (uint64_t)h.program_id, (uint32_t)r->hlo_count));
        r->hlo_count++;
        VP_TRY(tell_program(r, &h, name));
    }
    return 0;
}

/* Task Environment: start of the profile in Unix ns, to which the lines' timestamps are relative.
 * The data kept by our recorder's ring begins later. */
static void use_environment(xs_reader *r, const xs_plane *pl)
{
    int64_t start = xs_value_i64(&pl->stats[XS_STAT_PROFILE_START]), length;
    int64_t stop = xs_value_i64(&pl->stats[XS_STAT_PROFILE_STOP]);
    if (start <= 0)
        return;
    r->out->base(r->out, start);
    int64_t window = xs_value_i64(&pl->stats[XS_STAT_WINDOW_START]);
    if (stop < start || __builtin_mul_overflow(stop - start, INT64_C(1000), &length))
        return;
    window = window > start && window <= stop ? (window - start) * 1000 : 0;
    r->out->capture(r->out, window, length);
    r->has_capture = true;
}

/* If the profile does not state its begin and end, uses the first and the last event, provided that
 * all were read, except lines that XProf derives from others. */
static void use_extent(xs_reader *r)
{
    if (!r->has_capture && r->want_host && r->first_ps <= r->last_ps)
        r->out->capture(r->out, r->first_ps, r->last_ps);
}

static void choose_base_time(xs_reader *r)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < r->plane_count; i++)
        for (size_t k = 0; k < r->planes[i].line_count; k++)
            if (r->planes[i].lines[k].timestamp_ns > XS_EPOCH_NS &&
                r->planes[i].lines[k].timestamp_ns < least)
                least = r->planes[i].lines[k].timestamp_ns;
    if (least == INT64_MAX)
        return;
    r->base_ns = least;
    r->out->base(r->out, least);
}

static bool is_device(const xs_plane *pl)
{
    int32_t ordinal;
    return rd_process_kind(pl->name, &ordinal) != SINK_PROCESS_HOST;
}

/* Planes that are this close together are read devices first; others in file order, so that remote
 * bytes are requested once (trace/source/object.c). */
#define TOGETHER_BYTES (INT64_C(16) << 20)

/* Host events can be ops of XLA:CPU only if no device has ops, so devices are read until one has
 * any. */
static int read_first_devices(xs_reader *r, xs_workers *workers)
{
    for (uint32_t i = 0; i < r->plane_count && !r->device_ops; i++) {
        xs_plane *pl = &r->planes[i];
        if (!pl->line_count || !is_device(pl))
            continue;
        pl->is_read = true;
        VP_TRY(xs_lines_plan(r, workers, i, true));
        VP_TRY(xs_lines_read(r, workers, i, true));
    }
    return 0;
}

static uint32_t end_of_group(const xs_reader *r, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < r->plane_count && r->planes[to].end - r->planes[from].offset <= TOGETHER_BYTES)
        to++;
    return to;
}

static int plan_or_read(xs_reader *r, xs_workers *workers, bool plans)
{
    for (uint32_t from = 0, to; from < r->plane_count; from = to) {
        to = end_of_group(r, from);
        for (uint32_t n = 0; n < 2 * (to - from); n++) {
            uint32_t i = from + n % (to - from);
            bool device = n < to - from;
            const xs_plane *pl = &r->planes[i];
            if (pl->is_read || !pl->line_count || is_device(pl) != device)
                continue;
            VP_TRY(plans ? xs_lines_plan(r, workers, i, device)
                         : xs_lines_read(r, workers, i, device));
        }
    }
    return 0;
}

static int cut_lines(xs_reader *r, xs_workers *workers)
{
    VP_TRY(read_first_devices(r, workers));
    VP_TRY(plan_or_read(r, workers, true));
    return plan_or_read(r, workers, false);
}

static int read_plane_lines(xs_reader *r)
{
    xs_workers *workers;
    VP_TRY(xs_workers_new(&workers, r));
    rd_source_in_order(r->w.source);
    int rc = cut_lines(r, workers);
    if (rc >= 0)
        rc = xs_workers_finish(workers);
    xs_workers_free(workers);
    xs_buffers_close(r);
    VP_TRY(rc);
    VP_TRY(xs_cpu_finish(r));
    return xs_flush(r);
}

/* True if a plane has a name, lines or metadata. An empty plane does not count, because any bytes
 * may look like one. */
static bool has_plane_content(const xs_reader *r)
{
    for (size_t i = 0; i < r->plane_count; i++) {
        const xs_plane *pl = &r->planes[i];
        if (pl->name.n || pl->line_count || pl->meta_count || pl->stat_count)
            return true;
    }
    return false;
}

static int xspace_read_all(xs_reader *r)
{
    VP_TRY(find_planes(r));
    if (!has_plane_content(r))
        return vp_fail_at(vp_fail(VP_ECORRUPT, "not an XSpace: no plane could be read"), NULL, -1,
                          r->first_damage);
    choose_base_time(r);
    for (size_t i = 0; i < r->plane_count; i++) {
        if (r->planes[i].is_metadata)
            VP_TRY(index_hlo(r, &r->planes[i]));
        VP_TRY(note_dropped_events(r, &r->planes[i]));
        VP_TRY(note_bad_peak(r, &r->planes[i]));
        if (!vp_str_eq(r->planes[i].name, VP_STR("Task Environment")))
            continue;
        if (!r->base_ns)
            use_environment(r, &r->planes[i]);
        if (r->want_host)
            VP_TRY(xs_facts(r, &r->planes[i]));
    }
    VP_TRY(read_plane_lines(r));
    use_extent(r);
    if (r->first_damage >= 0)
        VP_TRY(note_quality(
            r, "truncated", SINK_ERROR,
            VP_STR("damaged or cut off here; events before it are shown, the rest is missing"),
            r->first_damage, true));
    VP_TRY(note_count(r, r->negative, "negative-duration", "with a negative duration, taken as 0"));
    VP_TRY(note_count(r, r->bad_time, "bad-event", "damaged or with times out of range, skipped"));
    VP_TRY(note_bad_costs(r));
    return note_count(r, r->aggregated, "aggregated-events", "are sums without a time, skipped");
}

static void reader_free(xs_reader *r)
{
    for (size_t i = 0; i < r->plane_count; i++)
        xs_plane_free(&r->planes[i]);
    for (size_t i = 0; i < r->hlo_count; i++)
        hlo_module_free(r->hlo[i].module);
    vp_free(r->planes);
    vp_free(r->hlo);
    vp_free(r->cpu_ops);
    vp_free(r->cpu_ends);
    vp_map_free(&r->hlo_by_program);
    vp_map_free(&r->kinds);
    vp_map_free(&r->processes);
    vp_map_free(&r->tracks);
    vp_map_free(&r->cpu_tracks);
    xw_free(&r->w);
    vp_free(r);
}

int xs_read(sink *out, rd_source *in, const rd_options *opts)
{
    xs_reader *r = vp_calloc(1, sizeof *r);
    VP_NEED(r);
    r->out = out;
    r->opts = opts;
    r->first_damage = -1;
    r->first_ps = INT64_MAX;
    r->last_ps = INT64_MIN;
    r->want_host = !opts || !opts->device_only;
    int rc = xw_init(&r->w, in, VP_READ_WINDOW);
    if (rc == 0)
        rc = xspace_read_all(r);
    reader_free(r);
    return rc;
}

/* Converts an XSpace to a .pftrace, chunk by chunk: the layout of its JSON, with each thread as a
 * sequence of packets in the order of time. Memory grows with the names of one plane and the open
 * slices, and by 32 bytes per event of a thread with unordered lines. */
#include "trace/export/pftrace/pft_added.h"
#include "trace/export/pftrace/pft_xspace.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"

static int load_plane_names(pft_xspace *x, uint32_t plane)
{
    int rc = xj_walk_load(&x->walk, plane);
    if (rc <= 0)
        return rc;
    pft_told_free(&x->told);
    return pft_told_make(&x->told, &x->walk.names);
}

/* ---- Tracks --------------------------------------------------------------------------------- */

static int put_xspace_row(pft_xspace *x, const xj_row *r)
{
    return pft_put_track(
        &x->writer,
        &(pft_track){.uuid = r->process ? pft_process_track(r->owner) : pft_thread_track(r->thread),
                     .parent = r->process ? 0 : pft_process_track(r->owner),
                     .name = r->name,
                     .kind = r->process ? PFT_PROCESS : PFT_THREAD,
                     .pid = r->pid,
                     .tid = r->tid,
                     .rank = (int32_t)r->sort,
                     .ordered = r->process});
}

/* A sibling of the thread's track for events that it cannot hold. */
static int put_xspace_sibling(pft_xspace *x, const xj_track *t, uint64_t uuid, uint32_t number)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    uint32_t owner = x->walk.layout.planes[t->plane].owner;
    vp_buf_init(&name, XJ_NAME_MAX + 64);
    vp_buf_str(&name, t->name);
    if (number)
        vp_buf_printf(&name, " (%u)", number);
    VP_TRY(name.status);
    return pft_put_track(&x->writer, &(pft_track){.uuid = uuid,
                                                  .parent = pft_process_track(owner),
                                                  .name = vp_buf_view(&name),
                                                  .kind = PFT_PLAIN,
                                                  .rank = (int32_t)t->sort,
                                                  .apart = number != 0});
}

static int lane_track(pft_xspace *x, const xj_track *t, uint32_t lane, uint64_t *track)
{
    *track =
        lane ? PFT_TRACK_LANE | (uint64_t)x->walk.track << 8 | lane : pft_thread_track(t->thread);
    for (; x->lanes_told <= lane; x->lanes_told++) {
        uint64_t uuid = PFT_TRACK_LANE | (uint64_t)x->walk.track << 8 | x->lanes_told;
        if (x->lanes_told)
            VP_TRY(put_xspace_sibling(x, t, uuid, x->lanes_told + 1));
    }
    return 0;
}

static int take_pool_track(pft_xspace *x, const xj_track *t, const xj_span *s, uint64_t *track)
{
    bool fresh;
    VP_TRY(pft_pool_take(&x->pool, s->start, s->end, PFT_TRACK_POOL | x->pooled, track, &fresh));
    if (!fresh)
        return 0;
    x->pooled++;
    return put_xspace_sibling(x, t, *track, 0);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* The next event in the order of time, with a known lane. */
static int play_event(pft_xspace *x, const xj_track *t, const xj_event *e, const xj_span *s,
                      int lane)
{
    uint64_t track;
    VP_TRY(lane);
    if (!ex_pick_takes(x->walk.layout.pick, s->start, s->end))
        return 0;
    VP_TRY(lane == (int)EX_LANE_ASYNC ? take_pool_track(x, t, s, &track)
                                      : lane_track(x, t, (uint32_t)lane, &track));
    if (!x->in_sequence) /* a thread without visible events has none */
        VP_TRY(pft_begin_sequence(&x->writer, pft_thread_track(t->thread), s->start));
    x->in_sequence = true;
    VP_TRY(pft_ends_until(&x->ends, &x->writer, s->start));
    return pft_xspace_event(x, t, e, s, track);
}

/* The next event in file order. VP_ECORRUPT (not recorded): damaged. */
static int play_field(pft_xspace *x, const xj_track *t, const xw_field *f)
{
    xj_event e;
    xj_span s;
    int rc = xj_layout_read(&x->walk.layout, t, &x->walk.w, f, &e, &s);
    if (rc <= 0)
        return rc < 0 ? rc : VP_ECORRUPT;
    int lane = t->async         ? (int)EX_LANE_ASYNC
               : t->overlapping ? ex_lanes_take(&x->lanes, s.start, s.end)
                                : 0;
    return play_event(x, t, &e, &s, lane);
}

static int in_file_order(pft_xspace *x)
{
    const xj_track *t = &x->walk.layout.tracks[x->walk.track];
    xw_field f;
    int rc;
    while ((rc = xj_walk_next(&x->walk, t, &f)) > 0) {
        rc = play_field(x, t, &f);
        if (rc == VP_ECORRUPT)
            xj_walk_damaged(&x->walk, f.offset);
        else
            VP_TRY(rc);
    }
    VP_TRY(rc);
    return x->walk.at >= t->end;
}

static int play_place(pft_xspace *x, uint32_t id, size_t span)
{
    const struct pft_index_place *place = &x->index.places[id];
    const xj_track *t = &x->walk.layout.tracks[place->track];
    const ex_moves *m = &x->index.moves;
    xw_field f = {.u = place->n, .offset = place->offset};
    xj_event e;
    int lane = 0;
    if (x->index.move < m->count && m->list[x->index.move].id == id)
        lane = (int)m->list[x->index.move++].lane;
    VP_TRY(load_plane_names(x, t->plane));
    int rc = xj_event_read(&e, &x->walk.w, &f);
    if (rc <= 0)
        return rc < 0 ? rc : VP_ECORRUPT;
    xj_span s = {trace_start(&x->index.spans.track, span), ex_spans_end(&x->index.spans, span)};
    return play_event(x, t, &e, &s, t->async ? (int)EX_LANE_ASYNC : lane);
}

/* By the index. */
static int in_order_of_time(pft_xspace *x)
{
    pft_index *i = &x->index;
    for (; i->next < i->spans.track.count && !ex_out_full(&x->walk.out); i->next++) {
        uint32_t id = trace_kind_of(&i->spans.track, i->next);
        int rc = play_place(x, id, i->next);
        if (rc == VP_ECORRUPT)
            xj_walk_damaged(&x->walk, i->places[id].offset);
        else
            VP_TRY(rc);
    }
    return i->next >= i->spans.track.count;
}

static size_t lines_of_thread(const xj_layout *l, size_t first)
{
    size_t end = first + 1;
    while (end < l->track_count && l->tracks[end].thread == l->tracks[first].thread)
        end++;
    return end;
}

static int begin_thread(pft_xspace *x)
{
    const xj_track *t = &x->walk.layout.tracks[x->walk.track];
    x->last = lines_of_thread(&x->walk.layout, x->walk.track);
    x->indexed = t->unsorted || x->last > x->walk.track + 1;
    x->lanes_told = 0;
    x->in_sequence = false;
    x->walk.at = t->offset;
    VP_TRY(load_plane_names(x, t->plane));
    if (x->indexed)
        VP_TRY(pft_index_make(&x->index, &x->walk, x->walk.track, x->last));
    x->walk.begun = true;
    return 0;
}

static int end_thread(pft_xspace *x)
{
    VP_TRY(pft_ends_until(&x->ends, &x->writer, INT64_MAX));
    pft_pool_free(&x->pool);
    ex_lanes_free(&x->lanes);
    pft_index_free(&x->index);
    x->walk.track = x->last;
    x->walk.begun = false;
    return 0;
}

static int write_thread_events(pft_xspace *x)
{
    while (x->walk.track < x->walk.layout.track_count && !ex_out_full(&x->walk.out)) {
        if (!x->walk.begun)
            VP_TRY(begin_thread(x));
        int done = x->indexed ? in_order_of_time(x) : in_file_order(x);
        VP_TRY(done);
        if (done)
            VP_TRY(end_thread(x));
    }
    return 0;
}

/* ---- The stream ----------------------------------------------------------------------------- */

/* Additional events at the end. 1: there are more. */
static int put_xspace_added(pft_xspace *x)
{
    struct ex_added *added;
    int rc = xj_walk_added(&x->walk, &added);
    return rc > 0 ? pft_added(added, &x->writer, &x->ends) : rc;
}

static int pftrace_next(rd_stream *s, char **p, size_t *n)
{
    pft_xspace *x = (pft_xspace *)(void *)s;
    ex_out_reset(&x->walk.out);
    if (!x->headed)
        VP_TRY(pft_begin_trace(&x->writer));
    x->headed = true;
    int ready = xj_walk_ready(&x->walk);
    VP_TRY(ready);
    if (!ready)
        return ex_out_chunk(&x->walk.out, p, n);
    for (; x->walk.row < x->walk.layout.row_count && !ex_out_full(&x->walk.out); x->walk.row++)
        VP_TRY(put_xspace_row(x, &x->walk.layout.rows[x->walk.row]));
    if (x->walk.row == x->walk.layout.row_count)
        VP_TRY(write_thread_events(x));
    if (!x->walk.ended && x->walk.track >= x->walk.layout.track_count &&
        !ex_out_full(&x->walk.out)) {
        int more = put_xspace_added(x);
        VP_TRY(more);
        if (!more)
            xj_walk_finish(&x->walk);
    }
    s->raw_done = x->walk.ended ? s->raw_total : x->walk.at;
    return x->walk.out.status < 0 ? x->walk.out.status : ex_out_chunk(&x->walk.out, p, n);
}

static void pftrace_close(rd_stream *s)
{
    pft_xspace *x = (pft_xspace *)(void *)s;
    pft_told_free(&x->told);
    pft_free(&x->writer);
    pft_ends_free(&x->ends);
    pft_pool_free(&x->pool);
    ex_lanes_free(&x->lanes);
    pft_index_free(&x->index);
    vp_map_free(&x->memories.at);
    xj_walk_free(&x->walk);
    vp_free(x);
}

int ex_pftrace_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick)
{
    pft_xspace *x = vp_calloc(1, sizeof *x);
    if (!x) {
        rd_source_close(in);
        return vp_no_memory();
    }
    x->walk.s = (rd_stream){.next = pftrace_next, .close = pftrace_close};
    vp_map_init(&x->memories.at);
    pft_init(&x->writer, &x->walk.out, pick);
    int rc = xj_walk_init(&x->walk, in, pick, true);
    if (rc < 0) {
        pftrace_close(&x->walk.s);
        return rc;
    }
    *out = &x->walk.s;
    return 0;
}

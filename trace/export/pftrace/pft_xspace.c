/* An XSpace as a .pftrace, pulled chunk by chunk: the layout that its JSON has, each thread a
 * sequence of packets in the order of time. Memory grows with the names of one plane and the slices
 * that are open, and by 36 bytes an event of a thread whose lines stand in no order of time. */
#include "trace/export/pftrace/pft_xspace.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/export/stream_out.h"
#include "trace/image/xspace_fields.h"

static void damaged(pft_xspace *x, int64_t at)
{
    if (x->layout.damage < 0)
        x->layout.damage = at;
}

static void unload(pft_xspace *x)
{
    if (x->loaded == UINT32_MAX)
        return;
    pft_told_free(&x->told);
    xj_names_free(&x->names);
    xs_plane_free(&x->plane);
    x->loaded = UINT32_MAX;
}

static int load(pft_xspace *x, uint32_t plane)
{
    const xj_plane *pl = &x->layout.planes[plane];
    if (x->loaded == plane)
        return 0;
    unload(x);
    x->loaded = plane;
    x->plane = (xs_plane){0};
    x->names = (xj_names){0};
    x->told = (pft_told){0};
    VP_TRY(xs_plane_read(&x->plane, &x->w, pl->offset, pl->end, true));
    if (x->plane.damage >= 0)
        damaged(x, x->plane.damage);
    VP_TRY(xj_names_make(&x->names, &x->plane, true));
    return pft_told_make(&x->told, &x->names);
}

/* ---- Tracks --------------------------------------------------------------------------------- */

static int put_row(pft_xspace *x, const xj_row *r)
{
    return pft_put_track(&x->writer,
                         &(pft_track){.uuid = r->process ? pft_process_track(r->pid)
                                                         : pft_thread_track(r->pid, r->tid),
                                      .parent = r->process ? 0 : pft_process_track(r->pid),
                                      .name = r->name,
                                      .kind = r->process ? PFT_PROCESS : PFT_THREAD,
                                      .pid = r->pid,
                                      .tid = r->tid,
                                      .rank = (int32_t)r->sort,
                                      .ordered = r->process});
}

/* A track beside the thread's own, for what that cannot take. */
static int put_sibling(pft_xspace *x, const xj_track *t, uint64_t uuid, uint32_t number)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    uint32_t pid = x->layout.planes[t->plane].pid;
    vp_buf_init(&name, XJ_NAME_MAX + 64);
    vp_buf_str(&name, t->name);
    if (number)
        vp_buf_printf(&name, " (%u)", number);
    VP_TRY(name.status);
    return pft_put_track(&x->writer, &(pft_track){.uuid = uuid,
                                                  .parent = pft_process_track(pid),
                                                  .name = vp_buf_view(&name),
                                                  .kind = PFT_PLAIN,
                                                  .rank = (int32_t)t->sort,
                                                  .apart = number != 0});
}

static int lane_track(pft_xspace *x, const xj_track *t, uint32_t lane, uint64_t *track)
{
    uint32_t pid = x->layout.planes[t->plane].pid;
    uint64_t first = pft_thread_track(pid, t->tid);
    *track = lane ? PFT_TRACK_LANE | (uint64_t)x->track << 8 | lane : first;
    for (; x->lanes_told <= lane; x->lanes_told++) {
        uint64_t uuid = PFT_TRACK_LANE | (uint64_t)x->track << 8 | x->lanes_told;
        if (x->lanes_told)
            VP_TRY(put_sibling(x, t, uuid, x->lanes_told + 1));
    }
    return 0;
}

static int pool_track(pft_xspace *x, const xj_track *t, const xj_span *s, uint64_t *track)
{
    bool fresh;
    VP_TRY(pft_pool_take(&x->pool, s->start, s->end, PFT_TRACK_POOL | x->pooled, track, &fresh));
    if (!fresh)
        return 0;
    x->pooled++;
    return put_sibling(x, t, *track, 0);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* An event in the order of time, whose lane is known. */
static int play(pft_xspace *x, const xj_track *t, vp_str bytes, const xj_event *e, const xj_span *s,
                int lane)
{
    uint64_t track;
    VP_TRY(lane);
    if (!ex_pick_takes(x->layout.pick, s->start, s->end))
        return 0;
    VP_TRY(lane == (int)EX_LANE_ASYNC ? pool_track(x, t, s, &track)
                                      : lane_track(x, t, (uint32_t)lane, &track));
    VP_TRY(pft_ends_until(&x->ends, &x->writer, s->start));
    return pft_xspace_event(x, t, bytes, e, s, track);
}

/* An event as it stands in the file. VP_ECORRUPT (not recorded): damaged. */
static int play_field(pft_xspace *x, const xj_track *t, const xw_field *f)
{
    vp_str bytes;
    xj_event e;
    xj_span s;
    int rc = xj_event_bytes(&bytes, &x->w, f);
    VP_TRY(rc);
    if (!rc || !xj_event_read(&e, bytes) || !xj_layout_span(&x->layout, t, &e, &s))
        return VP_ECORRUPT;
    int lane = t->async         ? (int)EX_LANE_ASYNC
               : t->overlapping ? ex_lanes_take(&x->lanes, s.start, s.end)
                                : 0;
    return play(x, t, bytes, &e, &s, lane);
}

static int in_file_order(pft_xspace *x)
{
    const xj_track *t = &x->layout.tracks[x->track];
    xw_field f;
    int rc = 1;
    while (!ex_out_full(&x->out) && (rc = xw_next(&x->w, &x->at, t->end, &f)) > 0) {
        if (f.number != XLINE_EVENTS || f.wire != VP_PB_LEN)
            continue;
        rc = play_field(x, t, &f);
        if (rc == VP_ECORRUPT)
            damaged(x, f.offset);
        else
            VP_TRY(rc);
    }
    if (rc == VP_ECORRUPT) {
        damaged(x, x->at);
        x->at = t->end;
        rc = 0;
    }
    VP_TRY(rc);
    return x->at >= t->end;
}

static int play_place(pft_xspace *x, uint32_t id, size_t span)
{
    const struct pft_index_place *place = &x->index.places[id];
    const xj_track *t = &x->layout.tracks[place->track];
    const ex_moves *m = &x->index.moves;
    xw_field f = {.u = place->n, .offset = place->offset};
    vp_str bytes;
    xj_event e;
    int lane = 0;
    if (x->index.move < m->count && m->list[x->index.move].id == id)
        lane = (int)m->list[x->index.move++].lane;
    VP_TRY(load(x, t->plane));
    VP_TRY(xj_event_bytes(&bytes, &x->w, &f));
    if (!xj_event_read(&e, bytes))
        return VP_ECORRUPT;
    xj_span s = {x->index.spans.track.start_ps[span], ex_spans_end(&x->index.spans, span)};
    return play(x, t, bytes, &e, &s, t->async ? (int)EX_LANE_ASYNC : lane);
}

/* By the index. */
static int in_order_of_time(pft_xspace *x)
{
    pft_index *i = &x->index;
    for (; i->next < i->spans.track.count && !ex_out_full(&x->out); i->next++) {
        uint32_t id = i->spans.track.kind[i->next];
        int rc = play_place(x, id, i->next);
        if (rc == VP_ECORRUPT)
            damaged(x, i->places[id].offset);
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
    const xj_track *t = &x->layout.tracks[x->track];
    int64_t first;
    x->last = lines_of_thread(&x->layout, x->track);
    x->indexed = t->unsorted || x->last > x->track + 1;
    x->lanes_told = 0;
    x->at = t->offset;
    VP_TRY(load(x, t->plane));
    if (x->indexed)
        VP_TRY(pft_index_make(&x->index, &x->layout, x->track, x->last, &x->w));
    first = x->indexed && x->index.spans.track.count
                ? x->index.spans.track.start_ps[0]
                : t->start_ns + t->least_ns + x->layout.shift_ns;
    x->begun = true;
    return pft_begin_sequence(&x->writer, pft_thread_track(x->layout.planes[t->plane].pid, t->tid),
                              first > 0 ? first : 0);
}

static int end_thread(pft_xspace *x)
{
    VP_TRY(pft_ends_until(&x->ends, &x->writer, INT64_MAX));
    pft_pool_free(&x->pool);
    ex_lanes_free(&x->lanes);
    pft_index_free(&x->index);
    x->track = x->last;
    x->begun = false;
    return 0;
}

static int threads(pft_xspace *x)
{
    while (x->track < x->layout.track_count && !ex_out_full(&x->out)) {
        if (!x->begun)
            VP_TRY(begin_thread(x));
        int done = x->indexed ? in_order_of_time(x) : in_file_order(x);
        VP_TRY(done);
        if (done)
            VP_TRY(end_thread(x));
    }
    return 0;
}

/* ---- The stream ----------------------------------------------------------------------------- */

static void finish(pft_xspace *x)
{
    x->ended = true;
    if (x->layout.damage < 0)
        return;
    vp_fail(VP_ECORRUPT, "the XSpace is damaged here; what is good before and behind it is shown");
    vp_fail_at(VP_ECORRUPT, NULL, -1, x->layout.damage);
    x->s.damage = *vp_error_last();
}

static int pftrace_next(rd_stream *s, char **p, size_t *n)
{
    pft_xspace *x = (pft_xspace *)(void *)s;
    ex_out_reset(&x->out);
    for (; x->row < x->layout.row_count && !ex_out_full(&x->out); x->row++)
        VP_TRY(put_row(x, &x->layout.rows[x->row]));
    if (x->row == x->layout.row_count)
        VP_TRY(threads(x));
    if (!x->ended && x->track >= x->layout.track_count)
        finish(x);
    s->raw_done = x->ended ? s->raw_total : x->at;
    return x->out.status < 0 ? x->out.status : ex_out_chunk(&x->out, p, n);
}

static void pftrace_close(rd_stream *s)
{
    pft_xspace *x = (pft_xspace *)(void *)s;
    unload(x);
    pft_free(&x->writer);
    pft_ends_free(&x->ends);
    pft_pool_free(&x->pool);
    ex_lanes_free(&x->lanes);
    pft_index_free(&x->index);
    xj_flows_free(&x->flows);
    vp_map_free(&x->memories.at);
    xj_layout_free(&x->layout);
    xw_free(&x->w);
    vp_buf_free(&x->out);
    rd_source_close(x->source);
    vp_free(x);
}

int ex_pftrace_from_xspace(rd_stream **out, rd_source *in, ex_pick *pick)
{
    pft_xspace *x = vp_calloc(1, sizeof *x);
    if (!x) {
        rd_source_close(in);
        return vp_no_memory();
    }
    x->s = (rd_stream){
        .next = pftrace_next, .close = pftrace_close, .total = -1, .raw_total = rd_source_size(in)};
    x->source = in;
    x->loaded = UINT32_MAX;
    vp_map_init(&x->memories.at);
    pft_init(&x->writer, &x->out);
    int rc = xw_init(&x->w, in);
    if (rc >= 0)
        rc = xj_layout_make(&x->layout, &x->w, pick);
    if (rc >= 0)
        rc = ex_out_init(&x->out);
    if (rc < 0) {
        pftrace_close(&x->s);
        return rc;
    }
    *out = &x->s;
    return 0;
}

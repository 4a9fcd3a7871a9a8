/* Sorts a thread's events by time, if its lines are unordered. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/pftrace/pft_xspace.h"
#include "trace/vpcap/xspace_fields.h"

static int index_add_event(pft_index *x, xj_walk *walk, uint32_t track, const xw_field *f)
{
    const xj_layout *layout = &walk->layout;
    xj_event e;
    xj_span s;
    int rc = xj_layout_read(layout, &layout->tracks[track], &walk->w, f, &e, &s);
    if (!rc)
        xj_walk_damaged(walk, f->offset);
    if (rc <= 0)
        return rc;
    VP_TRY(
        vp_grow(&x->places, &x->place_cap, x->place_count + 1, sizeof *x->places, VP_EVENTS_MAX));
    x->places[x->place_count] = (struct pft_index_place){f->offset, (uint32_t)f->u, track};
    return ex_spans_add(&x->spans, s.start, s.end, (uint32_t)x->place_count++);
}

static int index_add_line(pft_index *x, xj_walk *walk, uint32_t track)
{
    const xj_track *t = &walk->layout.tracks[track];
    int64_t at = t->offset;
    xw_field f;
    int rc;
    while ((rc = xw_next(&walk->w, &at, t->end, &f)) > 0)
        if (f.number == XLINE_EVENTS && f.wire == VP_PB_LEN)
            VP_TRY(index_add_event(x, walk, track, &f));
    if (rc == VP_ECORRUPT)
        xj_walk_damaged(walk, at);
    return rc == VP_ECORRUPT ? 0 : rc;
}

int pft_index_make(pft_index *x, xj_walk *walk, size_t first, size_t end)
{
    *x = (pft_index){0};
    for (size_t i = first; i < end; i++)
        VP_TRY(index_add_line(x, walk, (uint32_t)i));
    return ex_spans_place(&x->spans, &x->moves, NULL);
}

void pft_index_free(pft_index *x)
{
    ex_spans_free(&x->spans);
    vp_free(x->moves.list);
    vp_free(x->places);
    *x = (pft_index){0};
}

#include "trace/export/xspace/xspace_walk.h"

#include "trace/base/mem.h"
#include "trace/export/shared/added.h"

#include "trace/base/err.h"
#include "trace/vpcap/xspace_fields.h"

void xj_walk_damaged(xj_walk *x, int64_t at)
{
    if (x->layout.damage < 0)
        x->layout.damage = at;
}

static void walk_unload_plane(xj_walk *x)
{
    if (x->loaded == UINT32_MAX)
        return;
    xj_names_free(&x->names);
    xs_plane_free(&x->plane);
    x->loaded = UINT32_MAX;
}

static int walk_load_plane(xj_walk *x, const xj_plane *pl)
{
    x->plane = (xs_plane){0};
    x->names = (xj_names){0};
    VP_TRY(xs_plane_read(&x->plane, &x->w, pl->offset, pl->end, true, false));
    if (x->plane.damage >= 0)
        xj_walk_damaged(x, x->plane.damage);
    return xj_names_make(&x->names, &x->plane, x->raw);
}

int xj_walk_load(xj_walk *x, uint32_t plane)
{
    if (x->loaded == plane)
        return 0;
    walk_unload_plane(x);
    x->loaded = plane;
    int rc = walk_load_plane(x, &x->layout.planes[plane]);
    if (rc < 0)
        walk_unload_plane(x);
    return rc < 0 ? rc : 1;
}

int xj_walk_next(xj_walk *x, const xj_track *t, xw_field *f)
{
    int rc = 1;
    while (!ex_out_full(&x->out) && (rc = xw_next(&x->w, &x->at, t->end, f)) > 0)
        if (f->number == XLINE_EVENTS && f->wire == VP_PB_LEN)
            return 1;
    if (rc == VP_ECORRUPT) {
        xj_walk_damaged(x, x->at);
        x->at = t->end;
    }
    return rc == VP_ECORRUPT || rc > 0 ? 0 : rc;
}

int xj_walk_added(xj_walk *x, struct ex_added **added)
{
    const xj_layout *l = &x->layout;
    *added = l->pick ? l->pick->added : NULL;
    if (!*added)
        return 0;
    VP_CLEANUP(vp_free_ptr)
    uint32_t *pids = vp_realloc_array(NULL, l->plane_count + 1, sizeof *pids);
    VP_NEED(pids);
    for (size_t i = 0; i < l->plane_count; i++)
        pids[i] = l->planes[i].pid;
    return ex_added_begin(*added, l->pick, pids, l->plane_count, l->shift_ns);
}

void xj_walk_finish(xj_walk *x)
{
    x->ended = true;
    if (x->layout.damage < 0)
        return;
    vp_fail(VP_ECORRUPT, "the XSpace is damaged here; the valid parts before and after are shown");
    vp_fail_at(VP_ECORRUPT, NULL, -1, x->layout.damage);
    x->s.damage = *vp_error_last();
}

static int walk_decide_layout(xj_walk *x)
{
    VP_TRY(xj_layout_find(&x->layout, &x->w, INT64_MAX));
    x->decided = true;
    return xj_layout_make(&x->layout);
}

int xj_walk_init(xj_walk *x, rd_source *in, ex_pick *pick, bool raw)
{
    x->s.total = -1;
    x->s.raw_total = rd_source_size(in);
    x->source = in;
    x->loaded = UINT32_MAX;
    x->raw = raw;
    xj_layout_init(&x->layout, pick);
    VP_TRY(xw_init(&x->w, in, VP_READ_WINDOW));
    VP_TRY(ex_out_init(&x->out));
    if (pick && pick->early) {
        int over = xj_layout_find(&x->layout, &x->w, EX_EARLY_BYTES);
        VP_TRY(over);
        if (!over && x->layout.any_event)
            return 0;
    }
    return walk_decide_layout(x);
}

int xj_walk_ready(xj_walk *x)
{
    if (!x->decided && !x->waited) {
        x->waited = true;
        return 0;
    }
    VP_TRY(x->decided ? 0 : walk_decide_layout(x));
    return 1;
}

void xj_walk_free(xj_walk *x)
{
    walk_unload_plane(x);
    xj_flows_free(&x->flows);
    xj_layout_free(&x->layout);
    xw_free(&x->w);
    vp_buf_free(&x->out);
    rd_source_close(x->source);
}

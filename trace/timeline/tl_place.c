#include "trace/timeline/tl_place.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/timeline/tl_index.h"

/* True if the lane can take an event: it is inside the innermost open one. An event without a
 * duration at the end of another is after it. */
static bool lane_takes(tl_lane *l, int64_t start_ps, int64_t end_ps)
{
    while (l->depth && l->levels[l->depth - 1].end_ps <= start_ps)
        l->depth--;
    return l->depth < TL_DEPTH_MAX && (!l->depth || end_ps <= l->levels[l->depth - 1].end_ps);
}

static int places_add_row(tl_places *p, uint32_t lane, uint32_t depth, bool overlaps, uint32_t *row)
{
    VP_TRY(vp_grow(&p->rows, &p->row_cap, p->row_count + 1, sizeof *p->rows, TL_ROWS_MAX));
    *row = (uint32_t)p->row_count;
    p->rows[p->row_count++] = (tl_spot){lane, depth, overlaps, 0};
    return 0;
}

/* The row of a lane's next level; UINT32_MAX if the track has the maximum. One row is reserved for
 * events that fit no lane. */
static int next_lane_row(tl_places *p, uint32_t lane, uint32_t *row)
{
    tl_lane *l = &p->lanes[lane];
    VP_TRY(vp_grow(&l->levels, &l->cap, l->depth + 1, sizeof *l->levels, TL_DEPTH_MAX));
    *row = UINT32_MAX;
    if (l->depth < l->known)
        *row = l->levels[l->depth].row;
    else if (p->row_count + 1 < TL_ROWS_MAX)
        VP_TRY(places_add_row(p, lane, (uint32_t)l->depth, false, row));
    return 0;
}

static int add_lane(tl_places *p)
{
    size_t had = p->lane_cap;
    VP_TRY(vp_grow(&p->lanes, &p->lane_cap, p->lane_count + 1, sizeof *p->lanes, TL_LANES_MAX));
    for (size_t i = had; i < p->lane_cap; i++)
        p->lanes[i] = (tl_lane){0};
    p->lane_count++;
    return 0;
}

static int place_in_rest_row(tl_places *p, uint32_t *row)
{
    if (!p->rest)
        VP_TRY(places_add_row(p, TL_LANES_MAX, 0, true, &p->rest));
    *row = p->rest;
    p->rows[p->rest].count++;
    return 0;
}

int tl_place(tl_places *p, int64_t start_ps, int64_t end_ps, uint32_t *row)
{
    size_t lane = 0;
    while (lane < p->lane_count && !lane_takes(&p->lanes[lane], start_ps, end_ps))
        lane++;
    if (lane == TL_LANES_MAX)
        return place_in_rest_row(p, row);
    if (lane == p->lane_count)
        VP_TRY(add_lane(p));
    VP_TRY(next_lane_row(p, (uint32_t)lane, row));
    if (*row == UINT32_MAX)
        return place_in_rest_row(p, row);
    tl_lane *l = &p->lanes[lane];
    l->levels[l->depth++] = (tl_level){end_ps, *row};
    l->known = l->known > l->depth ? l->known : l->depth;
    p->rows[*row].count++;
    return 0;
}

void tl_places_clear(tl_places *p)
{
    for (size_t i = 0; i < p->lane_count; i++)
        p->lanes[i].depth = p->lanes[i].known = 0;
    p->lane_count = p->row_count = 0;
    p->rest = 0;
}

void tl_places_free(tl_places *p)
{
    for (size_t i = 0; i < p->lane_cap; i++)
        vp_free(p->lanes[i].levels);
    vp_free(p->lanes);
    vp_free(p->rows);
}

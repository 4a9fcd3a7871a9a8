/* What the analysis knows of launches (trace/links), for the events of a Kineto file: arguments of
 * device ops, and arrows from launches in files without any. */
#include "trace/base/err.h"
#include "trace/export/json/json_plan.h"
#include "trace/export/shared/added.h"
#include "trace/model/catalog/catalog.h"
#include "trace/read/json/json_reader.h"

/* Beyond ids that the plan gives: jp_own_id. */
#define FLOW_BASE (INT64_C(1) << 53)

/* The analysis is waited for at the first event that it may say something of. */
static int links_make(json_plan *p)
{
    ex_pick *pick = p->pick;
    p->links_asked = true;
    if (!pick || !pick->added || pick->most || !pick->file || pick->file->kind.format != RD_KINETO)
        return 0;
    VP_TRY(ex_added_make(pick->added));
    p->links =
        pick->added->tracks && pick->added->tracks->launched_count ? pick->added->tracks : NULL;
    return 0;
}

/* The event's start in the analyzed trace. */
static bool analyzed_start(int64_t *ps, const json_plan *p, const jp_event *e)
{
    return !__builtin_mul_overflow(p->base_us, 1000, ps) &&
           !__builtin_sub_overflow(*ps, p->links->file_origin_ns, ps) &&
           !__builtin_mul_overflow(*ps, 1000, ps) && !__builtin_add_overflow(*ps, e->start_ps, ps);
}

int jp_links_of(jp_links *out, json_plan *p, const jp_event *e)
{
    vp_str cat = jp_unquoted(jp_text(e, EX_CAT));
    bool is_op = cj_gpu_cat_of(cat) != CJ_GPU_NONE;
    int64_t id, start;
    *out = (jp_links){0};
    if (e->phase != 'X' || !(is_op || cj_caller_of(cat) == CJ_LAUNCH))
        return 0;
    if (!p->links_asked)
        VP_TRY(links_make(p));
    if (!p->links || !vp_str_to_i64(jp_unquoted(jp_arg(e, VP_STR("correlation"))), &id) ||
        !analyzed_start(&start, p, e))
        return 0;
    uint32_t launch = VP_MAP_NONE;
    if (is_op) {
        const derived_launched *of = derived_op_launched(p->links, id, start);
        launch = of ? of->launch : launch;
        out->place = of && of->place != DERIVED_NO_PLACE ? &p->links->places[of->place] : NULL;
    } else {
        launch = derived_launch_number(p->links, id, start);
    }
    if (launch != VP_MAP_NONE && !p->has_flows && !ex_pick_limits(p->pick)) {
        out->flow = FLOW_BASE + launch;
        out->flow_in = is_op;
    }
    return 0;
}

size_t jp_place_args(jp_place_arg out[JP_PLACE_ARGS], const json_plan *p, const jp_event *e,
                     const derived_place *place)
{
    const jp_place_arg all[JP_PLACE_ARGS] = {
        {"operator", derived_text(p->links, place->inner)},
        {"outermost_operator", derived_text(p->links, place->outer)},
        {"module", derived_text(p->links, place->module)},
        {"source", derived_text(p->links, place->source)}};
    size_t n = 0;
    for (size_t i = 0; i < JP_PLACE_ARGS; i++)
        if (all[i].text.n && !jp_arg(e, vp_str_of(all[i].key)).n)
            out[n++] = all[i];
    return n;
}

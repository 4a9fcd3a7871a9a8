/* The first pass over a Trace Event JSON, and the resulting plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/json/json_plan.h"
#include "trace/export/shared/stream_out.h"
#include "trace/export/shared/times.h"

#define TIME_MODULUS_US (EX_TIME_MODULUS_NS / 1000)

static int add_edge(json_plan *p, const jp_event *e)
{
    jp_edge edge = {.ns = e->start_ns,
                    .thread = e->thread,
                    .event = e->number,
                    .mark = {jp_mark_of(p, jp_text(e, EX_NAME)), jp_mark_of(p, jp_text(e, EX_CAT))},
                    .is_end = e->phase == 'E',
                    .has_args = jp_text(e, EX_ARGS).n > 2};
    VP_TRY(vp_grow(&p->edges, &p->edge_cap, p->edge_count + 1, sizeof edge, VP_EVENTS_MAX));
    p->edges[p->edge_count++] = edge;
    return 0;
}

static int plan_put_flow(json_plan *p, jp_flow flow)
{
    VP_TRY(vp_grow(&p->flows, &p->flow_cap, p->flow_count + 1, sizeof flow, VP_EVENTS_MAX));
    p->flows[p->flow_count++] = flow;
    return 0;
}

static int add_flow(json_plan *p, const jp_event *e)
{
    bool odd;
    jp_flow flow = {.ns = e->start_ns,
                    .key = jp_flow_key(p, e, &odd),
                    .thread = e->thread,
                    .event = e->number,
                    .phase = e->phase};
    flow.odd = odd;
    flow.next = e->phase == 'f' && !vp_str_eq(jp_text(e, EX_BP), VP_STR("\"e\""));
    return plan_put_flow(p, flow);
}

/* A slice that ends one flow and begins another has one id for both. */
static int add_bound(json_plan *p, const jp_event *e)
{
    vp_str id = jp_text(e, EX_BIND);
    bool odd, in = vp_str_eq(jp_text(e, EX_FLOW_IN), VP_STR("true"));
    bool out = vp_str_eq(jp_text(e, EX_FLOW_OUT), VP_STR("true"));
    if (!id.n || e->thread == JP_NONE || !(in || out))
        return 0;
    jp_flow flow = {.ns = e->start_ns,
                    .key = jp_flow_key(p, e, &odd),
                    .thread = e->thread,
                    .event = e->number,
                    .phase = !in   ? 's'
                             : out ? 't'
                                   : 'f',
                    .on_slice = true};
    flow.odd = odd;
    return plan_put_flow(p, flow);
}

static int add_names(json_plan *p, const jp_event *e)
{
    vp_str what = jp_text(e, EX_NAME);
    if (e->thread == JP_NONE)
        return 0;
    jp_thread *t = &p->threads[e->thread];
    if (vp_str_eq(what, VP_STR("\"thread_name\"")))
        return vp_intern_put(&p->texts, jp_arg(e, VP_STR("name")), &t->name);
    if (vp_str_eq(what, VP_STR("\"thread_sort_index\"")))
        return vp_intern_put(&p->texts, jp_arg(e, VP_STR("sort_index")), &t->sort);
    jp_process *pr = &p->processes[t->process];
    if (vp_str_eq(what, VP_STR("\"process_sort_index\"")))
        return vp_intern_put(&p->texts, jp_arg(e, VP_STR("sort_index")), &pr->sort);
    if (vp_str_eq(what, VP_STR("\"process_labels\"")))
        return vp_intern_put(&p->texts, jp_arg(e, VP_STR("labels")), &pr->label);
    if (!vp_str_eq(what, VP_STR("\"process_name\"")))
        return 0;
    pr->named = true;
    return vp_intern_put(&p->texts, jp_arg(e, VP_STR("name")), &pr->name);
}

/* Updates the file's range and threads from an event. */
static void note_event(json_plan *p, const jp_event *e)
{
    jp_thread *t = e->thread == JP_NONE ? NULL : &p->threads[e->thread];
    if (e->timed && jp_needs_time(e->phase) && e->start_ns < p->least_ns)
        p->least_ns = e->start_ns;
    if (e->timed && e->end_ns > p->last_ns)
        p->last_ns = e->end_ns;
    if (t && e->phase != 'M') {
        p->processes[t->process].needed = true;
        t->needed = t->needed || (jp_on_thread(e->phase) && !jp_is_of(e->phase, JP_FLOWS));
    }
}

static int plan_take_event(json_plan *p, const jp_event *e)
{
    note_event(p, e);
    switch (e->phase) {
    case 'i':
    case 'I':
    case 'R':
        return jp_count_moment(p, e->number);
    case 'X':
        VP_TRY(add_bound(p, e));
        VP_TRY(ex_pick_count(p->pick, e->end_ns - e->start_ns));
        return ex_spans_add(&p->threads[e->thread].spans, e->start_ns, e->end_ns, e->number);
    case 'B':
        VP_TRY(add_bound(p, e));
        return add_edge(p, e);
    case 'E':
        return add_edge(p, e);
    case 's':
    case 't':
    case 'f':
        return add_flow(p, e);
    case 'b':
    case 'e':
    case 'n':
        return jp_add_async(p, e);
    case 'M':
        return add_names(p, e);
    default:
        return 0;
    }
}

static int survey_event(void *ctx, vp_buf *out, vp_str text, int64_t at, const ex_fields *f)
{
    json_plan *p = ctx;
    jp_event e;
    (void)out;
    int kept = jp_look(p, text, at, f, &e);
    VP_TRY(kept);
    if (kept == EX_KEPT)
        VP_TRY(plan_take_event(p, &e));
    return EX_EMPTY;
}

ex_editor jp_survey(json_plan *p)
{
    return (ex_editor){.event = survey_event, .glance = true, .ctx = p};
}

static void set_text(char text[12], uint8_t *n, uint32_t value)
{
    *n = (uint8_t)snprintf(text, 12, "%u", value);
}

/* Processes keep their numbers in the file; invalid ones get the smallest free number. */
static int number_processes(json_plan *p)
{
    VP_CLEANUP(vp_map_free) vp_map taken;
    uint32_t next = 1;
    vp_map_init(&taken);
    for (size_t i = 0; i < p->process_count; i++)
        if (p->processes[i].known)
            VP_TRY(vp_map_set(&taken, p->processes[i].pid, 0));
    for (size_t i = 0; i < p->process_count; i++) {
        jp_process *pr = &p->processes[i];
        while (!pr->known && vp_map_get(&taken, next) != VP_MAP_NONE)
            next++;
        if (!pr->known)
            pr->pid = next++;
        set_text(pr->text, &pr->text_n, pr->pid);
    }
    return 0;
}

static int number_threads(json_plan *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        jp_thread *t = &p->threads[i];
        if (!t->known)
            VP_TRY(jp_new_tid(p, t->process, &t->tid));
        set_text(t->text, &t->text_n, t->tid);
    }
    return 0;
}

/* Lanes 1, 2, … of a thread get separate numbers. */
static int number_siblings(json_plan *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        jp_thread *t = &p->threads[i];
        t->sibling = (uint32_t)p->sibling_count;
        for (uint32_t lane = 1; lane < t->lanes; lane++) {
            VP_TRY(vp_grow(&p->siblings, &p->sibling_cap, p->sibling_count + 1, sizeof *p->siblings,
                           VP_TRACKS_MAX));
            VP_TRY(jp_new_tid(p, t->process, &p->siblings[p->sibling_count]));
            p->sibling_count++;
        }
    }
    return 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static void choose_time_shift(json_plan *p)
{
    if (p->least_ns == INT64_MAX)
        return;
    int64_t least_us = p->base_us + floor_div(p->least_ns, 1000);
    p->delta_ns = (p->base_us - floor_div(least_us, TIME_MODULUS_US) * TIME_MODULUS_US) * 1000;
}

static int by_event(const void *a, const void *b)
{
    const jp_change *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int plan_lay_out_threads(json_plan *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        jp_thread *t = &p->threads[i];
        t->first_move = p->moves.count;
        VP_TRY(ex_spans_place(&t->spans, &p->moves, &t->lanes));
        t->move_count = p->moves.count - t->first_move;
    }
    return number_siblings(p);
}

/* A span that does not fit lane 0, and its end. */
static int change_moved(json_plan *p, const jp_thread *t, const ex_move *m)
{
    uint32_t end = jp_end_of(p, m->id);
    bool async = m->lane == EX_LANE_ASYNC;
    int64_t to =
        async ? jp_own_id(m->id) : (int64_t)(t - p->threads) << 32 | jp_lane_tid(p, t, m->lane);
    jp_change_kind kind = !async ? JP_THREAD : end == JP_NONE ? JP_ASYNC : JP_HALF;
    VP_TRY(jp_change_put(p, m->id, kind, to));
    return end == JP_NONE ? 0 : jp_change_put(p, end, kind, to);
}

static int change_all_moved(json_plan *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        const jp_thread *t = &p->threads[i];
        for (size_t k = 0; k < t->move_count; k++)
            VP_TRY(change_moved(p, t, &p->moves.list[t->first_move + k]));
    }
    return 0;
}

int jp_plan(json_plan *p)
{
    choose_time_shift(p);
    VP_TRY(number_processes(p));
    VP_TRY(number_threads(p));
    VP_TRY(jp_pair_async(p));
    VP_TRY(jp_pair_edges(p));
    VP_TRY(jp_decide(p));
    VP_TRY(plan_lay_out_threads(p));
    VP_TRY(jp_bind_flows(p));
    VP_TRY(change_all_moved(p));
    VP_TRY(jp_drop_pairs(p));
    VP_TRY(p->scratch.status);
    for (size_t i = 0; i < p->thread_count && !p->keep_spans; i++)
        ex_spans_free(&p->threads[i].spans);
    if (p->change_count)
        qsort(p->changes, p->change_count, sizeof *p->changes, by_event);
    p->planned = true;
    return 0;
}

int jp_make_rest(json_plan *p)
{
    if (!p->first)
        return 0;
    VP_TRY(ex_json_run(p->first, INT64_MAX));
    if (!p->place_count && p->first->damage.code)
        return vp_fail_copy(&p->first->damage);
    rd_stream_close(&p->first);
    return jp_plan(p);
}

int jp_make(json_plan *p, const ex_input *in)
{
    rd_stream *s;
    ex_editor editor = jp_survey(p);
    VP_TRY(in->open(in->ctx, &s));
    VP_TRY(ex_json_edited(&p->first, s, &editor));
    if (p->pick && p->pick->early) {
        int over = ex_json_run(p->first, EX_EARLY_BYTES);
        VP_TRY(over);
        if (!over && p->place_count)
            return 0;
    }
    return jp_make_rest(p);
}

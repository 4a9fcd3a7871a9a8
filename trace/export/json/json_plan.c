#include "trace/export/json/json_plan.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/added.h"
#include "trace/export/shared/times.h"
#include "trace/read/json/json_scan.h"
#include "trace/read/json/json_text.h"

int jp_init(json_plan *p)
{
    *p = (json_plan){.last_thread = JP_NONE, .least_ns = INT64_MAX, .all_zero = true};
    vp_arena_init(&p->arena);
    vp_map_init(&p->process_at);
    vp_map_init(&p->thread_at);
    vp_map_init(&p->taken);
    vp_buf_init(&p->scratch, JS_UTF8_MAX((size_t)VP_JSON_EVENT_MAX));
    return vp_intern_init(&p->texts, &p->arena);
}

void jp_free(json_plan *p)
{
    rd_stream_close(&p->first);
    ex_pick_forget(p->pick);
    for (size_t i = 0; i < p->thread_count; i++)
        ex_spans_free(&p->threads[i].spans);
    vp_intern_free(&p->texts);
    vp_map_free(&p->process_at);
    vp_map_free(&p->thread_at);
    vp_map_free(&p->taken);
    vp_free(p->places);
    vp_free(p->processes);
    vp_free(p->threads);
    vp_free(p->siblings);
    vp_free(p->edges);
    vp_free(p->pairs);
    vp_free(p->flows);
    vp_free(p->halves);
    vp_free(p->moments);
    vp_buf_free(&p->scratch);
    vp_free(p->moves.list);
    vp_free(p->changes);
    vp_arena_free(&p->arena);
}

int jp_change_put(json_plan *p, uint32_t event, jp_change_kind kind, int64_t value)
{
    VP_TRY(vp_grow(&p->changes, &p->change_cap, p->change_count + 1, sizeof *p->changes,
                   VP_EVENTS_MAX));
    p->changes[p->change_count++] = (jp_change){event, kind, value};
    return 0;
}

int jp_new_tid(json_plan *p, uint32_t process, uint32_t *tid)
{
    jp_process *of = &p->processes[process];
    uint32_t next = of->next_tid ? of->next_tid : 1;
    while (next == of->pid || vp_map_get(&p->taken, (uint64_t)process << 32 | next) != VP_MAP_NONE)
        next++;
    of->next_tid = next + 1;
    *tid = next;
    return vp_map_set(&p->taken, (uint64_t)process << 32 | next, 0);
}

/* The key of a pid or tid: the number that the importer uses, or the text if it is not a 32-bit
 * number. */
static vp_str id_as_number_text(vp_str raw, char number[24], bool *known, uint32_t *value)
{
    vp_str bare = raw;
    int64_t id;
    *known = false;
    if (!raw.n)
        bare = VP_STR("0");
    if (*bare.p == '"')
        return raw;
    if (!js_to_id(bare, &id)) {
        if (*bare.p == '-' || (*bare.p >= '0' && *bare.p <= '9'))
            return raw; /* beyond 64 bits */
        id = 0;         /* null and its like */
    }
    *known = id >= 0 && id <= UINT32_MAX;
    *value = *known ? (uint32_t)id : 0;
    return (vp_str){number, (size_t)snprintf(number, 24, "%lld", (long long)id)};
}

static int plan_process_of(json_plan *p, vp_str raw, uint32_t *out)
{
    char number[24];
    bool known;
    uint32_t pid = 0;
    vp_sid sid;
    VP_TRY(vp_intern_put(&p->texts, id_as_number_text(raw, number, &known, &pid), &sid));
    *out = vp_map_get(&p->process_at, sid);
    if (*out != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_grow(&p->processes, &p->process_cap, p->process_count + 1, sizeof *p->processes,
                   VP_PROCESSES_MAX));
    *out = (uint32_t)p->process_count;
    p->processes[p->process_count++] = (jp_process){.raw = sid, .pid = pid, .known = known};
    return vp_map_set(&p->process_at, sid, *out);
}

/* The thread of raw texts that differ from those of the previous event. */
static int find_thread(json_plan *p, vp_str raw_pid, vp_str raw_tid, uint32_t *out)
{
    char number[24];
    uint32_t process, tid = 0;
    jp_thread t = {0};
    VP_TRY(plan_process_of(p, raw_pid, &process));
    vp_str text = id_as_number_text(raw_tid, number, &t.known, &tid);
    VP_TRY(vp_intern_put(&p->texts, text, &t.raw));
    uint64_t key = (uint64_t)process << 32 | t.raw;
    *out = vp_map_get(&p->thread_at, key);
    if (*out != VP_MAP_NONE)
        return 0;
    t.known = t.known && tid; /* the importer uses 0 as the pid */
    t.process = process;
    t.tid = tid;
    if (t.known)
        VP_TRY(vp_map_set(&p->taken, (uint64_t)process << 32 | tid, 0));
    VP_TRY(vp_grow(&p->threads, &p->thread_cap, p->thread_count + 1, sizeof t, VP_TRACKS_MAX));
    *out = (uint32_t)p->thread_count;
    p->threads[p->thread_count++] = t;
    return vp_map_set(&p->thread_at, key, *out);
}

static int thread_of(json_plan *p, vp_str pid, vp_str tid, uint32_t *out)
{
    *out = p->last_thread;
    if (*out != JP_NONE && vp_str_eq(vp_intern_get(&p->texts, p->last_tid), tid) &&
        vp_str_eq(vp_intern_get(&p->texts, p->last_pid), pid))
        return 0;
    VP_TRY(find_thread(p, pid, tid, out));
    VP_TRY(vp_intern_put(&p->texts, pid, &p->last_pid));
    VP_TRY(vp_intern_put(&p->texts, tid, &p->last_tid));
    p->last_thread = *out;
    return 0;
}

/* The base is the first event with a valid time: metadata may be at 0 while other times count from
 * 1970. */
static bool take_base(json_plan *p, const jp_event *e, vp_str ts)
{
    if (jp_needs_time(e->phase))
        p->has_base = p->has_base || js_time_base(ts, &p->base_us);
    return p->has_base;
}

static bool plan_take_start(json_plan *p, vp_str ts, int64_t *start)
{
    return js_us_to_ps(ts, p->base_us, start) && *start >= -VP_TIME_MAX_PS &&
           *start <= VP_TIME_MAX_PS;
}

/* Frees the data of the first pass about events. */
static void forget_events(json_plan *p)
{
    for (size_t i = 0; i < p->thread_count; i++) {
        ex_spans_free(&p->threads[i].spans);
        p->threads[i].needed = false;
    }
    for (size_t i = 0; i < p->process_count; i++)
        p->processes[i].needed = false;
    p->edge_count = p->flow_count = p->half_count = p->moment_count = 0;
    p->least_ns = INT64_MAX;
    p->last_ns = 0;
    p->all_zero = false;
    if (p->pick)
        p->pick->full = p->pick->cut = false;
    ex_pick_forget(p->pick);
}

/* A time that is too far from all others, which are 0: those are invalid, and refused in the second
 * pass. */
static bool plan_restart_base(json_plan *p, const jp_event *e, vp_str ts)
{
    int64_t base_us;
    if (p->planned || p->base_us || !p->all_zero || !jp_needs_time(e->phase) ||
        !js_time_base(ts, &base_us) || !base_us)
        return false;
    p->base_us = base_us;
    forget_events(p);
    return true;
}

/* Start and end in whole ns; a duration is their difference, so that events that touch still do.
 * false: a complete event with an invalid duration. */
static bool plan_take_times(json_plan *p, jp_event *e)
{
    vp_str ts = jp_unquoted(jp_text(e, EX_TS)), dur = jp_unquoted(jp_text(e, EX_DUR));
    int64_t start, length = 0;
    e->timed = ts.n && take_base(p, e, ts) &&
               (plan_take_start(p, ts, &start) ||
                (plan_restart_base(p, e, ts) && plan_take_start(p, ts, &start)));
    if (!e->timed)
        return true;
    p->all_zero = p->all_zero && (!start || !jp_needs_time(e->phase));
    e->start_ps = start;
    e->start_ns = e->end_ns = ex_round_ns(start);
    if (e->phase != 'X' || !dur.n)
        return true;
    if (e->f->bad_dur || !js_us_to_ps(dur, 0, &length) || length > VP_TIME_MAX_PS - start)
        return false;
    e->length_ps = length > 0 ? length : 0;
    e->end_ns = ex_round_ns(start + e->length_ps);
    return true;
}

/* The text of a member of an object; "" if missing. */
static vp_str json_member_text(vp_str object, vp_str key)
{
    vp_str name;
    js_value v;
    if (!object.n || *object.p != '{')
        return VP_STR("");
    const char *p = object.p + 1, *end = object.p + object.n;
    while (js_next_member(&p, end, js_skip_best(), &name, &v) == JS_MEMBER)
        if (vp_str_eq(name, key))
            return v.type == JS_STRING ? (vp_str){v.s.p - 1, v.s.n + 2} : v.s;
    return VP_STR("");
}

vp_str jp_arg(const jp_event *e, vp_str key)
{
    return json_member_text(jp_text(e, EX_ARGS), key);
}

vp_str jp_async_id(const jp_event *e, jp_scope *scope)
{
    vp_str id = jp_text(e, EX_ID), id2 = jp_text(e, EX_ID2);
    *scope = JP_BY_ID;
    if (id.n)
        return id;
    id = json_member_text(id2, VP_STR("local"));
    *scope = id.n ? JP_OF_PROCESS : JP_OF_ALL;
    return id.n ? id : json_member_text(id2, VP_STR("global"));
}

bool jp_is_number(js_value v)
{
    int64_t n;
    bool plus = v.type == JS_STRING && v.s.n > 1 && *v.s.p == '+';
    return v.type != JS_NESTED && v.type != JS_NONE && js_about(vp_str_skip(v.s, plus), &n);
}

/* True if a counter has a value: a number, also in quotes
 * (docs/reference/perfetto.md#event-fields). */
static bool is_counter_value(const jp_event *e)
{
    vp_str args = jp_text(e, EX_ARGS), name;
    js_value v;
    if (!args.n || *args.p != '{')
        return false;
    const char *p = args.p + 1, *end = args.p + args.n;
    while (js_next_member(&p, end, js_skip_best(), &name, &v) == JS_MEMBER)
        if (jp_is_number(v))
            return true;
    return false;
}

/* The importer refuses metadata with empty names. */
static bool says_something(const jp_event *e)
{
    vp_str name = jp_text(e, EX_NAME);
    if (!vp_str_eq(name, VP_STR("\"process_name\"")) && !vp_str_eq(name, VP_STR("\"thread_name\"")))
        return true;
    vp_str value = jp_arg(e, VP_STR("name"));
    return value.n > 2 && *value.p == '"';
}

static bool is_missing_id(vp_str id)
{
    return !id.n || vp_str_eq(id, VP_STR("null"));
}

/* Events that the importer would count as errors (docs/reference/perfetto.md#event-fields). */
static bool is_useless(const jp_event *e)
{
    jp_scope scope;
    switch (e->phase) {
    case 0:
        return true;
    case 'C':
        return !is_counter_value(e);
    case 'b':
    case 'n':
    case 'e':
        return is_missing_id(jp_async_id(e, &scope)) || !jp_text(e, EX_PID).n;
    case 's':
    case 't':
    case 'f':
        return is_missing_id(jp_text(e, EX_ID));
    default:
        return false;
    }
}

/* The event's number: the next in the first pass, and that of its position in the second. */
static int plan_event_number(json_plan *p, int64_t at, uint32_t *number)
{
    uint32_t place = (uint32_t)(uint64_t)at;
    *number = JP_NONE;
    if (!p->planned) {
        *number = (uint32_t)p->place_count;
        VP_TRY(vp_grow(&p->places, &p->place_cap, p->place_count + 1, sizeof place, VP_EVENTS_MAX));
        p->places[p->place_count++] = place;
        return 0;
    }
    while (p->cursor < p->place_count && (int32_t)(p->places[p->cursor] - place) < 0)
        p->cursor++;
    if (p->cursor < p->place_count && p->places[p->cursor] == place)
        *number = (uint32_t)p->cursor;
    return 0;
}

int jp_look(json_plan *p, vp_str text, int64_t at, const ex_fields *f, jp_event *e)
{
    *e = (jp_event){.text = text.p, .n = text.n, .f = f, .thread = JP_NONE};
    VP_TRY(plan_event_number(p, at, &e->number));
    vp_str phase = jp_text(e, EX_PH);
    e->phase = phase.n > 2 && *phase.p == '"' ? phase.p[1] : 0;
    if (!plan_take_times(p, e) || (!e->timed && jp_needs_time(e->phase)) || is_useless(e))
        return EX_USELESS;
    if (e->phase == 'M' && !says_something(e))
        return EX_EMPTY;
    if (jp_on_thread(e->phase) || jp_text(e, EX_PID).n || jp_text(e, EX_TID).n)
        VP_TRY(thread_of(p, jp_text(e, EX_PID), jp_text(e, EX_TID), &e->thread));
    return EX_KEPT;
}

int jp_added(struct ex_added **added, const json_plan *p)
{
    int64_t base_ns, shift_ns;
    *added = p->pick ? p->pick->added : NULL;
    if (!*added || __builtin_mul_overflow(p->base_us, 1000, &base_ns) ||
        __builtin_sub_overflow(p->delta_ns, base_ns, &shift_ns))
        return 0;
    VP_CLEANUP(vp_free_ptr)
    uint32_t *pids = vp_realloc_array(NULL, p->process_count + 1, sizeof *pids);
    VP_NEED(pids);
    for (size_t i = 0; i < p->process_count; i++)
        pids[i] = p->processes[i].pid;
    return ex_added_begin(*added, p->pick, pids, p->process_count, shift_ns);
}

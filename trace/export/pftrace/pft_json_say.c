/* The content of an event of Trace Event JSON in a .pftrace: its name and category, typed
 * arguments, flows, and the remainder of its times below 1 ns. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/export/pftrace/pft_json.h"
#include "trace/export/shared/times.h"
#include "trace/read/json/json_scan.h"
#include "trace/read/json/json_text.h"

static int say_event_name(pft_json *x, const jp_event *e)
{
    vp_str name = jp_unquoted(jp_text(e, EX_NAME));
    uint64_t number;
    if (!name.n && e->phase == 'e') /* it ends the innermost slice */
        return 0;
    if (!name.n)
        name = VP_STR("[No name]"); /* as the importer of JSON does */
    int known = pft_table_put(&x->table, PFT_EVENT_NAME, name, &number);
    if (known > 0)
        pft_event_name(&x->writer, number);
    else if (!known)
        pft_event_text(&x->writer, pft_plain(&x->scratch, name));
    return known;
}

static int put_category(pft_json *x, const jp_event *e)
{
    vp_str cat = jp_unquoted(jp_text(e, EX_CAT));
    uint64_t number;
    if (!cat.n)
        return 0;
    int known = pft_table_put(&x->table, PFT_CATEGORY, cat, &number);
    if (known > 0)
        pft_category(&x->writer, number);
    else if (!known)
        pft_category_text(&x->writer, pft_plain(&x->scratch, cat));
    return known;
}

/* ---- Arguments ------------------------------------------------------------------------------ */

/* A number; values that exceed an integer become a double, as in the importer of JSON. */
static void say_number_arg(pft_writer *w, uint64_t name, vp_str text)
{
    const char *p = text.p, *end = text.p + text.n;
    bool negative = *text.p == '-';
    vp_str digits = vp_str_skip(text, negative);
    uint64_t u, bits;
    int64_t i;
    if (js_take_int(&p, end + 1, &i) && p == end) { /* a comma or bracket follows */
        pft_arg_int(w, name, i);
    } else if (vp_take_uint(&digits, negative ? INT64_MAX : UINT64_MAX, &u) && !digits.n) {
        if (negative)
            pft_arg_int(w, name, -(int64_t)u);
        else
            pft_arg_uint(w, name, u);
    } else {
        double d = strtod(text.p, NULL);
        memcpy(&bits, &d, sizeof bits);
        pft_arg_double(w, name, bits);
    }
}

static int say_text_arg(pft_json *x, uint64_t name, vp_str text)
{
    uint64_t number;
    int known = pft_table_put(&x->table, PFT_ARG_TEXT, text, &number);
    if (known > 0)
        pft_arg_known(&x->writer, name, number);
    else if (!known)
        pft_arg_text(&x->writer, name, pft_plain(&x->scratch, text));
    return known;
}

static int say_arg_value(pft_json *x, uint64_t name, js_value v)
{
    pft_writer *w = &x->writer;
    if (v.type == JS_STRING)
        return say_text_arg(x, name, v.s);
    if (v.type == JS_NESTED)
        pft_arg_json(w, name, v.s);
    else if (*v.s.p == 'n') /* v52 fails on a null that is not part of a container */
        pft_arg_text(w, name, v.s);
    else if (*v.s.p == 't' || *v.s.p == 'f')
        pft_arg_bool(w, name, *v.s.p == 't');
    else
        say_number_arg(w, name, v.s);
    return 0;
}

/* 1; 0: a name is not in the table; < 0. */
static int put_members(pft_json *x, vp_str args)
{
    const char *p = args.p + 1, *end = args.p + args.n;
    js_skip_fn *skipper = js_skip_best();
    vp_str key;
    js_value v;
    uint64_t name;
    unsigned place = 0;
    int known = 1;
    while (known > 0 && js_next_member(&p, end, skipper, &key, &v) == JS_MEMBER) {
        known = pft_table_put_arg(&x->table, place++, key, &name);
        if (known > 0)
            VP_TRY(say_arg_value(x, name, v));
    }
    return known;
}

static int say_event_args(pft_json *x, const jp_event *e)
{
    vp_buf *b = &x->writer.event;
    size_t before = b->n;
    vp_str args = jp_text(e, EX_ARGS);
    if (args.n <= 2 || *args.p != '{')
        return 0;
    int known = put_members(x, args);
    VP_TRY(known);
    if (known || b->status < 0)
        return 0;
    b->n = before;
    pft_arg_json(&x->writer, x->own_args, args);
    return 0;
}

/* What is known of the event's launch. */
static int say_links(pft_json *x, const jp_event *e)
{
    jp_place_arg more[JP_PLACE_ARGS];
    jp_links l;
    VP_TRY(jp_links_of(&l, &x->plan, e));
    if (l.flow && !jp_text(e, EX_BIND).n)
        pft_flow_bound(&x->writer, (uint64_t)l.flow, l.flow_in ? PFT_IN : PFT_OUT);
    size_t n = l.place ? jp_place_args(more, &x->plan, e, l.place) : 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t name;
        x->place.n = 0;
        VP_TRY(vp_json_quote(&x->place, more[i].text));
        int known = pft_table_put(&x->table, PFT_ARG_NAME, vp_str_of(more[i].key), &name);
        if (known > 0)
            VP_TRY(say_text_arg(x, name, jp_unquoted(vp_buf_view(&x->place))));
        VP_TRY(known);
    }
    return 0;
}

/* The format has whole ns. The exact length in ps, and the remainder of the start, become
 * arguments. */
static void say_sub_ns_rest(pft_json *x, const jp_event *e)
{
    int64_t rest = ex_rest_ps(e->start_ps);
    if (e->phase == 'X' && e->length_ps % 1000)
        pft_arg_int(&x->writer, x->own_duration, e->length_ps);
    if (rest)
        pft_arg_int(&x->writer, x->own_start, rest);
}

int pft_json_own_names(pft_json *x)
{
    int rc = pft_table_put(&x->table, PFT_ARG_NAME, VP_STR("args"), &x->own_args);
    if (rc > 0)
        rc = pft_table_put(&x->table, PFT_ARG_NAME, VP_STR("duration_ps"), &x->own_duration);
    if (rc > 0)
        rc = pft_table_put(&x->table, PFT_ARG_NAME, VP_STR("start_rest_ps"), &x->own_start);
    return rc < 0 ? rc : 0;
}

/* ---- Flows ---------------------------------------------------------------------------------- */

/* The id of an event's flow: that of the plan, or the next in the order of events. */
static int flow_number(pft_json *x, const jp_event *e, const jp_change *changes, size_t count,
                       uint64_t *number)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].kind == JP_ID || changes[i].kind == JP_BIND) {
            *number = (uint64_t)changes[i].value;
            return 0;
        }
    }
    bool odd;
    uint64_t key = jp_flow_key(&x->plan, e, &odd);
    uint32_t known = vp_map_get(&x->flows, key);
    if (known == VP_MAP_NONE) {
        known = ++x->flow_count;
        VP_TRY(vp_map_set(&x->flows, key, known));
    }
    *number = known;
    return 0;
}

static int say_event_flows(pft_json *x, const jp_event *e, const jp_change *changes, size_t count)
{
    uint64_t flow;
    if (jp_is_of(e->phase, JP_FLOWS)) {
        VP_TRY(flow_number(x, e, changes, count, &flow));
        pft_flow_point(&x->writer, e->phase, flow,
                       e->phase == 'f' && vp_str_eq(jp_text(e, EX_BP), VP_STR("\"e\"")));
        return 0;
    }
    bool in = vp_str_eq(jp_text(e, EX_FLOW_IN), VP_STR("true"));
    bool out = vp_str_eq(jp_text(e, EX_FLOW_OUT), VP_STR("true"));
    if (!jp_is_of(e->phase, JP_SLICES) || !jp_text(e, EX_BIND).n || !(in || out))
        return 0;
    VP_TRY(flow_number(x, e, changes, count, &flow));
    pft_flow_bound(&x->writer, flow, !out ? PFT_IN : in ? PFT_BOTH : PFT_OUT);
    return 0;
}

int pft_json_say_args(pft_json *x, const jp_event *e)
{
    x->writer.event.n = 0;
    VP_TRY(say_event_args(x, e));
    return x->writer.event.status < 0 ? x->writer.event.status : x->scratch.status;
}

int pft_json_say(pft_json *x, const jp_event *e, const jp_change *changes, size_t count)
{
    pft_writer *w = &x->writer;
    w->event.n = 0;
    if (jp_is_of(e->phase, JP_FLOWS)) /* the flow has a unique name */
        return say_event_flows(x, e, changes, count);
    VP_TRY(say_event_name(x, e));
    VP_TRY(put_category(x, e));
    VP_TRY(say_event_flows(x, e, changes, count));
    VP_TRY(say_event_args(x, e));
    VP_TRY(say_links(x, e));
    say_sub_ns_rest(x, e);
    return w->event.status < 0 ? w->event.status : x->scratch.status;
}

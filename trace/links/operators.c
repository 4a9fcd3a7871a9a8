#include "trace/links/operators.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/links/call_chains.h"
#include "trace/links/launch_list.h"
#include "trace/links/numbered_name.h"
#include "trace/links/user_frames.h"

/* What a chain says, once per chain. */
typedef struct chain_place {
    bool known;
    vp_sid scope, source, inner, outer;
} chain_place;

typedef struct linking {
    trace *t;
    chain_table chains;
    launch_list forward;  /* forward ops by sequence number → chain without the operators */
    launch_list launches; /* launch calls by correlation id → chain */
    chain_place *place;   /* by chain */
    uint8_t *frames;      /* by kind: frame_owner */
    vp_map variants;      /* kind << 32 | chain → kind of that place */
    vp_buf text;
    uint64_t ops;
    uint64_t without_id, without_launch, outside; /* ops without an operator, by reason */
    unsigned flags;                               /* links_flags */
} linking;

static bool is_op_track(const trace_track *k)
{
    return k->role == SINK_ROLE_OPS && k->count;
}

static bool is_host_track(const trace *t, const trace_track *k)
{
    return k->role == SINK_ROLE_PLAIN && k->count &&
           t->processes[k->process].kind == SINK_PROCESS_HOST;
}

/* Whether device ops have correlation ids, and launch calls have. */
static void find_links(const trace *t, bool *ops, bool *calls)
{
    *ops = *calls = false;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        *ops = *ops || (is_op_track(k) && k->attr[SINK_CORRELATION]);
        *calls = *calls || (is_host_track(t, k) && k->attr[SINK_CORRELATION]);
    }
}

static int note(trace *t, const char *text)
{
    return t->sink.quality(
        &t->sink, &(sink_quality){"no-operator", SINK_INFO, vp_str_of(text), -1, -1, false});
}

/* ---- Chains of host events --------------------------------------------------------------------
 */

static uint32_t without_operators(const linking *l, uint32_t node)
{
    const chain_table *c = &l->chains;
    while (node != CHAIN_NONE && c->class_of[c->node[node].kind] == CHAIN_OPERATOR)
        node = c->node[node].parent;
    return node;
}

static int add_forward_ops(linking *l, const trace_track *k)
{
    chain_stack s = {0};
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < k->count; i++) {
        int64_t number = trace_attr(k, SINK_SEQUENCE, i);
        uint32_t node;
        chain_stack_move(&s, trace_start(k, i));
        rc = chain_stack_push(&s, &l->chains, k, i);
        if (rc < 0 || number == SINK_NO_VALUE)
            continue;
        rc = chain_stack_node(&node, &s, &l->chains);
        if (rc >= 0)
            rc =
                launch_list_add(&l->forward, number, trace_start(k, i), without_operators(l, node));
    }
    chain_stack_free(&s);
    return rc;
}

/* The chain of a launch. Within a backward op it continues the chain of the forward op. */
static int chain_of_launch(uint32_t *out, linking *l, chain_stack *s, int64_t start_ps)
{
    for (size_t i = 0; i < s->depth; i++) {
        int64_t number = s->open[i].backward;
        const launch_entry *f =
            number == SINK_NO_VALUE ? NULL : launch_list_find(&l->forward, number, start_ps);
        if (f)
            return chain_stack_graft(out, s, &l->chains, i, f->value);
    }
    return chain_stack_node(out, s, &l->chains);
}

static int add_launches(linking *l, const trace_track *k)
{
    const trace_column *ids = k->attr[SINK_CORRELATION];
    size_t next = trace_column_next(ids, 0);
    chain_stack s = {0};
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < k->count && next != SIZE_MAX; i++) {
        bool is_launch = i == next;
        uint32_t node;
        if (!is_launch && l->chains.class_of[trace_kind_of(k, i)] == CHAIN_OTHER)
            continue;
        int64_t start = trace_start(k, i);
        chain_stack_move(&s, start);
        rc = chain_stack_push(&s, &l->chains, k, i);
        if (rc < 0 || !is_launch)
            continue;
        next = trace_column_next(ids, i + 1);
        rc = chain_of_launch(&node, l, &s, start);
        if (rc >= 0)
            rc =
                launch_list_add(&l->launches, trace_column_get(ids, i, SINK_NO_VALUE), start, node);
    }
    chain_stack_free(&s);
    return rc;
}

static int add_tracks(linking *l, sink_attr attr, int (*add)(linking *, const trace_track *))
{
    for (uint32_t i = 0; i < l->t->track_count; i++) {
        const trace_track *k = &l->t->tracks[i];
        if (is_host_track(l->t, k) && k->attr[attr])
            VP_TRY(add(l, k));
    }
    return 0;
}

/* ---- What a chain says ------------------------------------------------------------------------
 */

/* The engine's wrapper around a backward op, which has the op's name behind it. */
static vp_str operator_name(vp_str name)
{
    static const vp_str wrapper = VP_STR_INIT("autograd::engine::evaluate_function: ");
    return vp_str_starts(name, wrapper) ? vp_str_skip(name, wrapper.n) : name;
}

static int put_component(vp_buf *b, vp_str name)
{
    if (b->n)
        vp_buf_putc(b, '/');
    size_t at = b->n;
    VP_TRY(vp_buf_str(b, name));
    for (char *p = b->p + at; name.n && (p = memchr(p, '/', (size_t)(b->p + b->n - p)));)
        *p = ':';
    return 0;
}

/* The nodes of a chain, outermost first. */
static size_t list_chain(uint32_t *out, size_t max, const chain_table *c, uint32_t node)
{
    size_t n = 0;
    for (; node != CHAIN_NONE && n < max; node = c->node[node].parent)
        out[n++] = node;
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = other;
    }
    return n;
}

static vp_str without_directory(vp_str frame)
{
    size_t slash = vp_str_rfind_char(frame, '/');
    return slash < frame.n ? vp_str_skip(frame, slash + 1) : frame;
}

typedef enum frame_owner { FRAME_UNSEEN, FRAME_OF_LIBRARY, FRAME_OF_USER } frame_owner;

/* A frame is part of many chains, and is looked at once. */
static bool is_user_frame(linking *l, uint32_t kind, vp_str name)
{
    vp_str file, line, function;
    if (l->frames[kind] == FRAME_UNSEEN)
        l->frames[kind] = links_parse_frame(name, &file, &line, &function) && rd_is_user_file(file)
                              ? FRAME_OF_USER
                              : FRAME_OF_LIBRARY;
    return l->frames[kind] == FRAME_OF_USER;
}

#define CHAIN_MAX 2100u /* a forward and a backward chain */

static int read_chain(chain_place *p, linking *l, uint32_t node)
{
    uint32_t chain[CHAIN_MAX];
    trace *t = l->t;
    vp_sid file_of_kernel = 0;
    vp_str frame = VP_STR_NONE, last = VP_STR_NONE, file, line, function;
    size_t n = list_chain(chain, CHAIN_MAX, &l->chains, node);
    l->text.n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = l->chains.node[chain[i]].kind;
        vp_str name = trace_str(t, t->kinds[kind].name);
        switch (l->chains.class_of[kind]) {
        case CHAIN_FRAME:
            if (is_user_frame(l, kind, name))
                frame = name;
            last = name;
            break;
        case CHAIN_ANNOTATION:
            name = links_without_step_number(name);
            if (!vp_str_eq(name, VP_STR("ProfilerStep")))
                VP_TRY(put_component(&l->text, name));
            break;
        case CHAIN_OPERATOR: {
            vp_str op = operator_name(name);
            bool again = p->inner && vp_str_eq(trace_str(t, p->inner), op);
            VP_TRY(vp_intern_put(&t->names, op, &p->inner));
            if (!p->outer)
                p->outer = p->inner;
            if (!again)
                VP_TRY(put_component(&l->text, op));
            file_of_kernel = t->kinds[kind].source;
            break;
        }
        default:
            VP_TRY(put_component(&l->text, name));
        }
    }
    if (!l->text.n && (frame.n || last.n))
        VP_TRY(put_component(&l->text, without_directory(frame.n ? frame : last)));
    if (l->text.n)
        VP_TRY(vp_intern_put(&t->names, vp_buf_view(&l->text), &p->scope));
    p->source = file_of_kernel;
    if (!frame.n || !links_parse_frame(frame, &file, &line, &function))
        return 0;
    l->text.n = 0;
    vp_buf_str(&l->text, file);
    vp_buf_putc(&l->text, ':');
    VP_TRY(vp_buf_str(&l->text, line));
    return vp_intern_put(&t->names, vp_buf_view(&l->text), &p->source);
}

/* ---- Device ops -------------------------------------------------------------------------------
 */

static int place_kind(linking *l, uint32_t kind, uint32_t from, uint32_t node)
{
    chain_place *p = &l->place[node];
    if (!p->known)
        VP_TRY(read_chain(p, l, node));
    p->known = true;
    trace_kind *k = &l->t->kinds[kind];
    k->placed_from = from + 1;
    k->is_linked = true;
    k->op_inner = p->inner;
    k->op_outer = p->outer;
    if (l->flags & LINKS_OPERATORS_ONLY)
        return 0;
    k->scope = k->scope ? k->scope : p->scope;
    k->source = k->source ? k->source : p->source;
    return 0;
}

static int link_op(linking *l, trace_track *k, size_t i)
{
    int64_t id = trace_attr(k, SINK_CORRELATION, i);
    const launch_entry *e =
        id == SINK_NO_VALUE ? NULL : launch_list_find(&l->launches, id, trace_aligned_start(k, i));
    uint32_t kind = trace_kind_of(k, i), placed;
    l->ops++;
    l->without_id += id == SINK_NO_VALUE;
    l->without_launch += id != SINK_NO_VALUE && !e;
    l->outside += e && e->value == CHAIN_NONE;
    if (!e || e->value == CHAIN_NONE)
        return 0;
    int made = trace_variant(l->t, &l->variants, (uint64_t)kind << 32 | e->value, kind, &placed);
    VP_TRY(made);
    if (made)
        VP_TRY(place_kind(l, placed, kind, e->value));
    l->outside += !l->place[e->value].inner;
    return trace_times_set_kind(&k->own, i, placed);
}

/* Profiles of XLA have scopes instead, and no events that could enclose a launch. */
static bool has_operators(const trace *t)
{
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (chain_class_of(t, &t->kinds[i]) != CHAIN_OTHER)
            return true;
    return false;
}

/* How many ops have no operator, and why. */
static int note_without_operator(const linking *l)
{
    const struct {
        uint64_t n;
        const char *why;
    } reasons[] = {{l->outside, "launched outside of operators"},
                   {l->without_launch, "without a launch call in this file"},
                   {l->without_id, "without a correlation id"}};
    uint64_t all = l->outside + l->without_launch + l->without_id;
    char text[320];
    if (!(l->flags & LINKS_NOTES) || !all || !has_operators(l->t))
        return 0;
    int n = snprintf(text, sizeof text, "%llu of %llu device ops have no operator",
                     (unsigned long long)all, (unsigned long long)l->ops);
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (!reasons[i].n)
            continue;
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%llu %s", separator,
                      (unsigned long long)reasons[i].n, reasons[i].why);
        separator = ", ";
    }
    return note(l->t, text);
}

static int link_ops(linking *l)
{
    l->place = vp_calloc(l->chains.count + 1, sizeof *l->place);
    l->frames = vp_calloc((size_t)l->t->kind_count + 1, sizeof *l->frames);
    VP_NEED(l->place && l->frames);
    for (uint32_t t = 0; t < l->t->track_count; t++) {
        trace_track *k = &l->t->tracks[t];
        for (size_t i = 0; is_op_track(k) && i < k->count; i++)
            VP_TRY(link_op(l, k, i));
    }
    return note_without_operator(l);
}

int links_operators(trace *t, unsigned flags)
{
    linking l = {.t = t, .flags = flags};
    bool ops, calls;
    find_links(t, &ops, &calls);
    if (!ops)
        return 0;
    if (!calls && (flags & LINKS_NOTES))
        return note(t, "no launch calls in this file, so the operators of device ops are unknown; "
                       "record CPU activity as well");
    if (!calls)
        return 0;
    launch_list_init(&l.forward);
    launch_list_init(&l.launches);
    vp_map_init(&l.variants);
    vp_buf_init(&l.text, SIZE_MAX / 8);
    int rc = chain_table_init(&l.chains, t, flags & LINKS_OPERATORS_ONLY);
    if (rc >= 0)
        rc = add_tracks(&l, SINK_SEQUENCE, add_forward_ops);
    if (rc >= 0)
        rc = launch_list_finish(&l.forward);
    if (rc >= 0)
        rc = add_tracks(&l, SINK_CORRELATION, add_launches);
    if (rc >= 0)
        rc = launch_list_finish(&l.launches);
    if (rc >= 0)
        rc = link_ops(&l);
    chain_table_free(&l.chains);
    launch_list_free(&l.forward);
    launch_list_free(&l.launches);
    vp_map_free(&l.variants);
    vp_buf_free(&l.text);
    vp_free(l.place);
    vp_free(l.frames);
    return rc;
}

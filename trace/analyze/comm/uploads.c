#include "trace/analyze/comm/uploads.h"

#include <inttypes.h>

#include "trace/analyze/comm/direction.h"
#include "trace/analyze/host/host_kinds.h"
#include "trace/analyze/host/user_kinds.h"
#include "trace/analyze/result/programs.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/human.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/read/semantics/hlo_types.h"

#define NO_KIND UINT32_MAX
#define TEXT_MAX 300u

/* Copies of one place: in a call of a compiled function, in a function of the user. */
typedef struct place {
    uint32_t call, user; /* kinds; NO_KIND */
    int64_t copies, total_ps;
} place;

typedef struct uploads {
    analysis *a;
    const uint8_t *is_copy; /* by kind */
    int64_t *calls;         /* by kind: outermost calls of compiled functions */
    place *v;
    size_t n, cap;
    vp_map by_place;
    user_stack frames;
} uploads;

static int add_copy(uploads *x, uint32_t call, uint32_t user, int64_t ps)
{
    uint64_t key = (uint64_t)call << 32 | user;
    uint32_t at = vp_map_get(&x->by_place, key);
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&x->v, &x->cap, x->n + 1, sizeof *x->v, VP_EVENTS_MAX));
        at = (uint32_t)x->n++;
        x->v[at] = (place){.call = call, .user = user};
        VP_TRY(vp_map_set(&x->by_place, key, at));
    }
    x->v[at].copies++;
    x->v[at].total_ps += ps;
    return 0;
}

/* Outermost copies of a thread, and what is around them. */
static int walk_thread(uploads *x, const trace_track *k)
{
    int64_t reach = INT64_MIN, call_end = INT64_MIN;
    uint32_t call = NO_KIND;
    x->frames.n = 0;
    for (size_t i = 0; i < k->count; i++) {
        uint32_t kind = trace_kind_of(k, i), flags = host_kind_flags(x->a->kinds, kind);
        int64_t start = trace_start(k, i), end = trace_end(k, i);
        user_stack_close(&x->frames, start);
        if (flags & HK_USER) {
            VP_TRY(user_stack_open(&x->frames, kind, end));
        } else if ((flags & HK_CALL) && start >= call_end) {
            call = kind;
            call_end = end;
            x->calls[kind]++;
        } else if (x->is_copy[kind] && start >= reach) {
            reach = end;
            VP_TRY(add_copy(x, start < call_end ? call : NO_KIND, user_stack_top(&x->frames),
                            end - start));
        }
    }
    return 0;
}

/* The place with most time on the threads that copy for the program. Pools of the runtime copy what
 * such a thread gave them, and have no such place. */
static const place *largest_place(const uploads *x)
{
    const place *best = NULL;
    for (size_t i = 0; i < x->n; i++)
        if ((x->v[i].user != NO_KIND || x->v[i].call != NO_KIND) &&
            (!best || x->v[i].total_ps > best->total_ps))
            best = &x->v[i];
    return best;
}

/* "attend" of "PjitFunction(attend)" */
static vp_str called_function(vp_str name)
{
    size_t open = vp_str_find(name, VP_STR("("));
    return open < name.n && name.p[name.n - 1] == ')'
               ? vp_str_skip(vp_str_head(name, name.n - 1), open + 1)
               : VP_STR_NONE;
}

/* ---- The argument ---- */

/* Programs by the time that their ops take on the devices; *largest: the one of this function that
 * takes most, VP_MAP_NONE: none. */
static void time_programs(int64_t *ps, const analysis *a)
{
    for (size_t d = 0; d < a->device_count; d++) {
        const kind_list *l = &a->devices[d].times;
        for (uint32_t i = 0; i < l->n; i++) {
            int64_t id = a->t->kinds[l->kind[i]].program_id;
            uint32_t at = id == SINK_UNKNOWN ? a->t->program_count : trace_find_program(a->t, id);
            if (at < a->t->program_count)
                ps[at] += l->self_ps[i] + 1; /* an op of no time has run, too */
        }
    }
}

static uint32_t program_of_function(const analysis *a, const int64_t *ps, vp_str function)
{
    uint32_t best = VP_MAP_NONE;
    for (uint32_t i = 0; i < a->t->program_count; i++) {
        int64_t id;
        vp_str name = trace_module_name(a->t->programs[i].name, &id);
        if (ps[i] && vp_str_starts(name, VP_STR("jit_")) &&
            vp_str_eq(vp_str_skip(name, 4), function) && (best == VP_MAP_NONE || ps[i] > ps[best]))
            best = i;
    }
    return best;
}

/* Equal for arrays of one type and equal dimensions. */
static uint64_t shape_key(const hlo_program *p, const hlo_shape *s)
{
    return vp_hash(&p->numbers[s->dims], s->rank * sizeof *p->numbers, s->type);
}

static int add_results(vp_map *results, const hlo_program *p)
{
    uint32_t root = p->entry == HLO_NONE ? HLO_NONE : p->computations[p->entry].root;
    if (root == HLO_NONE || p->instrs[root].shape == HLO_NONE)
        return 0;
    const hlo_shape *s = &p->shapes[p->instrs[root].shape];
    if (s->type != HLO_TYPE_TUPLE)
        return vp_map_set(results, shape_key(p, s), 1);
    for (uint32_t i = 0; i < s->leaf_count; i++)
        VP_TRY(vp_map_set(results, shape_key(p, &p->shapes[s->leaves + i]), 1));
    return 0;
}

/* Copies are faster than this, in bytes per us (docs/reference/metrics.md#uploads). */
#define SLOWEST_COPY INT64_C(250)

/* Parameters that are no result of a program of the capture: data of the host, or arrays that were
 * made before. Those that are too small for the time of a copy are no such data. */
typedef struct host_arguments {
    const hlo_instr *largest;
    int64_t count;
} host_arguments;

static host_arguments arguments_of(const hlo_program *p, const vp_map *results, int64_t least)
{
    host_arguments out = {0};
    int64_t most = -1;
    const hlo_computation *c = &p->computations[p->entry];
    for (uint32_t i = c->first; i < c->first + c->count; i++) {
        const hlo_instr *in = &p->instrs[i];
        if (!hlo_has_opcode(in, "parameter") || in->shape == HLO_NONE ||
            p->shapes[in->shape].type == HLO_TYPE_TOKEN ||
            vp_map_get(results, shape_key(p, &p->shapes[in->shape])) != VP_MAP_NONE)
            continue;
        int64_t bytes = hlo_shape_all_bytes(p, in->shape);
        if (bytes < least)
            continue;
        out.largest = bytes > most ? in : out.largest;
        most = bytes > most ? bytes : most;
        out.count++;
    }
    return out;
}

/* "biases f32[48,512,512], 48.0 MiB" */
static int put_argument(const char **out, analysis *a, const hlo_program *p, const hlo_instr *in)
{
    const hlo_shape *s = &p->shapes[in->shape];
    vp_str name = in->op_name.n ? in->op_name : in->name;
    char bytes[VP_HUMAN_BYTES];
    vp_buf b;
    vp_buf_init(&b, TEXT_MAX * 8);
    vp_buf_printf(&b, "%.*s %s[", VP_STR_CUT(name, 60u), hlo_type_name(s->type));
    for (unsigned i = 0; i < s->rank; i++)
        vp_buf_printf(&b, "%s%" PRId64, i ? "," : "", p->numbers[s->dims + i]);
    vp_buf_printf(&b, "], %s", vp_bytes_text(bytes, hlo_shape_all_bytes(p, in->shape)));
    int rc = b.status < 0 ? 0 : host_text(out, a->h, vp_str_head(vp_buf_view(&b), TEXT_MAX));
    vp_buf_free(&b);
    return rc;
}

/* Each call copies so many arguments. If no more can be data of the host, the largest of these is
 * certain. */
static int find_argument(const char **out, analysis *a, vp_str function, int64_t copies_per_call,
                         int64_t least_bytes)
{
    const hlo_program *p = NULL;
    VP_CLEANUP(vp_free_ptr) int64_t *ps = vp_calloc((size_t)a->t->program_count + 1, sizeof *ps);
    VP_NEED(ps);
    time_programs(ps, a);
    uint32_t of = program_of_function(a, ps, function);
    vp_map results;
    vp_map_init(&results);
    int rc = 0;
    for (uint32_t i = 0; of != VP_MAP_NONE && rc >= 0 && i < a->t->program_count; i++) {
        if (ps[i])
            rc = programs_get(&p, a, i);
        if (rc >= 0 && ps[i] && p)
            rc = add_results(&results, p);
    }
    if (rc >= 0 && of != VP_MAP_NONE)
        rc = programs_get(&p, a, of);
    if (rc >= 0 && of != VP_MAP_NONE && p && p->entry != HLO_NONE) {
        host_arguments x = arguments_of(p, &results, least_bytes);
        if (x.largest && x.count <= copies_per_call)
            rc = put_argument(out, a, p, x.largest);
    }
    vp_map_free(&results);
    return rc;
}

static int describe_place(vp_transfer *row, uploads *x)
{
    const place *best = largest_place(x);
    if (!best)
        return 0;
    VP_TRY(user_frame_text(&row->caller, x->a->h, x->a->t, best->user));
    if (best->call == NO_KIND)
        return 0;
    vp_str function = called_function(trace_str(x->a->t, x->a->t->kinds[best->call].name));
    VP_TRY(host_text(&row->function, x->a->h, function));
    int64_t calls = x->calls[best->call];
    if (!calls)
        return 0;
    return find_argument(&row->argument, x->a, function, (best->copies + calls / 2) / calls,
                         row->busy_ps / calls / 1000000 * SLOWEST_COPY);
}

static int find_places(vp_transfer *row, uploads *x)
{
    const trace *t = x->a->t;
    VP_CLEANUP(vp_free_ptr) uint8_t *is_copy = vp_calloc((size_t)t->kind_count + 1, 1);
    x->calls = vp_calloc((size_t)t->kind_count + 1, sizeof *x->calls);
    VP_NEED(is_copy && x->calls);
    for (uint32_t k = 0; k < t->kind_count; k++)
        is_copy[k] =
            !t->kinds[k].is_op && direction_of_host_span(trace_str(t, t->kinds[k].name)) == VP_H2D;
    x->is_copy = is_copy;
    for (uint32_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].role == SINK_ROLE_PLAIN)
            VP_TRY(walk_thread(x, &t->tracks[i]));
    return describe_place(row, x);
}

/* The row of host copies to devices; NULL: none. */
static vp_transfer *upload_row(const analysis *a)
{
    for (size_t i = 0; i < a->h->transfer_count; i++)
        if (a->h->transfers[i].host_only && a->h->transfers[i].direction == VP_H2D)
            return &a->h->transfers[i];
    return NULL;
}

int uploads_name_idle(analysis *a)
{
    const vp_transfer *row = upload_row(a);
    for (size_t i = 0; row && row->caller && i < a->h->idle_label_count; i++) {
        vp_idle_label *l = &a->h->idle_labels[i];
        if (l->cause == VP_CAUSE_TRANSFER && !l->user && l->label &&
            direction_of_host_span(vp_str_of(l->label)) == VP_H2D)
            l->user = row->caller;
    }
    return 0;
}

int uploads_collect(analysis *a)
{
    vp_transfer *row = upload_row(a);
    if (!row)
        return 0;
    uploads x = {.a = a};
    vp_map_init(&x.by_place);
    int rc = find_places(row, &x);
    vp_map_free(&x.by_place);
    vp_free(x.calls);
    vp_free(x.v);
    vp_free(x.frames.v);
    return rc;
}

/* Merges the rows of full reports. */
#include "trace/analyze/result/host_result.h"
#include "trace/analyze/merge/merge_parts.h"
#include "trace/base/order.h"

#include <stdlib.h>

/* Rows of all parts are concatenated, converted to the merged report and sorted in report order.
 * Each order ends with keys that distinguish rows of one device or host, so that it does not depend
 * on the order of parts. */

typedef void adopt_fn(merging *m, void *row, const merge_part *p);
typedef int order_fn(const void *a, const void *b);

typedef struct section {
    size_t rows, count; /* offsets in vp_report */
    size_t size;        /* of a row */
    adopt_fn *adopt;
    order_fn *order;
} section;

static void *rows_at(const vp_report *r, const section *s, size_t *n)
{
    void *rows;
    memcpy(&rows, (const char *)r + s->rows, sizeof rows);
    memcpy(n, (const char *)r + s->count, sizeof *n);
    return rows;
}

static void merge_section(merging *m, const section *s)
{
    size_t n, total = 0, at = 0;
    for (size_t i = 0; i < m->count; i++) {
        rows_at(m->parts[i].r, s, &n);
        total += n;
    }
    char *all = merge_room(m, total, s->size);
    if (!all)
        return;
    for (size_t i = 0; i < m->count; i++) {
        const char *rows = rows_at(m->parts[i].r, s, &n);
        for (size_t k = 0; k < n; k++, at++) {
            memcpy(all + at * s->size, rows + k * s->size, s->size);
            s->adopt(m, all + at * s->size, &m->parts[i]);
        }
    }
    if (!m->out_of_memory)
        qsort(all, total, s->size, s->order);
    memcpy((char *)m->r + s->rows, &all, sizeof all);
    memcpy((char *)m->r + s->count, &total, sizeof total);
}

static int larger_first(int64_t a, int64_t b)
{
    return vp_order(b, a);
}

/* Shifted copy of an array of times. */
static int64_t *move_times(merging *m, int64_t *times, size_t n, const merge_part *p)
{
    int64_t *moved = merge_items(m, times, n, sizeof *moved);
    for (size_t i = 0; moved && i < n; i++)
        moved[i] = merge_time(p, moved[i]);
    return moved;
}

/* ---- Idle ---- */

static void adopt_gap(merging *m, void *row, const merge_part *p)
{
    vp_gap *x = row;
    x->device = merge_device(p, x->device);
    x->start_ps = merge_time(p, x->start_ps);
    x->label = merge_text(m, x->label);
    x->thread = merge_text(m, x->thread);
    x->next_op = merge_text(m, x->next_op);
    x->scope = merge_text(m, x->scope);
}

static int order_gaps(const void *a, const void *b)
{
    const vp_gap *x = a, *y = b;
    int order = larger_first(x->dur_ps, y->dur_ps);
    if (!order)
        order = vp_order(x->device, y->device);
    return order ? order : vp_order(x->start_ps, y->start_ps);
}

static void adopt_label(merging *m, void *row, const merge_part *p)
{
    vp_idle_label *x = row;
    x->device = merge_device(p, x->device);
    x->label = merge_text(m, x->label);
    x->user = merge_text(m, x->user);
    x->thread = merge_text(m, x->thread);
}

static int order_labels(const void *a, const void *b)
{
    const vp_idle_label *x = a, *y = b;
    int order = larger_first(x->total_ps, y->total_ps);
    if (!order)
        order = vp_order(x->device, y->device);
    if (!order)
        order = vp_order(x->cause, y->cause);
    if (!order)
        order = merge_order(x->label, y->label);
    return order ? order : merge_order(x->thread, y->thread);
}

/* ---- Communication and copies ---- */

static void adopt_collective(merging *m, void *row, const merge_part *p)
{
    vp_collective *x = row;
    x->device = merge_device(p, x->device);
    x->kind = merge_text(m, x->kind);
    x->name = merge_text(m, x->name);
    x->scope = merge_text(m, x->scope);
    x->members = merge_text(m, x->members);
    x->sample_start_ps = move_times(m, x->sample_start_ps, x->sample_count, p);
    x->sample_dur_ps = merge_items(m, x->sample_dur_ps, x->sample_count, sizeof(int64_t));
    if (x->sample_exposed_ps)
        x->sample_exposed_ps =
            merge_items(m, x->sample_exposed_ps, x->sample_count, sizeof(int64_t));
}

static int order_collectives(const void *a, const void *b)
{
    const vp_collective *x = a, *y = b;
    int order = larger_first(x->exposed_ps, y->exposed_ps);
    if (!order)
        order = larger_first(x->total_ps, y->total_ps);
    if (!order)
        order = vp_order(x->device, y->device);
    if (!order)
        order = merge_order(x->name, y->name);
    if (!order)
        order = merge_order(x->kind, y->kind);
    if (!order)
        order = vp_order(x->group_size, y->group_size);
    if (!order)
        order = merge_order(x->members, y->members);
    return order ? order : merge_order(x->scope, y->scope);
}

static void adopt_transfer(merging *m, void *row, const merge_part *p)
{
    vp_transfer *x = row;
    x->caller = merge_text(m, x->caller);
    x->function = merge_text(m, x->function);
    x->argument = merge_text(m, x->argument);
    x->device = merge_device(p, x->device);
    x->largest_start_ps = merge_time(p, x->largest_start_ps);
    x->first_start_ps = merge_time(p, x->first_start_ps);
}

static int order_transfers(const void *a, const void *b)
{
    const vp_transfer *x = a, *y = b;
    int order = vp_order(x->device, y->device);
    if (!order)
        order = vp_order(x->direction, y->direction);
    if (!order)
        order = vp_order(x->host_only, y->host_only);
    if (!order)
        order = larger_first(x->largest_dur_ps, y->largest_dur_ps);
    return order ? order : vp_order(x->largest_start_ps, y->largest_start_ps);
}

/* Adds x to sum. Rows of one kind are ordered by their longest transfer, so sum already has the
 * longest. */
static void add_transfer(vp_transfer *sum, const vp_transfer *x)
{
    merge_sum(&sum->count, x->count);
    merge_sum(&sum->bytes, x->bytes);
    merge_sum(&sum->total_ps, x->total_ps);
    merge_sum(&sum->busy_ps, x->busy_ps);
    merge_sum(&sum->exposed_ps, x->exposed_ps);
    merge_sum(&sum->exposed_count, x->exposed_count);
    merge_sum(&sum->pageable_count, x->pageable_count);
    merge_sum(&sum->pageable_ps, x->pageable_ps);
    if (sum->first_start_ps == VP_NO_TIME ||
        (x->first_start_ps != VP_NO_TIME && x->first_start_ps < sum->first_start_ps))
        sum->first_start_ps = x->first_start_ps;
}

/* Merges the rows of transfers that were only recorded on hosts, since no device distinguishes
 * them. */
static void join_transfers(vp_report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->transfer_count; i++) {
        const vp_transfer *x = &r->transfers[i];
        vp_transfer *last = n ? &r->transfers[n - 1] : NULL;
        if (last && x->device == last->device && x->direction == last->direction &&
            x->host_only == last->host_only)
            add_transfer(last, x);
        else
            r->transfers[n++] = *x;
    }
    r->transfer_count = n;
}

/* ---- Hosts ---- */

static const char *adopt_host(merging *m, const char *host)
{
    for (size_t i = 0; i < m->r->host_count; i++)
        if (merge_order(m->r->hosts[i], host) == 0)
            return m->r->hosts[i];
    return merge_text(m, host);
}

static void adopt_function(merging *m, void *row, const merge_part *p)
{
    vp_function *x = row;
    x->host = adopt_host(m, x->host);
    x->name = merge_text(m, x->name);
    x->caller = merge_text(m, x->caller);
    x->changes = merge_text(m, x->changes);
    x->first_start_ps = merge_time(p, x->first_start_ps);
    x->last_start_ps = merge_time(p, x->last_start_ps);
    x->ready_ps = merge_time(p, x->ready_ps);
}

static int order_functions(const void *a, const void *b)
{
    const vp_function *x = a, *y = b;
    int order = larger_first(x->total_ps, y->total_ps);
    if (!order)
        order = merge_order(x->name, y->name);
    if (!order)
        order = merge_order(x->host, y->host);
    return order ? order : vp_order(x->first_start_ps, y->first_start_ps);
}

static void merge_compile(merging *m)
{
    static const section functions = {offsetof(vp_report, compile.functions),
                                      offsetof(vp_report, compile.function_count),
                                      sizeof(vp_function), adopt_function, order_functions};
    vp_compile *sum = &m->r->compile;
    *sum = m->parts[0].r->compile;
    sum->functions = NULL;
    sum->function_count = 0;
    for (size_t i = 1; i < m->count; i++) {
        const vp_compile *x = &m->parts[i].r->compile;
        merge_sum(&sum->count, x->count);
        merge_sum(&sum->total_ps, x->total_ps);
        merge_sum(&sum->lower_ps, x->lower_ps);
        merge_sum(&sum->late, x->late);
        merge_sum(&sum->late_ps, x->late_ps);
        merge_sum(&sum->before_steps_ps, x->before_steps_ps);
        merge_sum(&sum->cache_hits, x->cache_hits);
        merge_sum(&sum->cache_misses, x->cache_misses);
    }
    merge_section(m, &functions);
}

static void merge_torch(merging *m)
{
    vp_torch *sum = &m->r->torch;
    *sum = (vp_torch){0};
    for (size_t i = 0; i < m->count; i++) {
        const merge_part *p = &m->parts[i];
        const vp_torch *x = &p->r->torch;
        if (x->optimizer_dur_ps > sum->optimizer_dur_ps) {
            sum->optimizer = merge_text(m, x->optimizer);
            sum->optimizer_dur_ps = x->optimizer_dur_ps;
            sum->optimizer_start_ps = merge_time(p, x->optimizer_start_ps);
        }
        if (x->unused_dur_ps > sum->unused_dur_ps) {
            sum->unused_dur_ps = x->unused_dur_ps;
            sum->unused_start_ps = merge_time(p, x->unused_start_ps);
        }
        merge_sum(&sum->optimizer_steps, x->optimizer_steps);
        merge_sum(&sum->optimizer_ps, x->optimizer_ps);
        merge_sum(&sum->optimizer_ops, x->optimizer_ops);
        merge_sum(&sum->grouped_ops, x->grouped_ops);
        merge_sum(&sum->recorded_ops, x->recorded_ops);
        merge_sum(&sum->unused_ops, x->unused_ops);
        merge_sum(&sum->unused_ps, x->unused_ps);
    }
}

static void adopt_host_op(merging *m, void *row, const merge_part *p)
{
    vp_host_op *x = row;
    x->host = adopt_host(m, x->host);
    x->thread = merge_text(m, x->thread);
    x->name = merge_text(m, x->name);
    x->max_start_ps = merge_time(p, x->max_start_ps);
}

static int order_host_ops(const void *a, const void *b)
{
    const vp_host_op *x = a, *y = b;
    int order = larger_first(x->self_ps, y->self_ps);
    if (!order)
        order = merge_order(x->host, y->host);
    if (!order)
        order = merge_order(x->thread, y->thread);
    if (!order)
        order = merge_order(x->name, y->name);
    if (!order)
        order = larger_first(x->total_ps, y->total_ps);
    return order ? order : vp_order(x->max_start_ps, y->max_start_ps);
}

static void adopt_thread(merging *m, void *row, const merge_part *p)
{
    vp_thread *x = row;
    x->device = merge_device(p, x->device);
    x->name = merge_text(m, x->name);
    x->zone = merge_text(m, x->zone);
    x->wait = merge_text(m, x->wait);
    x->zone_caller = merge_text(m, x->zone_caller);
    x->wait_caller = merge_text(m, x->wait_caller);
    x->start_ps = merge_time(p, x->start_ps);
    x->end_ps = merge_time(p, x->end_ps);
    x->wait_start_ps = merge_time(p, x->wait_start_ps);
}

static int order_threads(const void *a, const void *b)
{
    const vp_thread *x = a, *y = b;
    int order = larger_first(x->work_ps, y->work_ps);
    if (!order)
        order = vp_order(x->device, y->device);
    if (!order)
        order = merge_order(x->name, y->name);
    return order ? order : vp_order(x->start_ps, y->start_ps);
}

static void adopt_activity(merging *m, void *row, const merge_part *p)
{
    vp_activity *x = row;
    x->host = adopt_host(m, x->host);
    x->device = merge_device(p, x->device);
    x->thread = merge_text(m, x->thread);
    x->name = merge_text(m, x->name);
    x->caller = merge_text(m, x->caller);
    x->callee = merge_text(m, x->callee);
    x->max_start_ps = merge_time(p, x->max_start_ps);
}

static int order_activities(const void *a, const void *b)
{
    const vp_activity *x = a, *y = b;
    int order = larger_first(x->total_ps, y->total_ps);
    if (!order)
        order = merge_order(x->host, y->host);
    if (!order)
        order = merge_order(x->thread, y->thread);
    return order ? order : vp_order((int64_t)x->kind, (int64_t)y->kind);
}

static void adopt_replay(merging *m, void *row, const merge_part *p)
{
    vp_replay *x = row;
    (void)p;
    x->host = adopt_host(m, x->host);
    x->thread = merge_text(m, x->thread);
    x->waiter = merge_text(m, x->waiter);
}

static int order_replays(const void *a, const void *b)
{
    const vp_replay *x = a, *y = b;
    return merge_order(x->host, y->host);
}

static void adopt_user_function(merging *m, void *row, const merge_part *p)
{
    vp_user_function *x = row;
    x->host = adopt_host(m, x->host);
    x->name = merge_text(m, x->name);
    x->max_start_ps = merge_time(p, x->max_start_ps);
}

static int order_user_functions(const void *a, const void *b)
{
    const vp_user_function *x = a, *y = b;
    int order = merge_order(x->host, y->host);
    return order ? order : larger_first(x->total_ps, y->total_ps);
}

static void adopt_torch_cost(merging *m, void *row, const merge_part *p)
{
    vp_torch_cost *x = row;
    x->host = adopt_host(m, x->host);
    x->device = merge_device(p, x->device);
    x->thread = merge_text(m, x->thread);
    x->name = merge_text(m, x->name);
    x->caller = merge_text(m, x->caller);
    x->start_ps = merge_time(p, x->start_ps);
}

static int order_torch_costs(const void *a, const void *b)
{
    const vp_torch_cost *x = a, *y = b;
    int order = larger_first(x->saved_ps, y->saved_ps);
    if (!order)
        order = merge_order(x->host, y->host);
    if (!order)
        order = vp_order((int64_t)x->kind, (int64_t)y->kind);
    return order ? order : vp_order(x->start_ps, y->start_ps);
}

static void adopt_values(merging *m, void *row, const merge_part *p)
{
    vp_values *x = row;
    (void)p;
    x->host = adopt_host(m, x->host);
    x->zone = merge_text(m, x->zone);
    x->key = merge_text(m, x->key);
    x->top = merge_items(m, x->top, x->top_count, sizeof *x->top);
    for (size_t i = 0; x->top && i < x->top_count; i++)
        x->top[i].text = merge_text(m, x->top[i].text);
}

static int order_values(const void *a, const void *b)
{
    const vp_values *x = a, *y = b;
    int order = larger_first(x->numbers + x->texts, y->numbers + y->texts);
    if (!order)
        order = merge_order(x->host, y->host);
    if (!order)
        order = merge_order(x->zone, y->zone);
    return order ? order : merge_order(x->key, y->key);
}

static void adopt_meta(merging *m, void *row, const merge_part *p)
{
    vp_meta *x = row;
    (void)p;
    x->host = adopt_host(m, x->host);
    x->key = merge_text(m, x->key);
    x->value = merge_text(m, x->value);
}

static int order_meta(const void *a, const void *b)
{
    const vp_meta *x = a, *y = b;
    int order = merge_order(x->host, y->host);
    if (!order)
        order = merge_order(x->key, y->key);
    return order ? order : merge_order(x->value, y->value);
}

static void adopt_memory(merging *m, void *row, const merge_part *p)
{
    vp_memory *x = row;
    x->host = adopt_host(m, x->host);
    x->allocator = merge_text(m, x->allocator);
    x->peak_start_ps = merge_time(p, x->peak_start_ps);
    x->sample_start_ps = move_times(m, x->sample_start_ps, x->sample_count, p);
    x->sample_bytes = merge_items(m, x->sample_bytes, x->sample_count, sizeof(int64_t));
    x->sample_reserved_bytes =
        merge_items(m, x->sample_reserved_bytes, x->sample_reserved_count, sizeof(int64_t));
    x->sample_fragmented_bytes =
        merge_items(m, x->sample_fragmented_bytes, x->sample_fragmented_count, sizeof(int64_t));
    x->top = merge_items(m, x->top, x->top_count, sizeof *x->top);
    for (size_t i = 0; x->top && i < x->top_count; i++) {
        vp_memory_item *item = &x->top[i];
        item->name = merge_text(m, item->name);
        item->scope = merge_text(m, item->scope);
        item->source = merge_text(m, item->source);
        item->planned = merge_text(m, item->planned);
    }
    x->leaks = merge_items(m, x->leaks, x->leak_count, sizeof *x->leaks);
    for (size_t i = 0; x->leaks && i < x->leak_count; i++) {
        vp_leak *l = &x->leaks[i];
        l->name = merge_text(m, l->name);
        l->scope = merge_text(m, l->scope);
        l->source = merge_text(m, l->source);
    }
}

static int order_memory(const void *a, const void *b)
{
    const vp_memory *x = a, *y = b;
    int order = merge_order(x->host, y->host);
    if (!order)
        order = merge_order(x->allocator, y->allocator);
    if (!order)
        order = larger_first(x->peak_bytes, y->peak_bytes);
    return order ? order : vp_order(x->peak_start_ps, y->peak_start_ps);
}

static void adopt_plan_rows(merging *m, vp_memory_plan *x)
{
    x->live = merge_items(m, x->live, x->live_count, sizeof *x->live);
    for (size_t i = 0; x->live && i < x->live_count; i++) {
        vp_plan_buffer *b = &x->live[i];
        b->instruction = merge_text(m, b->instruction);
        b->opcode = merge_text(m, b->opcode);
        b->shape = merge_text(m, b->shape);
        b->scope = merge_text(m, b->scope);
        b->source = merge_text(m, b->source);
        b->padded = merge_text(m, b->padded);
        b->origin_scope = merge_text(m, b->origin_scope);
        b->origin_source = merge_text(m, b->origin_source);
    }
    x->donations = merge_items(m, x->donations, x->donation_count, sizeof *x->donations);
    for (size_t i = 0; x->donations && i < x->donation_count; i++) {
        vp_plan_donation *d = &x->donations[i];
        d->parameter = merge_text(m, d->parameter);
        d->scope = merge_text(m, d->scope);
        d->output = merge_text(m, d->output);
        d->output_scope = merge_text(m, d->output_scope);
        d->output_source = merge_text(m, d->output_source);
    }
    x->layers = merge_items(m, x->layers, x->layer_count, sizeof *x->layers);
    for (size_t i = 0; x->layers && i < x->layer_count; i++) {
        vp_plan_layer *l = &x->layers[i];
        l->scope = merge_text(m, l->scope);
        l->bytes = merge_items(m, l->bytes, l->byte_count, sizeof *l->bytes);
    }
}

static void adopt_plan(merging *m, void *row, const merge_part *p)
{
    vp_memory_plan *x = row;
    (void)p;
    x->host = adopt_host(m, x->host);
    x->module = merge_text(m, x->module);
    x->peak_instruction = merge_text(m, x->peak_instruction);
    x->sample_event = merge_items(m, x->sample_event, x->sample_count, sizeof *x->sample_event);
    adopt_plan_rows(m, x);
}

static int order_plans(const void *a, const void *b)
{
    const vp_memory_plan *x = a, *y = b;
    int order = vp_order(y->ran, x->ran);
    if (!order)
        order = larger_first(x->peak_bytes, y->peak_bytes);
    if (!order)
        order = merge_order(x->module, y->module);
    if (!order)
        order = vp_order(x->space, y->space);
    if (!order)
        order = merge_order(x->host, y->host);
    if (!order)
        order = vp_order(x->program_id, y->program_id);
    return order ? order : vp_order(x->reserved_bytes, y->reserved_bytes);
}

static void adopt_programs(merging *m, void *row, const merge_part *p)
{
    vp_memory_programs *x = row;
    (void)p;
    x->host = adopt_host(m, x->host);
    x->largest = merge_text(m, x->largest);
}

static int order_programs(const void *a, const void *b)
{
    const vp_memory_programs *x = a, *y = b;
    int order = merge_order(x->host, y->host);
    if (!order)
        order = vp_order(x->space, y->space);
    return order ? order : larger_first(x->most_bytes, y->most_bytes);
}

void merge_full(merging *m)
{
#define SECTION(rows_, count_, adopt_, order_)                                                     \
    {                                                                                              \
        offsetof(vp_report, rows_), offsetof(vp_report, count_),                                   \
            sizeof *((vp_report *)NULL)->rows_, adopt_, order_                                     \
    }
    static const section sections[] = {
        SECTION(gaps, gap_count, adopt_gap, order_gaps),
        SECTION(idle_labels, idle_label_count, adopt_label, order_labels),
        SECTION(collectives, collective_count, adopt_collective, order_collectives),
        SECTION(transfers, transfer_count, adopt_transfer, order_transfers),
        SECTION(host_ops, host_op_count, adopt_host_op, order_host_ops),
        SECTION(threads, thread_count, adopt_thread, order_threads),
        SECTION(activities, activity_count, adopt_activity, order_activities),
        SECTION(replays, replay_count, adopt_replay, order_replays),
        SECTION(user_functions, user_function_count, adopt_user_function, order_user_functions),
        SECTION(torch_costs, torch_cost_count, adopt_torch_cost, order_torch_costs),
        SECTION(args, arg_count, adopt_values, order_values),
        SECTION(counters, counter_count, adopt_values, order_values),
        SECTION(meta, meta_count, adopt_meta, order_meta),
        SECTION(memory, memory_count, adopt_memory, order_memory),
        SECTION(memory_static, memory_static_count, adopt_plan, order_plans),
        SECTION(memory_programs, memory_programs_count, adopt_programs, order_programs),
    };
#undef SECTION
#define ONE(type, rows, count, more) +1
    _Static_assert(sizeof sections / sizeof *sections == HOST_FULL_LISTS(ONE) HOST_ARENA_LISTS(ONE),
                   "every list of a full report is merged");
#undef ONE
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        merge_section(m, &sections[i]);
    for (size_t i = 0; i < m->count; i++) {
        const vp_report *r = m->parts[i].r;
        m->r->host_op_total += r->host_op_total;
        merge_sum(&m->r->arg_total, r->arg_total);
        merge_sum(&m->r->counter_total, r->counter_total);
        merge_sum(&m->r->meta_total, r->meta_total);
    }
    merge_compile(m);
    merge_torch(m);
    join_transfers(m->r);
}

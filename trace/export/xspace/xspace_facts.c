/* Links and counters of an event: the flows that it ends, and the memory in use. */
#include "trace/base/err.h"
#include "trace/export/shared/quote.h"
#include "trace/export/shared/times.h"
#include "trace/export/xspace/xspace_json.h"
#include "trace/read/semantics/attrs.h"

/* Maximum slots of flows that have begun, 32 MB. Real ids are counters, so these are 16 M flows;
 * further flows have no arrow. */
#define FLOWS_MAX (1u << 20)

/* Sources of ids other than the types of producers, which are small numbers. */
enum { LAUNCHES = 1u << 20, FLOWS };

static bool has_fact(const xj_facts *f, xj_fact fact)
{
    return f->has >> fact & 1u;
}

/* 1: the first time. */
static int begin_flow(xj_flows *flows, uint64_t source, uint64_t id)
{
    uint64_t slot = vp_mix(source + 1) ^ id >> 4;
    uint32_t bit = 1u << (id & 15), seen = vp_map_get(&flows->begun, slot);
    if (seen == VP_MAP_NONE) {
        if (flows->begun.count == FLOWS_MAX)
            return 0;
        if (!flows->begun.slots)
            vp_map_init(&flows->begun);
        seen = 0;
    }
    if (seen & bit)
        return 0;
    VP_TRY(vp_map_set(&flows->begun, slot, seen | bit));
    return 1;
}

static uint64_t fact_value(const xj_facts *f, xj_fact fact)
{
    return has_fact(f, fact) ? f->v[fact] : 0;
}

/* Reproducible for the same file, because responses have an entity tag. */
static uint64_t stable_flow_id(uint64_t source, uint64_t number)
{
    return number ^ source * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 divided by the golden ratio */
}

/* An event ends at most one flow: Perfetto has one bind_id per event. Launches come first; a
 * producer that consumes another flow is shown as producer. Real events are not both. */
static xj_flow flow_end_of_event(const xj_facts *f, bool device, uint64_t *source, uint64_t *number)
{
    uint64_t producer = fact_value(f, XJ_PRODUCER), type = fact_value(f, XJ_PRODUCER_TYPE);
    uint64_t consumed = stable_flow_id(fact_value(f, XJ_CONSUMER_TYPE), fact_value(f, XJ_CONSUMER));
    uint64_t produced = stable_flow_id(type, producer);
    sink_extra x = {0};
    if (fact_value(f, XJ_CORRELATION)) {
        *source = LAUNCHES;
        *number = f->v[XJ_CORRELATION];
        return (xj_flow){.id = *number, .out = !device, .in = device};
    }
    *source = type;
    *number = producer;
    if (has_fact(f, XJ_PRODUCER))
        return (xj_flow){
            .id = produced, .out = true, .in = has_fact(f, XJ_CONSUMER) && consumed == produced};
    if (has_fact(f, XJ_CONSUMER))
        return (xj_flow){.id = consumed, .in = true};
    *source = FLOWS;
    *number = fact_value(f, XJ_FLOW) >> 2;
    if (has_fact(f, XJ_FLOW))
        rd_flow_attrs(&x, f->v[XJ_FLOW]);
    return (xj_flow){.id = stable_flow_id(FLOWS, *number),
                     .out = rd_has_attr(&x, SINK_FLOW_OUT),
                     .in = rd_has_attr(&x, SINK_FLOW_IN)};
}

int xj_flow_of(xj_flows *flows, const xj_facts *facts, bool device, xj_flow *out)
{
    uint64_t source, number;
    *out = (xj_flow){0};
    if (!facts->has)
        return 0;
    *out = flow_end_of_event(facts, device, &source, &number);
    if (!out->out)
        return 0;
    int first = begin_flow(flows, source, number);
    VP_TRY(first);
    out->out = first || out->in; /* a flow that is both in and out begins, and later continues */
    out->in = out->in && !first;
    return 0;
}

void xj_flows_free(xj_flows *flows)
{
    vp_map_free(&flows->begun);
}

/* "GPU_4_bfc" contains its device; the device is appended to other names, as in the report. */
static int put_allocator_name(vp_buf *text, vp_str name, int64_t device)
{
    bool said = device < 0;
    name = vp_str_head(name, XJ_NAME_MAX);
    for (size_t i = 0; i < name.n; i++)
        said = said || (name.p[i] >= '0' && name.p[i] <= '9');
    vp_buf_str(text, name.n ? name : VP_STR("memory"));
    if (!said)
        vp_buf_printf(text, " %lld", (long long)device);
    return text->status;
}

int xj_memory_of(const xj_facts *f, bool device, vp_buf *name, int64_t *used)
{
    sink_extra x = {0};
    if (device || !has_fact(f, XJ_MEM_USED))
        return 0;
    sink_extra_set(&x, SINK_MEM_USED, (int64_t)f->v[XJ_MEM_USED]);
    if (has_fact(f, XJ_MEM_DEVICE))
        sink_extra_set(&x, SINK_MEM_DEVICE, (int64_t)f->v[XJ_MEM_DEVICE]);
    vp_str allocator = has_fact(f, XJ_ALLOCATOR) ? f->allocator : VP_STR_NONE;
    rd_allocator_attrs(&x, VP_STR_NONE, allocator);
    int64_t free = has_fact(f, XJ_MEM_FREE) ? (int64_t)f->v[XJ_MEM_FREE] : SINK_NO_VALUE;
    int64_t reserved =
        has_fact(f, XJ_MEM_RESERVED) ? (int64_t)f->v[XJ_MEM_RESERVED] : SINK_NO_VALUE;
    *used = rd_memory_in_use(x.v[SINK_MEM_USED], free, reserved);
    if (*used < 0)
        return 0;
    VP_TRY(put_allocator_name(name, allocator,
                              rd_has_attr(&x, SINK_MEM_DEVICE) ? x.v[SINK_MEM_DEVICE] : -1));
    return 1;
}

int xj_put_memory(vp_buf *b, const xj_facts *f, const xj_place *p)
{
    VP_CLEANUP(vp_buf_free) vp_buf name;
    int64_t used;
    vp_buf_init(&name, XJ_NAME_MAX + 64);
    int rc = xj_memory_of(f, p->device, &name, &used);
    if (rc <= 0)
        return rc;
    vp_buf_puts(b, ",\n{\"ph\":\"C\",\"pid\":");
    vp_buf_u64(b, p->pid);
    vp_buf_puts(b, ",\"ts\":");
    ex_put_us(b, p->span.start);
    vp_buf_puts(b, ",\"name\":");
    VP_TRY(ex_quote(b, vp_buf_view(&name)));
    vp_buf_puts(b, ",\"args\":{\"bytes in use\":");
    vp_buf_i64(b, used);
    vp_buf_puts(b, "}}");
    return 1;
}

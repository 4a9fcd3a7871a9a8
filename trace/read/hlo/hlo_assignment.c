/* Reads the buffer assignment of a proto after its module. */
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_reader.h"
#include "trace/read/hlo/hlo_shape.h"
#include "trace/read/semantics/hlo_fields.h"

/* Index of a buffer by its id, or HLO_NONE, which is counted. */
static uint32_t buffer_of(hlo_reader *r, int64_t id)
{
    uint32_t b = vp_map_get(&r->buffer_by_id, (uint64_t)id);
    r->p->loose += b == HLO_NONE;
    return b;
}

typedef struct place_row {
    vp_str name;
    int64_t id;
} place_row;

static int define_at(hlo_reader *r, hlo_buffer *b, vp_str place)
{
    static const hlo_field fields[] = {
        {LOCATION_INSTRUCTION_NAME, HLO_AS_TEXT, offsetof(place_row, name)},
        {LOCATION_INSTRUCTION_ID, HLO_AS_NUMBER, offsetof(place_row, id)},
        {0}};
    place_row row = {.id = -1};
    hlo_span index;
    VP_TRY(hlo_take(&row, place, fields, "the location of a buffer"));
    VP_TRY(hlo_take_numbers(r, place, LOCATION_SHAPE_INDEX, &index));
    b->index = index.first;
    b->index_count = index.count;
    b->instr = row.id < 0 && row.name.n
                   ? hlo_program_find(r->p, row.name)
                   : vp_map_get(&r->p->by_id, row.id < 0 ? 0 : (uint64_t)row.id);
    uint32_t whole = b->instr == HLO_NONE ? HLO_NONE : r->p->instrs[b->instr].shape;
    b->shape = hlo_shape_at(r->p, whole, index.first, index.count);
    r->p->loose += b->shape == HLO_NONE;
    return 0;
}

typedef struct buffer_row {
    hlo_buffer b;
    vp_str place;
} buffer_row;

static int read_buffer(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {LOGICAL_BUFFER_ID, HLO_AS_NUMBER, offsetof(hlo_buffer, id)},
        {LOGICAL_BUFFER_SIZE, HLO_AS_NUMBER, offsetof(hlo_buffer, size)},
        {LOGICAL_BUFFER_DEFINED_AT, HLO_AS_TEXT, offsetof(buffer_row, place)},
        {LOGICAL_BUFFER_COLOR, HLO_AS_NUMBER, offsetof(hlo_buffer, color)},
        {0}};
    buffer_row row = {.b = {.allocation = HLO_NONE}};
    VP_TRY(hlo_take(&row, bytes, fields, "a buffer"));
    VP_TRY(define_at(r, &row.b, row.place));
    VP_TRY(HLO_GROW_BUFFERS(r, buffers, buffer));
    r->p->buffers[r->p->buffer_count] = row.b;
    return vp_map_set(&r->buffer_by_id, (uint64_t)row.b.id, (uint32_t)r->p->buffer_count++);
}

typedef struct assigned_row {
    int64_t id, offset, size;
} assigned_row;

static int read_assigned(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {ASSIGNED_LOGICAL_BUFFER_ID, HLO_AS_NUMBER, offsetof(assigned_row, id)},
        {ASSIGNED_OFFSET, HLO_AS_NUMBER, offsetof(assigned_row, offset)},
        {ASSIGNED_SIZE, HLO_AS_NUMBER, offsetof(assigned_row, size)},
        {0}};
    assigned_row row = {0};
    VP_TRY(hlo_take(&row, bytes, fields, "an assigned buffer"));
    hlo_assigned a = {buffer_of(r, row.id), row.offset, row.size};
    if (a.buffer != HLO_NONE)
        r->p->buffers[a.buffer].allocation = (uint32_t)r->p->allocation_count;
    VP_TRY(HLO_GROW_BUFFERS(r, assigned, assigned));
    r->p->assigned[r->p->assigned_count++] = a;
    return 0;
}

#define AT(member) offsetof(hlo_allocation, member)

static int read_allocation(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {BUFFER_ALLOCATION_INDEX, HLO_AS_NUMBER, AT(index)},
        {BUFFER_ALLOCATION_SIZE, HLO_AS_NUMBER, AT(size)},
        {BUFFER_ALLOCATION_IS_THREAD_LOCAL, HLO_AS_BOOL, AT(on_stack)},
        {BUFFER_ALLOCATION_IS_ENTRY_COMPUTATION_PARAMETER, HLO_AS_BOOL, AT(is_parameter)},
        {BUFFER_ALLOCATION_PARAMETER_NUMBER, HLO_AS_NUMBER, AT(parameter_number)},
        {BUFFER_ALLOCATION_MAYBE_LIVE_OUT, HLO_AS_BOOL, AT(live_out)},
        {BUFFER_ALLOCATION_COLOR, HLO_AS_NUMBER, AT(color)},
        {BUFFER_ALLOCATION_IS_TUPLE, HLO_AS_BOOL, AT(is_tuple)},
        {BUFFER_ALLOCATION_IS_CONSTANT, HLO_AS_BOOL, AT(is_constant)},
        {BUFFER_ALLOCATION_IS_PARAMETER_ALIASED_WITH_OUTPUT, HLO_AS_BOOL, AT(aliased)},
        {0}};
    hlo_allocation a = {.assigned = (uint32_t)r->p->assigned_count};
    hlo_span place;
    VP_TRY(hlo_take(&a, bytes, fields, "an allocation"));
    VP_TRY(hlo_take_numbers(r, bytes, BUFFER_ALLOCATION_PARAMETER_SHAPE_INDEX, &place));
    a.place = place.first;
    a.place_count = place.count;
    VP_TRY(hlo_each(r, bytes, BUFFER_ALLOCATION_ASSIGNED, read_assigned));
    a.assigned_count = (uint32_t)r->p->assigned_count - a.assigned;
    VP_TRY(HLO_GROW_BUFFERS(r, allocations, allocation));
    r->p->allocations[r->p->allocation_count++] = a;
    return 0;
}

typedef struct event_row {
    vp_str instruction;
    int64_t kind, buffer, canonical;
} event_row;

static int read_heap_event(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {HEAP_EVENT_KIND, HLO_AS_NUMBER, offsetof(event_row, kind)},
        {HEAP_EVENT_BUFFER_ID, HLO_AS_NUMBER, offsetof(event_row, buffer)},
        {HEAP_EVENT_INSTRUCTION_NAME, HLO_AS_TEXT, offsetof(event_row, instruction)},
        {HEAP_EVENT_SHARE_WITH_CANONICAL_ID, HLO_AS_NUMBER, offsetof(event_row, canonical)},
        {0}};
    event_row row = {0};
    VP_TRY(hlo_take(&row, bytes, fields, "a heap event"));
    hlo_heap_event e = {row.instruction, buffer_of(r, row.buffer), HLO_NONE, row.kind};
    if (e.kind == HLO_HEAP_SHARE)
        e.canonical = buffer_of(r, row.canonical);
    VP_TRY(HLO_GROW_BUFFERS(r, events, event));
    r->p->events[r->p->event_count++] = e;
    return 0;
}

static int read_trace(hlo_reader *r, vp_str bytes)
{
    hlo_heap_trace t = {.first = (uint32_t)r->p->event_count};
    VP_TRY(hlo_each(r, bytes, HEAP_TRACE_EVENTS, read_heap_event));
    t.count = (uint32_t)r->p->event_count - t.first;
    VP_TRY(HLO_GROW_BUFFERS(r, traces, trace));
    r->p->traces[r->p->trace_count++] = t;
    return 0;
}

static int read_peak(hlo_reader *r, vp_str bytes)
{
    static const hlo_field fields[] = {
        {PEAK_BUFFERS_ALLOCATION_INDEX, HLO_AS_NUMBER, offsetof(hlo_peak, allocation_index)}, {0}};
    hlo_peak k = {0};
    hlo_span ids;
    VP_TRY(hlo_take(&k, bytes, fields, "the buffers of a peak"));
    VP_TRY(hlo_take_ids(r, bytes, PEAK_BUFFERS_LOGICAL_BUFFER_IDS, &ids));
    for (uint32_t i = ids.first; i < ids.first + ids.count; i++)
        r->p->links[i] = buffer_of(r, r->ids[i]);
    k.buffers = ids.first;
    k.count = ids.count;
    VP_TRY(HLO_GROW_BUFFERS(r, peaks, peak));
    r->p->peaks[r->p->peak_count++] = k;
    return 0;
}

static int read_parts(hlo_reader *r, vp_str proto)
{
    VP_TRY(hlo_each(r, proto, BUFFER_ASSIGNMENT_LOGICAL_BUFFERS, read_buffer));
    VP_TRY(hlo_each(r, proto, BUFFER_ASSIGNMENT_BUFFER_ALLOCATIONS, read_allocation));
    VP_TRY(hlo_each(r, proto, BUFFER_ASSIGNMENT_HEAP_SIMULATOR_TRACES, read_trace));
    return hlo_each(r, proto, BUFFER_ASSIGNMENT_PEAK_BUFFERS, read_peak);
}

int hlo_read_assignment(hlo_reader *r, vp_str proto)
{
    r->p->assigned_memory = true;
    int rc = read_parts(r, proto);
    return rc == VP_ELIMIT ? vp_fail(rc, "a memory plan of more than %u buffers, blocks or events",
                                     VP_HLO_BUFFERS_MAX)
                           : rc;
}

#include "trace/read/hlo/hlo_program.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_reader.h"
#include "trace/read/semantics/hlo_fields.h"

static void free_reader(hlo_reader *r)
{
    vp_free(r->shape_bytes);
    vp_free(r->ids);
    vp_free(r->root_ids);
    vp_map_free(&r->computation_by_id);
    vp_map_free(&r->buffer_by_id);
}

typedef struct proto_row {
    vp_str module, assignment;
} proto_row;

static void drop_assignment(hlo_program *p)
{
    p->assigned_memory = false;
    p->plan_refused = true;
    p->buffer_count = p->allocation_count = p->assigned_count = p->event_count = p->trace_count =
        p->peak_count = 0;
}

static int read_proto(hlo_reader *r, vp_str proto)
{
    static const hlo_field fields[] = {
        {HLO_HLO_MODULE, HLO_AS_TEXT, offsetof(proto_row, module)},
        {HLO_BUFFER_ASSIGNMENT, HLO_AS_TEXT, offsetof(proto_row, assignment)},
        {0}};
    proto_row row = {0};
    VP_TRY(HLO_GROW(r, numbers, number)); /* allocated even if empty: empty spans point to it */
    int whole = hlo_take(&row, proto, fields, "it");
    if (whole < 0 && !row.module.p)
        return whole;
    VP_TRY(hlo_read_module(r, row.module));
    int rc = whole < 0 ? whole : row.assignment.p ? hlo_read_assignment(r, row.assignment) : 0;
    if (rc >= 0 || rc == VP_ENOMEM)
        return rc;
    drop_assignment(r->p);
    return 0;
}

int hlo_program_parse(hlo_program **out, vp_str proto)
{
    if (proto.n > VP_HLO_PROTO_MAX)
        return vp_fail(VP_ELIMIT, "an HLO proto of more than 1 GiB");
    hlo_program *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    p->entry = HLO_NONE;
    hlo_reader r = {.p = p};
    int rc = read_proto(&r, proto);
    free_reader(&r);
    if (rc < 0) {
        hlo_program_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

void hlo_program_free(hlo_program *p)
{
    if (!p)
        return;
    void *const arrays[] = {p->instrs, p->computations, p->shapes,      p->numbers,
                            p->links,  p->buffers,      p->allocations, p->assigned,
                            p->events, p->traces,       p->aliases,     p->peaks};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        vp_free(arrays[i]);
    vp_map_free(&p->by_id);
    vp_map_free(&p->by_name);
    vp_free(p);
}

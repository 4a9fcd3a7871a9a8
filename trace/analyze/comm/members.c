#include "trace/analyze/comm/members.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

static uint64_t ordinal_key(const trace_process *p, int64_t ordinal)
{
    return (uint64_t)p->kind << 32 | (uint32_t)ordinal;
}

int members_init(members *m, const analysis *a)
{
    *m = (members){.t = a->t, .h = a->h};
    vp_map_init(&m->ordinals);
    vp_map_init(&m->known);
    for (size_t d = 0; d < a->device_count; d++) {
        const trace_process *p = &a->t->processes[a->devices[d].process];
        if (p->ordinal >= 0)
            VP_TRY(vp_map_set(&m->ordinals, ordinal_key(p, p->ordinal), 0));
    }
    return 0;
}

void members_free(members *m)
{
    vp_map_free(&m->ordinals);
    vp_map_free(&m->known);
    vp_free(m->found);
    vp_free(m->devices);
    vp_free(m->ids);
}

static int parse_program(members *m, vp_sid program)
{
    if (!m->devices)
        m->devices = vp_calloc(VP_GROUP_DEVICES_MAX, sizeof *m->devices);
    if (!m->ids)
        m->ids = vp_calloc(VP_GROUP_DEVICES_MAX, sizeof *m->ids);
    VP_NEED(m->devices && m->ids);
    if (m->program != program)
        m->good = rg_program_parse(&m->parsed, m->devices, trace_str(m->t, program));
    m->program = program;
    return 0;
}

static bool all_are_here(const members *m, const trace_process *p)
{
    for (uint32_t i = 0; i < m->parsed.replicas * m->parsed.partitions; i++)
        if (m->devices[i] > INT32_MAX ||
            vp_map_get(&m->ordinals, ordinal_key(p, m->devices[i])) == VP_MAP_NONE)
            return false;
    return true;
}

/* The name of a device in the parsed program; -1 unknown. */
static int64_t device_id(const members *m, const trace_process *p)
{
    if (p->has_device_id)
        return p->device_id;
    return p->ordinal >= 0 && all_are_here(m, p) ? p->ordinal : -1;
}

static int put_members_text(group_members *out, members *m, uint32_t n)
{
    vp_buf b;
    vp_buf_init(&b, VP_MEMBERS_TEXT_MAX);
    int rc = rg_put_members(&b, m->ids, n);
    if (rc >= 0)
        rc = host_text(&out->text, m->h, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc == VP_ELIMIT ? 0 : rc;
}

static int find_group_members(group_members *out, members *m, const trace_kind *k, vp_str text,
                              uint32_t process)
{
    rg_groups g;
    vp_str opcode = trace_str(m->t, k->opcode ? k->opcode : k->hlo_opcode);
    *out = (group_members){NULL, VP_UNKNOWN};
    if (!rg_parse(&g, opcode, text))
        return 0;
    out->groups = g.count;
    if (!k->program)
        return 0;
    VP_TRY(parse_program(m, k->program));
    int64_t id = m->good ? device_id(m, &m->t->processes[process]) : -1;
    uint32_t n = id < 0 ? 0 : rg_members(m->ids, &g, &m->parsed, id);
    return n ? put_members_text(out, m, n) : 0;
}

int members_of(group_members *out, members *m, const trace_kind *k, uint32_t process)
{
    vp_sid instruction = k->groups ? k->groups : k->long_name;
    uint64_t key = vp_mix(vp_mix((uint64_t)instruction << 32 | k->program) + process);
    uint32_t at = vp_map_get(&m->known, key);
    if (at == VP_MAP_NONE) {
        VP_TRY(vp_grow(&m->found, &m->cap, m->count + 1, sizeof *m->found, UINT32_MAX - 1));
        VP_TRY(
            find_group_members(&m->found[m->count], m, k, trace_str(m->t, instruction), process));
        at = (uint32_t)m->count++;
        VP_TRY(vp_map_set(&m->known, key, at));
    }
    *out = m->found[at];
    return 0;
}

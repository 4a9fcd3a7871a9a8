/* Any bytes as an HLO proto: whatever parses holds indices that lead somewhere or nowhere, and
 * every shape has sizes and a text, every instruction a line of bounded length and a cost. What is
 * live in its memory plan is never less than nothing, and nobody's memory is donated twice. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/analyze/memory/static_donation.h"
#include "trace/analyze/memory/static_replay.h"
#include "trace/analyze/mfu/hlo_cost.h"
#include "trace/base/mem.h"
#include "trace/read/hlo/hlo_print.h"
#include "trace/read/hlo/hlo_program.h"
#include "trace/read/hlo/hlo_shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static bool inside(uint32_t index, size_t count)
{
    return index == HLO_NONE || index < count;
}

static void check_instructions(const hlo_program *p)
{
    for (size_t i = 0; i < p->instr_count; i++) {
        const hlo_instr *in = &p->instrs[i];
        need(in->computation < p->computation_count && inside(in->shape, p->shape_count));
        for (uint32_t k = 0; k < in->operand_count; k++)
            need(inside(p->links[in->operands + k], p->instr_count));
        for (uint32_t k = 0; k < in->called_count; k++)
            need(inside(p->links[in->called + k], p->computation_count));
    }
}

static void check_assignment(const hlo_program *p)
{
    for (size_t i = 0; i < p->buffer_count; i++)
        need(inside(p->buffers[i].shape, p->shape_count) &&
             inside(p->buffers[i].instr, p->instr_count) &&
             inside(p->buffers[i].allocation, p->allocation_count));
    for (size_t i = 0; i < p->event_count; i++)
        need(inside(p->events[i].buffer, p->buffer_count));
    for (size_t i = 0; i < p->allocation_count; i++)
        need((size_t)p->allocations[i].assigned + p->allocations[i].assigned_count <=
             p->assigned_count);
}

static void check_replay(const hlo_program *p, int64_t color)
{
    heap_replay r;
    need(heap_replay_run(&r, p, color) == 0 && r.peak >= 0);
    need(r.trace == HLO_NONE || r.at < p->traces[r.trace].count);
    for (size_t i = 0; r.trace != HLO_NONE && i < p->buffer_count; i++)
        need(r.first[i] == REPLAY_NEVER || r.first[i] <= r.last[i]);
    heap_replay_free(&r);
}

static void check_donations(const hlo_program *p)
{
    alias_set aliases;
    donation *v;
    size_t n = 0;
    need(alias_set_make(&aliases, p) == 0 && donations_find(&v, &n, p, &aliases) == 0);
    for (size_t i = 0; i < n; i++) {
        need(v[i].last_use <= v[i].born && v[i].parameter < p->instr_count);
        for (size_t k = 0; k < i; k++)
            need(v[k].parameter != v[i].parameter && v[k].output != v[i].output);
    }
    vp_free(v);
    alias_set_free(&aliases);
}

static void check_plan(const hlo_program *p)
{
    int64_t peak;
    check_replay(p, 0);
    check_replay(p, p->allocation_count ? p->allocations[0].color : 1);
    need(heap_replay_xla_peak(&peak, p) == 0 && peak >= 0);
    check_donations(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hlo_program *p = NULL;
    if (hlo_program_parse(&p, (vp_str){(const char *)data, n}) < 0)
        return 0;
    check_instructions(p);
    check_assignment(p);
    check_plan(p);
    for (uint32_t i = 0; i < p->instr_count && i < 100; i++) {
        vp_buf b;
        vp_buf_init(&b, 1u << 18);
        need(hlo_put_instruction(&b, p, i) == 0 && b.n < 1u << 16);
        op_cost c = hlo_cost_of(p, i);
        need(c.flops >= 0 && c.padded >= 0 && c.bytes >= -1);
        vp_buf_free(&b);
    }
    for (uint32_t i = 0; i < p->shape_count; i++) {
        vp_buf b;
        vp_buf_init(&b, 1u << 16);
        hlo_put_shape(&b, p, i);
        vp_buf_free(&b);
        need(hlo_shape_bytes(p, i) >= HLO_UNSIZED && hlo_shape_padded(p, i) >= HLO_UNSIZED);
    }
    hlo_program_free(p);
    return 0;
}

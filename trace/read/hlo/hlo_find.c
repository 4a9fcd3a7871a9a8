/* Lookup of instructions by name, for hlo_program.h. */
#include "trace/read/hlo/hlo_program.h"

uint32_t hlo_program_find(const hlo_program *p, vp_str instruction)
{
    uint32_t i = vp_map_get(&p->by_name, vp_hash(instruction.p, instruction.n, 1));
    return i != HLO_NONE && vp_str_eq(p->instrs[i].name, instruction) ? i : HLO_NONE;
}

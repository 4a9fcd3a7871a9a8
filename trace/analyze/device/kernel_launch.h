/* Launch configuration of a kernel, from text in the format of XLA's kernel_details, which readers
 * of other formats produce as well (sink_kind.launch): "regs:32 static_shared:0 dynamic_shared:0
 * grid:3,1,1 block:128,1,1 occ_pct:100". Texts are in the caller's arena. */
#ifndef VP_ANALYZE_KERNEL_LAUNCH_H
#define VP_ANALYZE_KERNEL_LAUNCH_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"

/* What the text says; tensor_cores is left NULL. VP_ENOMEM. */
int kernel_launch_of(vp_kernel_launch *out, vp_arena *arena, vp_str launch);
/* Appends what tells launches of one kernel apart: all but the occupancy, which follows from it. */
int kernel_launch_key(vp_buf *b, vp_str launch);
/* The same of what was read; NULL: nothing is known, which equals itself alone. */
bool kernel_launch_same(const vp_kernel_launch *a, const vp_kernel_launch *b);
uint64_t kernel_launch_hash(const vp_kernel_launch *l, uint64_t seed); /* the same for the same */

/* The part of a kernel's name that says that it runs on tensor cores (NVIDIA) or matrix cores
 * (AMD): of the words that XProf looks for, those of CUTLASS, Hopper and Blackwell, and the
 * "MI16x16x16" of Tensile. Empty: the name does not say, and the kernel may use them all the same,
 * as those of flash attention and Triton do. */
vp_str tensor_core_mark(vp_str kernel);

#endif

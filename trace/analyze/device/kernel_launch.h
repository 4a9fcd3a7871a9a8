/* Launch configuration of a kernel, from text in the format of XLA's kernel_details, which readers
 * of other formats produce as well (sink_kind.launch): "regs:32 static_shared:0 dynamic_shared:0
 * grid:3,1,1 block:128,1,1 occ_pct:100". Texts are in the caller's arena. */
#ifndef VP_ANALYZE_KERNEL_LAUNCH_H
#define VP_ANALYZE_KERNEL_LAUNCH_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"

/* Parses the text; tensor_cores stays NULL. VP_ENOMEM. */
int kernel_launch_of(vp_kernel_launch *out, vp_arena *arena, vp_str launch);
/* Appends the fields that identify a launch configuration: all except the occupancy, which follows
 * from them. */
int kernel_launch_key(vp_buf *b, vp_str launch);
/* The same for the parsed form; NULL is unknown, and equals only itself. */
bool kernel_launch_same(const vp_kernel_launch *a, const vp_kernel_launch *b);
uint64_t kernel_launch_hash(const vp_kernel_launch *l, uint64_t seed); /* equal for equal
                                                                        * configurations */

/* The part of a kernel's name that shows that it uses tensor cores (NVIDIA) or matrix cores (AMD).
 * It recognizes the words that XProf uses, those of CUTLASS, Hopper and Blackwell, and "MI16x16x16"
 * of Tensile. Empty: unknown; the kernel may still use them, as those of flash attention and Triton
 * do. */
vp_str tensor_core_mark(vp_str kernel);

#endif

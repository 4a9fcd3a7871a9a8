/* An instruction as a line of HLO text: "%dot.3 = f32[8,4]{1,0} dot(%a, %b),
 * lhs_contracting_dims={1}, rhs_contracting_dims={0}". Pages about ops include this.
 *
 * For reading, not for a parser of HLO: of attributes those that tell what it computes, long lists
 * cut and their rest counted, so that a line stays below 64 KiB. Raw: whoever shows it escapes. */
#ifndef VP_READ_HLO_PRINT_H
#define VP_READ_HLO_PRINT_H

#include "trace/base/buf.h"
#include "trace/read/hlo/hlo_program.h"

/* Appends it without a line's end. VP_ENOMEM, VP_ELIMIT: of the buffer. */
int hlo_put_instruction(vp_buf *b, const hlo_program *p, uint32_t instruction);
/* Its shape alone; "(...)" for a tuple that is long. */
int hlo_put_brief_shape(vp_buf *b, const hlo_program *p, uint32_t shape);

#endif

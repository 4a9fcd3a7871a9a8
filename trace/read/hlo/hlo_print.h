/* Prints an instruction as a line of HLO text: "%dot.3 = f32[8,4]{1,0} dot(%a, %b),
 * lhs_contracting_dims={1}, rhs_contracting_dims={0}".
 *
 * The text is for people, not for HLO parsers: it has only attributes that define the computation,
 * and long lists are truncated with a count of the rest, so a line stays below 64 KiB. Names are
 * not escaped; the caller escapes the text. */
#ifndef VP_READ_HLO_PRINT_H
#define VP_READ_HLO_PRINT_H

#include "trace/base/buf.h"
#include "trace/read/hlo/hlo_program.h"

/* Appends the line without a newline. Fails as the buffer does: VP_ENOMEM, VP_ELIMIT. */
int hlo_put_instruction(vp_buf *b, const hlo_program *p, uint32_t instruction);
/* Appends only its shape; "(...)" for a long tuple. */
int hlo_put_brief_shape(vp_buf *b, const hlo_program *p, uint32_t shape);

#endif

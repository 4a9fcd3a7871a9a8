/* Wraps paragraphs for help, man pages and `doctor`. */
#ifndef VP_CLI_WRAP_H
#define VP_CLI_WRAP_H

#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Appends text wrapped at 80 columns, every line indented. */
void cli_wrap(vp_buf *b, vp_str text, size_t indent, size_t width);

#endif

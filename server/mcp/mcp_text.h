/* Marks text from profiles for agents: enclosed in U+27E6 and U+27E7 (which are escaped inside),
 * with control characters escaped as in the terminal, and truncated. A name that looks like an
 * instruction is thereby recognizable as data. */
#ifndef VP_MCP_TEXT_H
#define VP_MCP_TEXT_H

#include "trace/base/buf.h"
#include "trace/base/str.h"

#define MCP_OPEN "\xe2\x9f\xa6"
#define MCP_CLOSE "\xe2\x9f\xa7"
#define MCP_NAME_MAX 160u /* bytes of a marked text, escapes counted */

#define MCP_SAYING_MAX 390u

/* s, truncated to `most` bytes and marked. */
void mcp_put_marked(vp_buf *b, vp_str s, size_t most);
/* Removes the marks from a value that an agent returned. */
vp_str mcp_without_marks(vp_str s);
/* A word of a command line, quoted for a shell if necessary. */
void mcp_put_word(vp_buf *b, const char *word);

#endif

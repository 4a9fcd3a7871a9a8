/* Texts of profiles as agents get them: between U+27E6 and U+27E7, which they cannot hold
 * themselves, escaped as in the terminal, and cut. So a name that reads like an order is seen to be
 * a name. Files of this room include this. */
#ifndef VP_MCP_TEXT_H
#define VP_MCP_TEXT_H

#include "trace/base/buf.h"
#include "trace/base/str.h"

#define MCP_OPEN "\xe2\x9f\xa6"
#define MCP_CLOSE "\xe2\x9f\xa7"
#define MCP_NAME_MAX 160u /* bytes of a marked text, escapes counted */

#define MCP_SAYING_MAX 390u

/* s, marked, of at most `most` bytes and the marks. */
void mcp_put_marked(vp_buf *b, vp_str s, size_t most);
/* What an agent hands back: without the marks, if it has them. */
vp_str mcp_without_marks(vp_str s);
/* A word of a command line, quoted where a shell would take it apart. */
void mcp_put_word(vp_buf *b, const char *word);

#endif

/* A child's JSON as the text of an answer: one JSON object that fits into so many bytes, with as
 * many rows as that leaves room for. Files of this room include this. */
#ifndef VP_MCP_ANSWER_H
#define VP_MCP_ANSWER_H

#include "server/mcp/mcp_tools.h"

#define MCP_BYTES 4096u /* of an answer's text, unless max_bytes says otherwise */

/* VP_EARG: a cursor, path or session that is not there. */
int mcp_answer(vp_buf *out, const mcp_tool *t, json_t *args, json_t *doc, const char *command,
               size_t most, const mcp_options *o);

#endif

/* Builds the text of an answer from the JSON of a child: one JSON object of limited size, with as
 * many rows as fit. */
#ifndef VP_MCP_ANSWER_H
#define VP_MCP_ANSWER_H

#include "server/mcp/mcp_tools.h"

#define MCP_BYTES 4096u /* default maximum size of an answer */

/* VP_EARG: unknown cursor, path or run. */
int mcp_answer(vp_buf *out, const mcp_tool *t, json_t *args, json_t *doc, const char *command,
               size_t most, const mcp_options *o);

#endif

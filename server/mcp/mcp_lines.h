/* Lines of standard input, of bounded length, and messages to standard output. Files of this room
 * include this. */
#ifndef VP_MCP_LINES_H
#define VP_MCP_LINES_H

#include <jansson.h>
#include <stdbool.h>

#include "trace/base/buf.h"

#define MCP_LINE_MAX (1u << 20)

typedef struct mcp_lines {
    vp_buf b;
    size_t taken; /* bytes of b that were given as lines */
    bool ended;   /* the input */
    bool skip;    /* the rest of a line that is too long */
} mcp_lines;

void mcp_lines_init(mcp_lines *l);
/* Reads once; blocks where nothing is there. */
void mcp_lines_read(mcp_lines *l);
/* The next line; true with line.p NULL: one that was too long. Valid until the next read. */
bool mcp_lines_next(mcp_lines *l, vp_str *line);

/* Messages; each takes over result or data, and gives up quietly when nobody reads: then false. */
bool mcp_say_result(json_t *id, json_t *result);
bool mcp_say_error(json_t *id, int code, const char *message, json_t *data);

#endif

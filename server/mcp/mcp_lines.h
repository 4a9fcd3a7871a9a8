/* Reads lines of limited length from standard input and writes messages to standard output. */
#ifndef VP_MCP_LINES_H
#define VP_MCP_LINES_H

#include <jansson.h>
#include <stdbool.h>

#include "trace/base/buf.h"

#define MCP_LINE_MAX (1u << 20)

typedef struct mcp_lines {
    vp_buf b;
    size_t taken; /* bytes of b that were returned as lines */
    bool ended;   /* the input */
    bool skip;    /* the rest of a line that is too long */
} mcp_lines;

void mcp_lines_init(mcp_lines *l);
/* Reads once; blocks if no input is available. */
void mcp_lines_read(mcp_lines *l);
/* The next line; true with line.p NULL for a line that was too long. Valid until the next read. */
bool mcp_lines_next(mcp_lines *l, vp_str *line);

/* Write messages; take ownership of result or data. Return false without an error if standard
 * output is closed. */
bool mcp_say_result(json_t *id, json_t *result);
bool mcp_say_error(json_t *id, int code, const char *message, json_t *data);

#endif

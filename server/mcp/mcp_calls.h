/* Running tool calls: one child process each, several at the same time. */
#ifndef VP_MCP_CALLS_H
#define VP_MCP_CALLS_H

#include <poll.h>

#include "server/mcp/mcp_tools.h"
#include "server/watch/watch_child.h"

#define MCP_CALLS_MAX 8u

typedef struct mcp_call {
    bool used, modern, cancelled;
    json_t *id, *args;
    const char *uri; /* URI of a resource, in args; NULL: a tool call */
    bool listing;    /* of resources */
    const mcp_tool *tool;
    watch_child child;
    vp_buf command; /* as a person types it */
} mcp_call;

/* Starts the tool; args were checked and are retained. VP_EARG: a run or path outside of the
 * directory. */
int mcp_call_start(mcp_call *c, const mcp_tool *t, json_t *args, const mcp_options *o);
/* Reads available output. true: the call has ended and its output is complete. */
bool mcp_call_look(mcp_call *c);
/* The JSON of the call, owned by the caller; NULL: an error was recorded with the message of the
 * program. */
json_t *mcp_call_result(mcp_call *c);
void mcp_call_free(mcp_call *c);

#endif

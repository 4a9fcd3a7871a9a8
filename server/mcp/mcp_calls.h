/* Calls of tools that run: a child each, several at once. Files of this room include this. */
#ifndef VP_MCP_CALLS_H
#define VP_MCP_CALLS_H

#include <poll.h>

#include "server/mcp/mcp_tools.h"
#include "server/watch/watch_child.h"

#define MCP_CALLS_MAX 8u

typedef struct mcp_call {
    bool used, modern, cancelled;
    json_t *id, *args;
    const char *uri; /* of a resource, in args; NULL: a tool's answer */
    bool listing;    /* of resources */
    const mcp_tool *tool;
    watch_child child;
    vp_buf command; /* as a person types it */
} mcp_call;

/* Starts the tool; args are checked and kept. VP_EARG: a session or path that leads elsewhere. */
int mcp_call_start(mcp_call *c, const mcp_tool *t, json_t *args, const mcp_options *o);
/* Reads what came. true: it has ended, and all of its output is there. */
bool mcp_call_look(mcp_call *c);
/* Its JSON, to be freed; NULL: VP_E… was recorded, with what the program said. */
json_t *mcp_call_result(mcp_call *c);
void mcp_call_free(mcp_call *c);

#endif

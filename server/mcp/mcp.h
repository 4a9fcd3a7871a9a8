/* `view_profile mcp`: the Model Context Protocol over standard input and output, for agents. One
 * thread and one poll. Nothing of a profile is read in this process: each call of a tool is a
 * child, the viewer's, with a command line that a person can run as well, and its JSON is shown in
 * part.
 *
 * Revision 2026-07-28, in which each request says its own version, and those from 2024-11-05 on
 * that begin with `initialize`. Texts that come from a profile are marked, escaped and cut
 * (mcp_text.h).
 *
 * server/cli includes this header; the others of this room are its own business. */
#ifndef VP_MCP_MCP_H
#define VP_MCP_MCP_H

#include <stdbool.h>

typedef struct mcp_options {
    const char *program;     /* view_profile's path */
    const char *profile_dir; /* nothing else is read; NULL: the current directory */
    bool allow_capture;
} mcp_options;

/* Until standard input ends and all calls are answered. VP_EARG, VP_ENOTFOUND: the directory. */
int mcp_serve(const mcp_options *o);

#endif

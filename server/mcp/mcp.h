/* `view_profile mcp`: the Model Context Protocol on standard input and output. One thread with one
 * poll loop. No profile is parsed in this process: each tool call runs a child process with a
 * command line that a person can also run, and returns a part of its JSON.
 *
 * Supported are revision 2026-07-28, in which each request carries its version, and the revisions
 * from 2024-11-05 on that begin with `initialize`. Text from profiles is marked, escaped and
 * truncated (mcp_text.h). This is the public header of the module. */
#ifndef VP_MCP_MCP_H
#define VP_MCP_MCP_H

#include <stdbool.h>

typedef struct mcp_options {
    const char *program;     /* path of view_profile */
    const char *profile_dir; /* the only directory that is read; NULL: the current directory */
    bool allow_capture;
} mcp_options;

/* Runs until standard input ends and all calls are answered. VP_EARG, VP_ENOTFOUND: invalid
 * directory. */
int mcp_serve(const mcp_options *o);

#endif

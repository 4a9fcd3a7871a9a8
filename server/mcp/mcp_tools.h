/* The tools: what each takes, which command line it runs, and what of its JSON is shown. A tool is
 * one row of a table. Files of this room include this. */
#ifndef VP_MCP_TOOLS_H
#define VP_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/mcp/mcp.h"
#include "trace/base/buf.h"

typedef enum mcp_kind {             /* of a figure, by which it is shown */
                        MCP_NAME,   /* text of a profile: marked */
                        MCP_SAYING, /* the same, of up to 390 bytes */
                        MCP_WORD,   /* our own word */
                        MCP_MS,     /* ps, in ms */
                        MCP_US,
                        MCP_PERCENT, /* of a share */
                        MCP_NUMBER,
                        MCP_COUNT,   /* how many a list has */
                        MCP_SECONDS, /* ns since 1970, as a date */
} mcp_kind;

typedef struct mcp_column {
    const char *title, *at; /* what it is called, with unit and denominator; "impact.time_ps" */
    mcp_kind kind;
} mcp_column;

typedef enum mcp_arg_type { MCP_TEXT, MCP_WHOLE, MCP_CHOICE } mcp_arg_type;

typedef struct mcp_arg {
    const char *name, *option; /* option NULL: an operand; "": the tool's own affair */
    mcp_arg_type type;
    bool needed;
    const char *choices; /* "a|b" */
    const char *help;
} mcp_arg;

#define MCP_ARGS_MAX 9
#define MCP_COLUMNS_MAX 16

/* Rows that the argument `of` chooses. In `rows`, % is the argument `number`, else 0. */
typedef struct mcp_view {
    const char *word, *rows;
    mcp_column columns[MCP_COLUMNS_MAX];
} mcp_view;

typedef struct mcp_tool {
    const char *name, *title, *about;
    const char *const command[4]; /* the words before the arguments */
    mcp_arg args[MCP_ARGS_MAX];   /* beside cursor and max_bytes */
    const char *rows;             /* where the rows lie; NULL: none, or in views */
    const mcp_view *views;        /* the first is the usual one; ends with a word of NULL */
    const char *only_at, *only;   /* rows whose word there is this; NULL: all */
    const char *only_arg;         /* or is that argument */
    mcp_column head[MCP_COLUMNS_MAX], columns[MCP_COLUMNS_MAX];
    bool writes, links;
} mcp_tool;

extern const mcp_tool mcp_tools[]; /* ends with a name of NULL */

const mcp_tool *mcp_tool_named(const char *name, const mcp_options *o);
/* The object for tools/list. */
json_t *mcp_tool_object(const mcp_tool *t);
/* 0, or VP_EARG with what is wrong with the arguments, in words for the agent. */
int mcp_check_args(const mcp_tool *t, json_t *args);

#endif

/* The table of tools: arguments, the command line to run, and the parts of its JSON to return. */
#ifndef VP_MCP_TOOLS_H
#define VP_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/mcp/mcp.h"
#include "trace/base/buf.h"

typedef enum mcp_kind {             /* kind of a value, which determines its format */
                        MCP_NAME,   /* text of a profile: marked */
                        MCP_SAYING, /* the same, of up to 390 bytes */
                        MCP_WORD,   /* a fixed word */
                        MCP_MS,     /* ps, in ms */
                        MCP_US,
                        MCP_PERCENT, /* of a share */
                        MCP_NUMBER,
                        MCP_COUNT,   /* number of elements of a list */
                        MCP_SECONDS, /* ns since 1970, as a date */
} mcp_kind;

typedef struct mcp_column {
    const char *title, *at; /* title with unit and denominator; path such as "impact.time_ps" */
    mcp_kind kind;
} mcp_column;

typedef enum mcp_arg_type { MCP_TEXT, MCP_WHOLE, MCP_CHOICE } mcp_arg_type;

typedef struct mcp_arg {
    const char *name, *option; /* option NULL: an operand; "": used by the tool itself */
    mcp_arg_type type;
    bool needed;
    const char *choices; /* "a|b" */
    const char *help;
} mcp_arg;

#define MCP_ARGS_MAX 9
#define MCP_COLUMNS_MAX 16

/* Rows selected by the argument `of`. In `rows`, % is replaced by the argument `number`, default 0.
 */
typedef struct mcp_view {
    const char *word, *rows;
    mcp_column columns[MCP_COLUMNS_MAX];
} mcp_view;

typedef struct mcp_tool {
    const char *name, *title, *about;
    const char *const command[4]; /* the command, before the arguments */
    mcp_arg args[MCP_ARGS_MAX];   /* in addition to cursor and max_bytes */
    const char *rows;             /* path of the rows; NULL: none, or in views */
    const mcp_view *views;        /* the first is the default; ends with a NULL word */
    const char *only_at, *only;   /* only rows with this value at only_at; NULL: all */
    const char *only_arg;         /* or with the value of this argument */
    mcp_column head[MCP_COLUMNS_MAX], columns[MCP_COLUMNS_MAX];
    bool writes, links;
} mcp_tool;

extern const mcp_tool mcp_tools[]; /* ends with a name of NULL */

const mcp_tool *mcp_tool_named(const char *name, const mcp_options *o);
/* The object for tools/list. */
json_t *mcp_tool_object(const mcp_tool *t);
/* 0, or VP_EARG with a message for the agent. */
int mcp_check_args(const mcp_tool *t, json_t *args);

#endif

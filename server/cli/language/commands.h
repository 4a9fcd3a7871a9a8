/* The command line. One table of commands and one of options (table.h) drive parsing, --help, the
 * man pages and the completions. server/cli may depend on every other module, and no module
 * depends on it. Documents go to stdout, everything else to stderr as "view_profile: …" lines.
 *
 * This header lists the commands, their bits and the functions that run them. */
#ifndef VP_CLI_COMMANDS_H
#define VP_CLI_COMMANDS_H

#include "server/cli/language/cli_options.h"
#include "server/cli/language/exit_codes.h"

/* Every command with its bit and function. The order matters only for the bits. */
#define CLI_COMMANDS(X)                                                                            \
    X(SERVE, serve)                                                                                \
    X(LIST, list)                                                                                  \
    X(TOP, top)                                                                                    \
    X(REPORT, report)                                                                              \
    X(EXTRACT, extract)                                                                            \
    X(HELP, help)                                                                                  \
    X(FINDINGS, findings)                                                                          \
    X(COMPARE, compare)                                                                            \
    X(MERGE, merge)                                                                                \
    X(TREND, trend)                                                                                \
    X(DOCTOR, doctor)                                                                              \
    X(RECORD, record)                                                                              \
    X(RECOVER, recover)                                                                            \
    X(EXPORT, export)                                                                              \
    X(CAPTURE, capture)                                                                            \
    X(WATCH, watch)                                                                                \
    X(MCP, mcp)                                                                                    \
    X(MEMORY, memory)
#define CLI_COMMAND_AT(name, run) CLI_##name##_AT,
#define CLI_COMMAND_BIT(name, run) CLI_##name = 1 << CLI_##name##_AT,
enum { CLI_COMMANDS(CLI_COMMAND_AT) CLI_COMMAND_COUNT };
enum { CLI_COMMANDS(CLI_COMMAND_BIT) };
enum {
    CLI_READERS = CLI_SERVE | CLI_LIST | CLI_TOP | CLI_REPORT | CLI_FINDINGS | CLI_MEMORY |
                  CLI_EXTRACT | CLI_EXPORT,
    CLI_ONE_RUN =
        CLI_TOP | CLI_REPORT | CLI_FINDINGS | CLI_MEMORY, /* commands that analyze one run */
    CLI_OF_SESSION = CLI_ONE_RUN | CLI_EXPORT,
    CLI_OF_PATHS = CLI_OF_SESSION | CLI_LIST,                  /* operands are paths and a run */
    CLI_OF_REPORTS = CLI_COMPARE | CLI_MERGE | CLI_TREND,      /* operands are runs and reports */
    CLI_PRINTERS = CLI_LIST | CLI_OF_SESSION | CLI_OF_REPORTS, /* write one document to --output */
    CLI_TALKERS =
        CLI_READERS | CLI_OF_REPORTS | CLI_RECORD | CLI_RECOVER | CLI_CAPTURE | CLI_WATCH | CLI_MCP,
    CLI_EVERY = (1 << CLI_COMMAND_COUNT) - 1
};

/* Each returns an exit code. */
#define CLI_COMMAND_RUN(name, run) int cli_run_##run(const cli_options *o);
CLI_COMMANDS(CLI_COMMAND_RUN)

/* The part of `help` that generates files of docs/. */
int cli_run_docs(const cli_options *o);

#endif

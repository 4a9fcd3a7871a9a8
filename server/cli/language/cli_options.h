/* The parsed command line, as commands receive it. Strings belong to argv. */
#ifndef VP_CLI_CLI_OPTIONS_H
#define VP_CLI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of occurrences of a list option (--allow-host). */
#define CLI_LIST_MAX 16

typedef struct cli_list {
    const char *items[CLI_LIST_MAX];
    size_t n;
} cli_list;

/* Positions in the words of --ui, --to, --access-log-format and --color; --group, --by, --unit and
 * --format follow the enums of view_profile.h. */
enum { CLI_UI_BOTH, CLI_UI_PERFETTO, CLI_UI_TENSORBOARD, CLI_UI_NONE };
enum { CLI_TO_PFTRACE, CLI_TO_JSON, CLI_TO_BUNDLE, CLI_TO_FOLDED, CLI_TO_SPEEDSCOPE };
enum { CLI_LOG_COMBINED, CLI_LOG_JSON };
enum { CLI_MERGE_RANKS_YES, CLI_MERGE_RANKS_NO };
enum { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };

typedef struct cli_command cli_command;

typedef struct cli_options {
    const cli_command *command;
    bool named;          /* the command was typed, not assumed */
    const char *program; /* path of the running executable, from /proc/self/exe */
    char **operands;     /* as typed, in order: usually PATH and RUN */
    size_t operand_count;
    const char *path; /* the profile directory; NULL: search for one */
    char **paths;     /* several paths, of which path is the first; NULL: only that one */
    size_t path_count;
    const char *session; /* key of a run; NULL: the latest */
    bool help, version;
    bool verbose, quiet;
    int64_t color, unit, jobs;
    const char *max_memory;

    const char *profile_dir;
    bool no_sign_request;
    int64_t top; /* -1: not given */
    int64_t by, group, where, format;
    int64_t merge_ranks; /* CLI_MERGE_RANKS_… */
    bool force;          /* merge */
    const char *device, *host, *out;
    const char *chip, *peak_tflops, *peak_gbs, *params, *tokens; /* report, findings */
    const char *fail_on;                                         /* "high,F10"; NULL: no gate */
    const char *max_regression, *max_p90_regression, *fail_on_peak, *append;
    bool allow_unverified;       /* compare */
    cli_list base, new_captures; /* compare: captures of a side */

    int64_t ui;
    int64_t port;          /* -1: not given */
    int64_t step;          /* -1: all */
    char step_series[128]; /* empty: any */
    const char *steps_by;
    int64_t tensorboard_port;
    bool outermost;
    bool bind_all, extract, list_only, no_browser, tensorboard_in_place, tensorboard_unguarded;
    bool no_sandbox, no_capture, offline;
    const char *bind_host, *perfetto_ui, *token_file;
    const char *listen; /* "unix:PATH" */
    const char *path_prefix, *access_log, *source_root;
    int64_t access_log_format;
    cli_list allow_host, allow_origin;

    const char *steps, *ring, *dir; /* record */
    bool gpu, functions;
    bool remove; /* recover */

    const char *duration, *name, *hosts_file, *patience; /* capture, watch */
    int64_t host_tracer, device_tracer, parallel;
    bool python_tracer, look, kineto;
    cli_list option; /* KEY=VALUE */

    int64_t to; /* export */
    const char *window;
    int64_t max_events; /* 0: all */

    bool allow_capture; /* mcp */

    const char *every, *baseline, *on_regression; /* watch */
    int64_t keep, times;
    cli_list on_regression_arg;

    const char *print_man, *print_completion, *print_schema;
    bool print_findings, print_reference;
} cli_options;

#endif

/* The command line: one table of commands and one of options drive parsing, --help, the man pages
 * and the completions. This room may include every other; nobody includes it. Data goes to stdout,
 * everything else to stderr as "view_profile: …" lines. Strings in cli_options belong to argv. */
#ifndef VP_CLI_CLI_H
#define VP_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/base/limits.h"
#include "trace/model/catalog.h"

/* Exit codes: DESIGN 5. */
enum {
    CLI_OK = 0,
    CLI_GATE = 1,
    CLI_USAGE = 2,
    CLI_UNREADABLE = 3,
    CLI_NOT_FOUND = 4,
    CLI_CANNOT_SERVE = 5,
    CLI_CAPTURE = 6,
    CLI_INTERRUPTED = 130
};

/* Rows of the table of options. */
#define CLI_OPTIONS_MAX 128
/* How often a list option (--allow-host) may be given. */
#define CLI_LIST_MAX 16

typedef struct cli_list {
    const char *items[CLI_LIST_MAX];
    size_t n;
} cli_list;

/* Positions in the words of the --ui, --color, --format options; --group, --by, --unit and
 * --format follow the enums of view_profile.h. */
enum { CLI_UI_BOTH, CLI_UI_PERFETTO, CLI_UI_TENSORBOARD, CLI_UI_NONE };
enum { CLI_LOG_COMBINED, CLI_LOG_JSON };
enum { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };

typedef struct cli_command cli_command;

typedef struct cli_options {
    const cli_command *command;
    bool named;      /* the command was typed, not assumed */
    char **operands; /* as typed, in order: mostly PATH and SESSION */
    size_t operand_count;
    const char *path;    /* the profile directory; NULL: look for one */
    const char *session; /* key of a session; NULL: the latest */
    bool help, version;
    bool verbose, quiet;
    int64_t color, unit, jobs;
    const char *max_memory;

    const char *profile_dir;
    int64_t top; /* -1: not given */
    int64_t by, group, where, format;
    const char *device, *host, *out;
    const char *fail_on; /* "high,F10"; NULL: no gate */
    const char *max_regression, *max_p90_regression, *append;

    int64_t ui;
    int64_t port; /* -1: not given */
    int64_t step; /* -1: all */
    int64_t tensorboard_port;
    bool bind_all, extract, list_only, no_browser, tensorboard_in_place, tensorboard_unguarded;
    bool no_sandbox;
    const char *bind_host, *perfetto_ui, *token_file;
    const char *listen; /* "unix:PATH" */
    const char *path_prefix, *access_log;
    int64_t access_log_format;
    cli_list allow_host, allow_origin;

    const char *steps, *ring, *dir; /* record */
    bool gpu, functions;
    bool remove; /* recover */

    const char *print_man, *print_completion;
    bool print_findings;
} cli_options;

struct cli_command {
    const char *name;
    unsigned bit;
    const char *operands; /* as in the usage line */
    size_t operand_max, operand_min;
    const char *summary;     /* one line, no capital, no full stop */
    const char *description; /* paragraphs, '\n' between them */
    const char *examples;    /* lines of "COMMAND LINE\tWHAT IT DOES" */
};

/* Every command: its bit, and what runs it. Their order is that of the bits alone. */
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
    X(RECOVER, recover)
#define CLI_COMMAND_AT(name, run) CLI_##name##_AT,
#define CLI_COMMAND_BIT(name, run) CLI_##name = 1 << CLI_##name##_AT,
enum { CLI_COMMANDS(CLI_COMMAND_AT) CLI_COMMAND_COUNT };
enum { CLI_COMMANDS(CLI_COMMAND_BIT) };
enum {
    CLI_READERS = CLI_SERVE | CLI_LIST | CLI_TOP | CLI_REPORT | CLI_FINDINGS | CLI_EXTRACT,
    CLI_ONE_RUN = CLI_TOP | CLI_REPORT | CLI_FINDINGS,      /* commands on one session */
    CLI_OF_REPORTS = CLI_COMPARE | CLI_MERGE | CLI_TREND,   /* operands are runs and reports */
    CLI_PRINTERS = CLI_LIST | CLI_ONE_RUN | CLI_OF_REPORTS, /* one document to --output */
    CLI_TALKERS = CLI_READERS | CLI_OF_REPORTS | CLI_RECORD | CLI_RECOVER,
    CLI_EVERY = (1 << CLI_COMMAND_COUNT) - 1
};

typedef enum cli_type { CLI_FLAG, CLI_NUMBER, CLI_TEXT, CLI_WORD, CLI_WORDS } cli_type;

typedef struct cli_option {
    const char *name;  /* without "--" */
    char letter;       /* "-o"; 0: none */
    const char *value; /* what the value is called: "DIR"; for CLI_WORD the words: "a|b|c" */
    cli_type type;
    unsigned commands;
    size_t offset;       /* in cli_options */
    int64_t min, max;    /* CLI_NUMBER */
    const char *initial; /* as typed; NULL: zero */
    const char *help;    /* one sentence, no full stop; NULL: hidden */
} cli_option;

/* Each returns an exit code. */
#define CLI_COMMAND_RUN(name, run) int cli_run_##run(const cli_options *o);
CLI_COMMANDS(CLI_COMMAND_RUN)

extern const cli_command cli_commands[];    /* ends with a NULL name; the first is the default */
extern const cli_option cli_option_table[]; /* ends with a NULL name */

extern const char *const cli_about;         /* what the program is for */
extern const char *const cli_environment[]; /* "NAME\twhat it changes", NULL-terminated */
/* The same of one command; NULL: none of its own. */
const char *const *cli_environment_of(const cli_command *c);
extern const char *const cli_exit_codes[]; /* "0\tsuccess", NULL-terminated */

const cli_command *cli_command_named(const char *name); /* NULL: no such command */

/* ---- arguments.c ---- */
/* Parses argv. 0, or CLI_USAGE after one line on stderr that names the option. */
int cli_parse(cli_options *o, int argc, char **argv);
/* The number of words in "a|b|c", and the i-th. */
size_t cli_word_count(const char *words);
vp_str cli_word(const char *words, size_t i);
/* The candidate nearest to a mistyped word, or NULL when none is near. */
const char *cli_nearest(vp_str word, const char *(*candidate)(void *ctx, size_t i), void *ctx);

/* ---- help.c, man.c, completion.c ---- */
int cli_print_help(const cli_command *c); /* NULL: overall. Returns an exit code. */
/* Appends text wrapped at 80 columns, every line indented. */
void cli_wrap(vp_buf *b, vp_str text, size_t indent, size_t width);
int cli_print_man(const char *command);      /* Markdown for pandoc */
int cli_print_completion(const char *shell); /* "bash" or "zsh" */

/* ---- standard_out.c ---- */
/* A failure (vp_error_last) as one line on stderr; returns its exit code. */
int cli_fail(int rc);
/* A stream onto stdout. */
void cli_stdout(vp_buf *b);
/* Flushes and frees; returns an exit code. Failures to write are reported. */
int cli_finish(vp_buf *b);
/* A file that appears whole or not at all; NULL or "-" is stdout. Pipes and devices are written to,
 * never replaced. */
typedef struct cli_file {
    vp_buf buf;
    int fd;
    const char *path;                                 /* NULL: stdout */
    char target[VP_PATH_MAX], temp[VP_PATH_MAX + 32]; /* temp "": path is written to as it is */
} cli_file;
int cli_file_open(cli_file *f, const char *path);
/* With rc < 0 (what the writer returned) the file is dropped. Returns rc or the first failure. */
int cli_file_close(cli_file *f, int rc);

/* ---- term.c ---- */
int cli_width(void); /* columns of stdout: $COLUMNS, the terminal, or 100 */
bool cli_color(const cli_options *o);

/* Progress on stderr, when that is a terminal and not --quiet; cleared by cli_progress_end. */
typedef struct cli_progress {
    const char *what; /* "reading" */
    bool on;
    int64_t start_ns;
    _Atomic bool drawn; /* readers of several files report from several threads */
    _Atomic int64_t last_ns;
} cli_progress;
void cli_progress_begin(cli_progress *p, const cli_options *o, const char *what);
int cli_progress_bytes(void *p, int64_t done, int64_t total); /* a vp_progress_fn */
int cli_progress_entries(void *p, int64_t done, int64_t total);
void cli_progress_clear(cli_progress *p); /* for a line in between */
void cli_progress_end(cli_progress *p);

/* ---- profile_dir.c ---- */
/* The newest of ./profiles/x/, ./profiles/x/y/ and ./x/profiles/y/, else "."; vp_free. NULL: no
 * memory. */
char *cli_default_dir(void);

/* ---- open.c ---- */
/* Scans o->path or the default directory with progress; counts on stderr what was not readable.
 * A catalog without sessions is not an error here. */
int cli_open(catalog **out, const cli_options *o);
/* A path that is not there, where no command was typed, may be a mistyped command: says so.
 * Returns rc. */
int cli_maybe_command(const cli_options *o, int rc);
/* 0, or the failure that says why nothing in the catalog can be read. */
int cli_readable(const catalog *c);
/* Says why there is no timeline to list or unpack; returns the exit code. */
int cli_no_timeline(const catalog *c);
void cli_catalog_free(catalog **c); /* for VP_CLEANUP */
/* The session of o->session, or the latest; NULL after a failure was recorded. */
const cat_session *cli_session(const catalog *c, const cli_options *o);
/* Analyses the chosen session with progress. */
int cli_analyze(vp_report **out, const catalog *c, const cli_options *o);
/* How o wants a report shown; top is 0 (all) or the rows. */
void cli_view(vp_view *v, const cli_options *o, size_t default_top);
/* The path of a file as the user would type it: DIR/FILE, ARCHIVE!MEMBER. */
int cli_put_path(vp_buf *b, const catalog *c, const cat_file *f);

/* ---- input.c ---- */
/* The report of an operand: a report in JSON ("-": from standard input), a path whose latest
 * session is analysed, or the key of a session in the profile directory. */
int cli_input(vp_report **out, const char *operand, const cli_options *o);

/* ---- find_recorder.c ---- */
#define CLI_RECORDER "libview_profile_capture.so"
/* Where a library of ours lies: beside this program, as it was built, or where it was installed.
 * VP_ENOTFOUND. */
int cli_find_library(char out[VP_PATH_MAX], const char *name);
/* vp_recover of the recorder's library. */
struct vp_result;
int cli_recover(struct vp_result *out, const char *path, const char *dir);

/* ---- commands: one file each; exit codes ---- */
size_t cli_default_rows(const cli_options *o); /* 20 for reading, all for machines */
typedef int cli_writer(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format);
cli_writer cli_write_report;
/* A command on one run: opens, analyses, writes `rows` rows (0: all), and holds it against
 * --fail-on. Returns an exit code. */
int cli_show_run(const cli_options *o, size_t rows, cli_writer *write);
/* Whether every word of --fail-on (NULL: none) is known: 0, or CLI_USAGE after a line on stderr. */
int cli_check_fail_on(const char *words);
/* CLI_GATE after a line on stderr when a finding that fired is named by these words, else 0. */
int cli_fail_on(const vp_report *r, const char *words);
/* `--list-only`: the original viewer's texts. Returns an exit code. */
int cli_list_only(const catalog *c);
/* Extracts every timeline into `dir` (made when missing, else empty) or, when NULL, into a fresh
 * temporary directory whose path goes to out (VP_PATH_MAX). Prints the original's texts.
 * Returns an exit code: CLI_UNREADABLE when a damaged file was left out. */
int cli_extract_all(const catalog *c, const cli_options *o, const char *dir, char *out);

#endif

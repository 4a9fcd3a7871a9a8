/* The terminal: width, colors, hyperlinks, and the progress line on stderr. */
#ifndef VP_CLI_TERM_H
#define VP_CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "server/cli/language/cli_options.h"

int cli_width(void); /* columns of stdout: $COLUMNS, the terminal, or 100 */
bool cli_color(const cli_options *o);
/* True if stdout is a color terminal that is known to support hyperlinks (OSC 8). */
bool cli_links(const cli_options *o);

/* Progress on stderr, if it is a terminal and --quiet is not given; cleared by cli_progress_end. */
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
void cli_progress_text(cli_progress *p, const char *text); /* at most 180 bytes of it */
void cli_progress_clear(cli_progress *p);                  /* clears the line, to print a message */
void cli_progress_end(cli_progress *p);

#endif

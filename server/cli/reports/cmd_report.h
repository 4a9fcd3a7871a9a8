/* Shared by the commands that print reports: `top`, `report`, `findings`, `memory` and `merge`. */
#ifndef VP_CLI_CMD_REPORT_H
#define VP_CLI_CMD_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"
#include "trace/base/buf.h"

size_t cli_default_rows(const cli_options *o); /* 20 for text and HTML, all for machine formats */
typedef int cli_writer(vp_buf *b, const vp_report *r, const vp_view *v, int64_t format);
cli_writer cli_write_report;
/* Runs a command on one run: opens and analyzes it, writes `rows` rows (0: all), and applies
 * --fail-on. Returns an exit code. */
int cli_show_run(const cli_options *o, size_t rows, cli_writer *write);

#endif

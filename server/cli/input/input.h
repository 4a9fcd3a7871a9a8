/* Turns an operand of `compare`, `merge` or `trend` into a report: reads a report, or analyzes a
 * run. The caller frees the report. */
#ifndef VP_CLI_INPUT_H
#define VP_CLI_INPUT_H

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"

/* The report of an operand: a JSON report ("-": from standard input), a path whose latest run is
 * analyzed, or the key of a run in the profile directory. */
int cli_input(vp_report **out, const char *operand, const cli_options *o);

#endif

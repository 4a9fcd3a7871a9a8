/* `compare` where the operands are results of benchmarks, and the formats that both kinds of
 * comparison have. */
#ifndef VP_CLI_COMPARE_RESULTS_H
#define VP_CLI_COMPARE_RESULTS_H

#include <stdbool.h>

#include "server/cli/gates/compare_gate.h"
#include "server/cli/language/cli_options.h"

/* In the order of --format's words. */
enum { COMPARE_TEXT, COMPARE_JSON, COMPARE_CSV, COMPARE_HTML, COMPARE_MD, COMPARE_JUNIT };

/* Whether an operand holds results of a benchmark. */
bool compare_has_results(const cli_options *o);
/* One operand: its methods; two: A's against B's. Returns an exit code. */
int compare_results(const cli_options *o, const compare_gate *g);

#endif

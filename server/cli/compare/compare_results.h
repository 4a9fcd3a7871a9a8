/* `compare` for benchmark results, and the output formats that both kinds of comparison share. */
#ifndef VP_CLI_COMPARE_RESULTS_H
#define VP_CLI_COMPARE_RESULTS_H

#include <stdbool.h>

#include "server/cli/gates/compare_gate.h"
#include "server/cli/language/cli_options.h"

/* In the order of the choices of --format. */
enum { COMPARE_TEXT, COMPARE_JSON, COMPARE_CSV, COMPARE_HTML, COMPARE_MD, COMPARE_JUNIT };

/* True if an operand is a benchmark result. */
bool compare_has_results(const cli_options *o);
/* Compares the methods of one operand, or those of A with those of B. Returns an exit code. */
int compare_results(const cli_options *o, const compare_gate *g);

#endif

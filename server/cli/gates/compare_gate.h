/* What --max-regression, --fail-on-peak and --fail-on of `view_profile compare` ask of a
 * comparison: of profiles (cmd_compare.c) and of benchmarks' results (compare_results.c). Included
 * by server/cli only. */
#ifndef VP_CLI_COMPARE_GATE_H
#define VP_CLI_COMPARE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"

/* What must hold, from the command line. NAN: no such limit. */
typedef struct compare_gate {
    double median_percent, p90_percent, peak_percent;
    bool on_regression, on_unverified;
    cli_list findings; /* words for findings_word_matches */
    char *words;       /* owns them; vp_free, also after a failure */
} compare_gate;

/* 0, or the exit code after a line on stderr. */
int compare_gate_parse(compare_gate *g, const cli_options *o);
/* B is longer than A by more than this and by more than the noise. */
bool compare_exceeds(const vp_delta *d, double percent, int64_t threshold_ps);

#endif

/* The gate options of `compare` (--max-regression, --fail-on-peak, --fail-on), for comparisons of
 * profiles (cmd_compare.c) and of benchmark results (compare_results.c). Parsing fails with
 * CLI_USAGE after printing an error; the caller frees the words. */
#ifndef VP_CLI_COMPARE_GATE_H
#define VP_CLI_COMPARE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "include/view_profile.h"
#include "server/cli/language/cli_options.h"

/* The limits of the command line. NAN: no limit. */
typedef struct compare_gate {
    double median_percent, p90_percent, peak_percent;
    bool on_regression, on_unverified;
    bool allow_unverified; /* a limit that cannot be checked is a warning, not CLI_UNREADABLE */
    cli_list findings;     /* for findings_word_matches */
    char *words;           /* storage of the words; free with vp_free, also after a failure */
} compare_gate;

/* 0, or an exit code after printing an error. */
int compare_gate_parse(compare_gate *g, const cli_options *o);
/* A limit is checked that needs step times. */
bool compare_gate_needs_steps(const compare_gate *g);
/* Reports that a limit cannot be checked, why, and what to do. Returns CLI_UNREADABLE, or CLI_OK if
 * that is allowed. */
int compare_gate_unverified(const compare_gate *g, const char *option, const char *why,
                            const char *what_to_do);
/* True if B is longer than A by more than this and by more than the noise. */
bool compare_exceeds(const vp_delta *d, double percent, int64_t threshold_ps);

#endif

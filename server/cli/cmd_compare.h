/* The parts of `view_profile compare`: of profiles (cmd_compare.c) and of benchmarks' results
 * (compare_results.c), held against one gate (compare_gate.c). Nobody else includes this. */
#ifndef VP_CLI_CMD_COMPARE_H
#define VP_CLI_CMD_COMPARE_H

#include "server/cli/cli.h"

/* In the order of --format's words. */
enum { COMPARE_TEXT, COMPARE_JSON, COMPARE_CSV, COMPARE_HTML, COMPARE_MD, COMPARE_JUNIT };

/* What must hold, from the command line. NAN: no such limit. */
typedef struct compare_gate {
    double median_percent, p90_percent;
    bool on_regression, on_unverified;
    cli_list findings; /* words for findings_word_matches */
    char *words;       /* owns them; vp_free, also after a failure */
} compare_gate;

/* 0, or the exit code after a line on stderr. */
int compare_gate_parse(compare_gate *g, const cli_options *o);
/* B is longer than A by more than this and by more than the noise. */
bool compare_exceeds(const vp_delta *d, double percent, int64_t threshold_ps);

/* Whether an operand holds results of a benchmark. */
bool compare_has_results(const cli_options *o);
/* One operand: its methods; two: A's against B's. Returns an exit code. */
int compare_results(const cli_options *o, const compare_gate *g);

#endif

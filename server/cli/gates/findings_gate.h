/* --fail-on: which findings make a command fail. */
#ifndef VP_CLI_FINDINGS_GATE_H
#define VP_CLI_FINDINGS_GATE_H

#include "include/view_profile.h"

/* Whether every word of --fail-on (NULL: none) is known: 0, or CLI_USAGE after a line on stderr. */
int cli_check_fail_on(const char *words);
/* CLI_GATE after a line on stderr when a finding that fired is named by these words, else 0. */
int cli_fail_on(const vp_report *r, const char *words);

#endif

/* --fail-on of `findings`: decides which findings make the command fail. */
#ifndef VP_CLI_FINDINGS_GATE_H
#define VP_CLI_FINDINGS_GATE_H

#include "include/view_profile.h"

/* Checks every word of --fail-on (NULL: none). 0, or CLI_USAGE after printing an error. */
int cli_check_fail_on(const char *words);
/* Returns CLI_GATE after printing an error if a finding matches one of the words, else 0. */
int cli_fail_on(const vp_report *r, const char *words);

#endif

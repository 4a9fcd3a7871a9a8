/* Functions of the user's program on the thread that launches modules, and how long the program
 * would take without each (docs/reference/links.md#replay). Rows go into the host's result. */
#ifndef VP_ANALYZE_USER_FUNCTIONS_H
#define VP_ANALYZE_USER_FUNCTIONS_H

#include "trace/analyze/result/analysis.h"

/* Fills h->replays and h->user_functions, if the launches of the runs are known. Needs steps.
 * VP_ENOMEM, VP_ELIMIT. */
int user_functions_collect(analysis *a);

#endif

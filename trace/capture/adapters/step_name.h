/* Which ranges of a program that does not know us are its training steps. Told by names alone:
 *
 * 1. A name that ends in a number and says before it that this counts steps: "step 7", "Step #7",
 *    "train_step_7", "ProfilerStep#7", "iteration 7", "iter: 7". The number is the step's.
 * 2. Without such names: the first name that comes a second time as the outermost range of a
 *    thread. Its ranges are counted from 0, so the second one is step 1.
 *
 * As soon as rule 1 finds one, rule 2 is over. Only this room includes it.
 *
 * Steps of an NVTX program are ranges named like steps ("step 7"), else the first range that comes
 * a second time as the outermost one of its thread; a step is called by its name without the
 * number, so that all steps are one name. Captures of steps begin and end on the thread that steps;
 * their files are waited for on another, so that neither the program nor the socket stands still.
 */
#ifndef VP_CAPTURE_STEP_NAME_H
#define VP_CAPTURE_STEP_NAME_H

#include <stdatomic.h>

#include "trace/base/str.h"

/* Rule 1. */
bool step_number(vp_str name, uint64_t *number);
/* The name without its number: "Step #7" is "Step". */
vp_str step_name(vp_str name);
/* Whether a name without a number is a step's ("step", "train step"): then a number that is told
 * beside it is that of the step. */
bool step_word(vp_str name);

/* Rule 2: the hashes of names that were outermost, and how often each came. All threads share it.
 */
#define STEP_NAMES_MAX 64u
typedef struct step_rule {
    _Atomic uint64_t names[STEP_NAMES_MAX]; /* 0: free; once full, no further name is a step */
    _Atomic uint64_t counts[STEP_NAMES_MAX];
    _Atomic uint64_t chosen; /* the step's, 0: not found yet */
    _Atomic bool numbered;   /* rule 1 has found a step */
} step_rule;
/* Whether this range is a step, and which. outermost: no other range of its thread is open. */
bool step_of_range(step_rule *r, vp_str name, bool outermost, uint64_t *number);

#endif

/* Detects training steps among the ranges of a program that does not use our API, by name:
 *
 * 1. A name that ends in a number after a word for steps: "step 7", "Step #7", "train_step_7",
 * "ProfilerStep#7", "iteration 7", "iter: 7". The number is the step's.
 * 2. Without such names: the first name that occurs a second time as the outermost range of a
 * thread. Its ranges are counted from 0, so the second one is step 1.
 *
 * As soon as rule 1 finds a step, rule 2 is disabled. Steps are named without their number, so that
 * all steps share one name. Captures of steps begin and end on the thread that steps; another
 * thread waits for their files, so that neither the program nor the socket is blocked. Private to
 * this module. Nothing is allocated. */
#ifndef VP_CAPTURE_STEP_NAME_H
#define VP_CAPTURE_STEP_NAME_H

#include <stdatomic.h>

#include "trace/base/str.h"

/* Rule 1. */
bool step_number(vp_str name, uint64_t *number);
/* The name without its number: "Step #7" gives "Step". */
vp_str step_name(vp_str name);
/* True if a name without a number is a step's ("step", "train step"); then a number passed with it
 * is that of the step. */
bool step_word(vp_str name);

/* State of rule 2: hashes of outermost names, with their counts. Shared by all threads. */
#define STEP_NAMES_MAX 64u
typedef struct step_rule {
    _Atomic uint64_t names[STEP_NAMES_MAX]; /* 0: free; when full, no further name can be a step */
    _Atomic uint64_t counts[STEP_NAMES_MAX];
    _Atomic uint64_t chosen; /* hash of the step's name, 0: not found yet */
    _Atomic bool numbered;   /* rule 1 has found a step */
} step_rule;
/* True if this range is a step, with its number. outermost: no other range of its thread is
 * open. */
bool step_of_range(step_rule *r, vp_str name, bool outermost, uint64_t *number);

#endif

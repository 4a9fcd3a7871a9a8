/* Functions of a program that was compiled with -finstrument-functions: the compiler calls in on
 * their entry and exit, and each becomes a zone that is named by its symbol. Only this room, its
 * library and tests include it. */
#ifndef VP_CAPTURE_INSTRUMENT_H
#define VP_CAPTURE_INSTRUMENT_H

#include "include/view_profile_capture.h"

/* Where a function was entered. frame: of what the compiler calls there, so that it is deeper in
 * the stack the deeper the function is; caller: what the function returns to, which is what the
 * function around it returns to where it was compiled into that. */
typedef struct instrument_place {
    uintptr_t frame, caller;
} instrument_place;

/* On any thread, whether something records or not; handlers of signals must not be instrumented
 * (__attribute__((no_instrument_function))): a function's first call looks for its name. Calls that
 * nest deeper than 256 are counted (dropped_depth), and so are those that a jump has left (left).
 */
void instrument_enter(void *function, instrument_place at);
void instrument_exit(void *function);

#endif

/* Functions of a program that was compiled with -finstrument-functions: the compiler calls in on
 * their entry and exit, and each becomes a zone that is named by its symbol. Only this room, its
 * library and tests include it. */
#ifndef VP_CAPTURE_INSTRUMENT_H
#define VP_CAPTURE_INSTRUMENT_H

#include "include/view_profile_capture.h"

/* On any thread, whether something records or not; handlers of signals must not be instrumented
 * (__attribute__((no_instrument_function))): a function's first call looks for its name. Calls that
 * nest deeper than 256 are left out. */
void instrument_enter(void *function);
void instrument_exit(void *function);

#endif

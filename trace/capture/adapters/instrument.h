/* Functions of a program that was compiled with -finstrument-functions: the compiler calls in on
 * their entry and exit, and each becomes a zone that is named by its symbol. Only this room, its
 * library and tests include it. */
#ifndef VP_CAPTURE_INSTRUMENT_H
#define VP_CAPTURE_INSTRUMENT_H

#include "include/view_profile_capture.h"

/* Where a function was entered. frame: the frame address of what the compiler calls at the entry:
 * the deeper a function is in the stack, the deeper it is. caller: the address that the function
 * returns to; a function that was compiled into another one has that one's. */
typedef struct instrument_place {
    uintptr_t frame, caller;
} instrument_place;

/* May be called on any thread, whether something records or not. Signal handlers must not be
 * instrumented (__attribute__((no_instrument_function))), since a function's first call looks for
 * its name. Calls nested deeper than 256 are counted (dropped_depth), and so are those that a jump
 * has left (left). */
void instrument_enter(void *function, instrument_place at);
void instrument_exit(void *function);

#endif

/* Records functions of a program compiled with -finstrument-functions: the compiler inserts calls
 * at entry and exit, and each function becomes a zone named by its symbol. Private to this module,
 * its library and tests. Nothing fails; losses are counted. */
#ifndef VP_CAPTURE_INSTRUMENT_H
#define VP_CAPTURE_INSTRUMENT_H

#include "include/view_profile_capture.h"

/* Where a function was entered. frame: frame address in the function that the compiler calls at
 * entry, which reflects the stack depth. caller: return address of the function; an inlined
 * function has that of its surrounding function. */
typedef struct instrument_place {
    uintptr_t frame, caller;
} instrument_place;

/* May be called on any thread, with or without an active recording. Signal handlers must not be
 * instrumented (__attribute__((no_instrument_function))), because the first call of a function
 * looks up its name. Calls nested deeper than 256 are counted (dropped_depth), and so are calls
 * left by a jump (left). */
void instrument_enter(void *function, instrument_place at);
void instrument_exit(void *function);

#endif

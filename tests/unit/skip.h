/* Skips a unit test, with a reason that scripts/test_counts lists. A test that prints the reason
 * but continues or returns counts as failed. */
#ifndef VP_TESTS_UNIT_SKIP_H
#define VP_TESTS_UNIT_SKIP_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Ends the calling test by a jump, which frees nothing: call it before any allocation. */
static inline void skip_because(const char *why)
{
    print_message("SKIP: %s\n", why);
    skip();
}

/* True under qemu-user, which emulates /proc/self/exe, but no other path to it. */
static inline bool is_emulated(void)
{
    char told[4096] = "", real[4096] = "";
    return readlink("/proc/self/exe", told, sizeof told - 1) > 0 &&
           readlink("/proc/thread-self/exe", real, sizeof real - 1) > 0 && strcmp(told, real) != 0;
}

#endif

/* How a unit test is left out: as skipped for cmocka, with a reason that scripts/test_counts lists.
 * Who says so and goes on or returns instead counts as failed there. */
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

/* Ends the test that asks. It jumps: before anything is allocated, for nothing is freed. */
static inline void skip_because(const char *why)
{
    print_message("SKIP: %s\n", why);
    skip();
}

/* Under qemu-user, which makes up /proc/self/exe, and no other path to the same. */
static inline bool is_emulated(void)
{
    char told[4096] = "", real[4096] = "";
    return readlink("/proc/self/exe", told, sizeof told - 1) > 0 &&
           readlink("/proc/thread-self/exe", real, sizeof real - 1) > 0 && strcmp(told, real) != 0;
}

#endif

/* A table as a group of tests, one per row, named by the row's first field, a string. A row that is
 * skipped or fails is counted separately. *state is the row. */
#ifndef VP_TESTS_UNIT_ROWS_H
#define VP_TESTS_UNIT_ROWS_H

#include <stdlib.h>

#include "tests/unit/skip.h"

static inline int run_rows(const char *group, CMUnitTestFunction test, const void *rows, size_t n,
                           size_t size)
{
    struct CMUnitTest *tests = calloc(n, sizeof *tests);
    if (!tests)
        abort();
    for (size_t i = 0; i < n; i++) {
        void *row = (char *)(uintptr_t)rows + i * size;
        tests[i] = (struct CMUnitTest){*(const char *const *)row, test, NULL, NULL, row};
    }
    int failed = _cmocka_run_group_tests(group, tests, n, NULL, NULL);
    free(tests);
    return failed;
}

#define RUN_ROWS(test, rows)                                                                       \
    run_rows(#test, test, rows, sizeof(rows) / sizeof *(rows), sizeof *(rows))

#endif

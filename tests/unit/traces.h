/* Where the real profiles are that the unit tests read, by the rule of tests/traces.py: VP_TRACES,
 * else
 * ../shared/traces beside the checkout, is the wide collection; where neither is there, tests/data
 * is read, a part of it with the same paths. Tests only; nothing here is owned by the caller. */
#ifndef VP_TESTS_UNIT_TRACES_H
#define VP_TESTS_UNIT_TRACES_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline const char *traces_root(void)
{
    const char *named = getenv("VP_TRACES");
    const char *wide = named && *named ? named : VP_SOURCE_DIR "/../shared/traces";
    return access(wide, R_OK | X_OK) == 0 ? wide : VP_SOURCE_DIR "/tests/data";
}

/* The path of a file or folder of the collection, in `path`, which has room for `cap` bytes. */
static inline const char *traces_path(char *path, size_t cap, const char *rel)
{
    int n = snprintf(path, cap, "%s/%s", traces_root(), rel);
    assert_in_range(n, 1, cap - 1);
    return path;
}

/* Whether this is the wide collection: tests/data alone has a SOURCES.tsv. */
static inline bool traces_wide(void)
{
    char table[4096];
    return access(traces_path(table, sizeof table, "SOURCES.tsv"), R_OK) != 0;
}

/* Whether it is there; said aloud where only the wide collection has it. A wrong name fails: the
 * wide collection has everything. */
static inline bool traces_have(const char *rel)
{
    char path[4096];
    if (access(traces_path(path, sizeof path, rel), R_OK) == 0)
        return true;
    if (traces_wide())
        fail_msg("%s is not there", path);
    print_message("SKIP: not in tests/data: %s\n", rel);
    return false;
}

/* Ends the test that asks, as skipped, where only the wide collection has it. Before anything is
 * allocated: nothing is freed. */
static inline void traces_need(const char *rel)
{
    if (!traces_have(rel))
        skip();
}

#endif

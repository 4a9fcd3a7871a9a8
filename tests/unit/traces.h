/* The location of the real profiles for unit tests, by the rule of tests/traces.py: VP_TRACES, else
 * ../shared/traces next to the checkout, is the large collection; without either, tests/data, which
 * has a subset with the same paths. Tests only; the caller owns nothing. */
#ifndef VP_TESTS_UNIT_TRACES_H
#define VP_TESTS_UNIT_TRACES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/skip.h"

static inline const char *traces_root(void)
{
    const char *named = getenv("VP_TRACES");
    const char *wide = named && *named ? named : VP_SOURCE_DIR "/../shared/traces";
    return access(wide, R_OK | X_OK) == 0 ? wide : VP_SOURCE_DIR "/tests/data";
}

/* The path of a file or folder of the collection, in `path` with `cap` bytes. */
static inline const char *traces_path(char *path, size_t cap, const char *rel)
{
    int n = snprintf(path, cap, "%s/%s", traces_root(), rel);
    assert_in_range(n, 1, cap - 1);
    return path;
}

/* True if this is the large collection: only tests/data has a SOURCES.tsv. */
static inline bool traces_wide(void)
{
    char table[4096];
    return access(traces_path(table, sizeof table, "SOURCES.tsv"), R_OK) != 0;
}

/* Skips the calling test if only the large collection has the file. A wrong name fails, because the
 * large collection has all files. */
static inline void traces_need(const char *rel)
{
    char path[4096], why[4200];
    if (access(traces_path(path, sizeof path, rel), R_OK) == 0)
        return;
    if (traces_wide())
        fail_msg("%s is not there", path);
    snprintf(why, sizeof why, "not in tests/data: %s", rel);
    skip_because(why);
}

#endif

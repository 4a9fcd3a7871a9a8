/* Lists real log directories and compares them with the expected content. */
#ifndef VP_TESTS_UNIT_CATALOG_EXPECT_H
#define VP_TESTS_UNIT_CATALOG_EXPECT_H

#include "tests/unit/rows.h"
#include "tests/unit/traces.h"
#include "tests/unit/tree.h"

#include <time.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

static inline catalog *list(const char *rel)
{
    char path[VP_PATH_MAX];
    catalog *c = NULL;
    int rc = catalog_open(&c, traces_path(path, sizeof path, rel), NULL);
    if (rc)
        fail_msg("%s: %s", path, vp_error_last()->message);
    return c;
}

/* One line per run: name, the hosts ('+' if both halves exist), and special properties. */
static inline void describe(const cat_session *s, char *out, size_t cap)
{
    static const char *const states[] = {"", " unreadable", " unfinished", " empty"};
    size_t n = (size_t)snprintf(out, cap, "%s:", s->name);
    for (size_t i = 0; i < s->host_count; i++)
        n += (size_t)snprintf(out + n, cap - n, " %s%s", s->hosts[i].name,
                              s->hosts[i].secondary == UINT32_MAX ? "" : "+");
    snprintf(out + n, cap - n, "%s%s", states[s->status], s->stray ? " stray" : "");
}

static inline void expect(const catalog *c, const char *const *want, size_t n)
{
    char got[1024];
    for (size_t i = 0; i < n && i < catalog_count(c); i++) {
        describe(catalog_get(c, i), got, sizeof got);
        assert_string_equal(got, want[i]);
    }
    assert_int_equal(catalog_count(c), n);
}

/* Expected list of a folder or file of the collection; `needs`: other files that are not in
 * tests/data. */
struct expected {
    const char *rel;
    const char *want[12];
    const char *needs;
};

static inline void is_listed(void **state)
{
    const struct expected *e = *state;
    size_t n = 0;
    traces_need(e->needs ? e->needs : e->rel);
    while (n < sizeof e->want / sizeof *e->want && e->want[n])
        n++;
    catalog *c = list(e->rel);
    expect(c, e->want, n);
    catalog_free(c);
}

/* Times in names of runs are local ones. */
static inline void in_utc(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
}

#endif

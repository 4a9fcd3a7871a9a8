/* Lists the directories that the recorder's tests write, as the viewer does. */
#ifndef VP_TESTS_UNIT_LISTED_H
#define VP_TESTS_UNIT_LISTED_H

#include "include/view_profile.h"

static inline size_t sessions_in(const char *dir)
{
    vp_catalog *c;
    if (vp_catalog_open(&c, dir) < 0)
        return 0;
    size_t n = vp_catalog_count(c);
    vp_catalog_free(c);
    return n;
}

#endif

#include "trace/analyze/compare.h"

#include "trace/base/err.h"

int compare_make(vp_comparison **out, const vp_report *a, const vp_report *b)
{
    (void)out;
    (void)a;
    (void)b;
    return vp_fail(VP_EUNSUPPORTED, "reports cannot be compared yet");
}

void compare_free(vp_comparison *c)
{
    (void)c;
}

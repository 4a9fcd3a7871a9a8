#include "trace/report/report.h"

#include "trace/base/err.h"

int rep_compare_json(vp_buf *b, const vp_comparison *c)
{
    (void)b;
    (void)c;
    return vp_fail(VP_EUNSUPPORTED, "comparisons cannot be written as JSON yet");
}

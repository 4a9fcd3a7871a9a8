/* C API: reads, merges and compares reports. */
#include "server/api/handles.h"
#include "trace/analyze/analyze.h"
#include "trace/analyze/compare/compare.h"
#include "trace/report/report.h"
#include "trace/source/document.h"

int vp_report_read(vp_report **out, const char *path)
{
    if (!out || !path)
        return vp_fail(VP_EARG, "no path to read");
    VP_CLEANUP(document_close) document d;
    VP_TRY(document_open(&d, path, false, VP_STR_NONE));
    return document_fail(&d, rep_read_file(out, d.path));
}

int vp_report_merge(vp_report **out, const vp_report *const *parts, size_t n)
{
    if (!out || (n && !parts))
        return vp_fail(VP_EARG, "no reports to merge");
    for (size_t i = 0; i < n; i++)
        if (!parts[i])
            return vp_fail(VP_EARG, "report %zu is NULL", i);
    return report_merge(out, parts, n);
}

int vp_report_compare(vp_comparison **out, const vp_report *a, const vp_report *b)
{
    if (!out || !a || !b)
        return vp_fail(VP_EARG, "two reports are required");
    return compare_make(out, a, b);
}

void vp_comparison_free(vp_comparison *c)
{
    compare_free(c);
}

#include "trace/report/labels/memory_words.h"

#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/report/labels/numbers.h"

/* Stable: equal ones keep the order of the report. */
static int by_impact_bytes(const void *a, const void *b)
{
    const vp_finding *x = *(const vp_finding *const *)a, *y = *(const vp_finding *const *)b;
    if (x->impact_bytes != y->impact_bytes)
        return x->impact_bytes > y->impact_bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

int rep_memory_findings(vp_report *of, vp_finding **rows, const vp_report *r)
{
    VP_CLEANUP(vp_free_ptr) const vp_finding **all = vp_calloc(r->finding_count + 1, sizeof *all);
    size_t n = 0;
    *rows = vp_calloc(r->finding_count + 1, sizeof **rows);
    VP_NEED(all && *rows);
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED && r->findings[i].impact_bytes > 0)
            all[n++] = &r->findings[i];
    qsort(all, n, sizeof *all, by_impact_bytes);
    for (size_t i = 0; i < n; i++)
        (*rows)[i] = *all[i];
    *of = *r;
    of->findings = *rows;
    of->finding_count = n;
    return 0;
}

/* True if there are several spaces or hosts, so that a line must name its own. */
static bool has_several(const vp_report *r)
{
    for (size_t i = 1; i < r->memory_programs_count; i++)
        if (r->memory_programs[i].space != r->memory_programs[0].space ||
            r->memory_programs[i].host != r->memory_programs[0].host)
            return true;
    return false;
}

bool rep_put_programs(vp_buf *b, const vp_report *r, size_t i)
{
    const vp_memory_programs *x = &r->memory_programs[i];
    if (x->programs < 2 || x->most_bytes <= x->least_bytes)
        return false;
    vp_buf_printf(b, "All %lld executed programs", (long long)x->programs);
    if (has_several(r))
        vp_buf_printf(b, " (memory %lld)", (long long)x->space);
    vp_buf_puts(b, ": at least ");
    rep_put_bytes(b, x->least_bytes);
    vp_buf_puts(b, " (the largest program alone); at most ");
    rep_put_bytes(b, x->most_bytes);
    vp_buf_puts(b, " (if arguments, results and constants of all programs stay allocated and none "
                   "are shared).");
    return true;
}

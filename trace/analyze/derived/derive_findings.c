/* Findings with a place in time, as slices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/derived/derive.h"
#include "trace/analyze/result/result_words.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

static int derive_finding_place(derived *d, const vp_finding *f, const vp_place *p)
{
    char name[VP_DERIVED_NAME_MAX];
    derived_slice s = {.start_ps = p->start_ps + d->origin_ps,
                       .end_ps = p->end_ps + d->origin_ps,
                       .number = {strtoll(f->id + 1, NULL, 10), f->impact_ps}};
    snprintf(name, sizeof name, "%s %s", f->id, f->title);
    VP_TRY(derived_name(d, &s.name, vp_str_of(name)));
    VP_TRY(derived_name(d, &s.text[0], vp_str_of(f->suggestion)));
    VP_TRY(derived_name(d, &s.text[1], vp_str_of(result_level_words[f->severity])));
    return derived_add(d, &s, NULL);
}

static bool has_place(const vp_place *p, const char *host)
{
    return p->start_ps != VP_NO_TIME && p->end_ps >= p->start_ps &&
           (!p->host || !strcmp(p->host, host));
}

int derive_findings(derived *d, const vp_report *r, const char *host)
{
    VP_TRY(derived_add_group(d, VP_STR_NONE));
    d->groups[d->group_count - 1].is_host = true;
    VP_TRY(derived_add_track(d, DERIVED_FINDINGS, VP_STR_NONE));
    for (size_t i = 0; i < r->finding_count; i++)
        for (size_t k = 0; r->findings[i].status == VP_FIRED && k < r->findings[i].where_count; k++)
            if (has_place(&r->findings[i].where[k], host))
                VP_TRY(derive_finding_place(d, &r->findings[i], &r->findings[i].where[k]));
    return derived_end_track(d);
}

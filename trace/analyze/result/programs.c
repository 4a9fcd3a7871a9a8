#include "trace/analyze/result/programs.h"

#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"

struct program_list {
    hlo_program **v; /* by program of the trace */
    bool *asked;
};

static int note_damaged(analysis *a, vp_str name)
{
    char text[300];
    snprintf(text, sizeof text, "%.*s: %.180s; its memory plan is missing", VP_STR_CUT(name, 80u),
             vp_error_last()->message);
    return host_note(a->h, "hlo-damaged", VP_SEV_WARNING, text);
}

static int make_list(analysis *a)
{
    size_t n = a->t->program_count;
    a->programs = vp_calloc(1, sizeof *a->programs);
    VP_NEED(a->programs);
    a->programs->v = vp_calloc(n + 1, sizeof *a->programs->v);
    a->programs->asked = vp_calloc(n + 1, sizeof *a->programs->asked);
    VP_NEED(a->programs->v && a->programs->asked);
    return 0;
}

int programs_get(const hlo_program **out, analysis *a, uint32_t i)
{
    if (!a->programs)
        VP_TRY(make_list(a));
    struct program_list *l = a->programs;
    if (!l->asked[i]) {
        l->asked[i] = true;
        int rc = hlo_program_parse(&l->v[i], a->t->programs[i].proto);
        if (rc == VP_ENOMEM)
            return rc;
        if (rc < 0 || l->v[i]->plan_refused)
            VP_TRY(note_damaged(a, a->t->programs[i].name));
    }
    *out = l->v[i];
    return 0;
}

void programs_free(analysis *a)
{
    if (!a->programs)
        return;
    for (uint32_t i = 0; a->programs->v && i < a->t->program_count; i++)
        hlo_program_free(a->programs->v[i]);
    vp_free(a->programs->v);
    vp_free(a->programs->asked);
    vp_free(a->programs);
    a->programs = NULL;
}

/* Notes about doubtful content of a file, and about credentials in it. */
#include <stdarg.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/read/json/json_reader.h"

/* Credential keys that are reported individually; further ones usually repeat them. */
#define SECRETS_MAX 16u
#define KEY_SHOWN 64u /* maximum bytes of a key */

static const struct {
    const char *code, *what;
    sink_severity severity;
    bool partial;
} notes[CJ_NOTES] = {
    [CJ_BAD_EVENT] = {"bad-event", "skipped (invalid syntax, or invalid ph, ts or dur)",
                      SINK_WARNING, true},
    [CJ_OVERSIZED] = {"oversized-event", "larger than 16 MiB, skipped", SINK_WARNING, true},
    [CJ_NEGATIVE] = {"negative-duration", "with a negative duration, taken as 0", SINK_WARNING,
                     true},
    [CJ_UNKNOWN_PHASE] = {"unknown-phase", "with an unknown phase", SINK_INFO, false},
    [CJ_END_WITHOUT_BEGIN] = {"unbalanced", "that end without a begin", SINK_WARNING, false},
    [CJ_UNCLOSED] = {"unbalanced", "without an end, closed at the next known time", SINK_WARNING,
                     false},
    [CJ_UNPLACED_OP] = {"unplaced-ops",
                        "that look like XLA ops of a process without a name, assigned to no device",
                        SINK_WARNING, true},
    [CJ_BAD_COST] = {"bad-cost", "with impossible FLOP or byte counts, treated as unknown",
                     SINK_WARNING, false},
    [CJ_NO_TIME] = {"no-time", "have no time and are left out", SINK_WARNING, true},
    [CJ_NO_TIME_SHOWN] = {"no-time",
                          "at time 0, long before all others, shown at the start of the others",
                          SINK_INFO, false},
};

void cj_count_here(cj_count *c, const cj_reader *r)
{
    if (c->n++)
        return;
    c->event = r->event;
    c->byte = r->byte;
}

void cj_note(cj_reader *r, cj_note_id id)
{
    cj_count_here(&r->notes[id], r);
}

int cj_quality(cj_reader *r, const sink_quality *q, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sink_quality out = *q;
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    out.message = (vp_str){text, len};
    return r->out->quality(r->out, &out);
}

int cj_note_credential(cj_reader *r, vp_str key)
{
    uint64_t hash = vp_hash(key.p, key.n, 0);
    if (r->maps[CJ_BY_SECRET].count >= SECRETS_MAX ||
        vp_map_get(&r->maps[CJ_BY_SECRET], hash) != VP_MAP_NONE)
        return 0;
    VP_TRY(vp_map_set(&r->maps[CJ_BY_SECRET], hash, 0));
    char text[JS_UTF8_MAX(KEY_SHOWN)];
    vp_str name = {text, js_unescape(vp_str_head(key, KEY_SHOWN), text)};
    return cj_quality(
        r, &(sink_quality){.code = "credentials", SINK_WARNING, .event = -1, .byte = r->byte},
        "the file contains a credential in \"%.*s\"; do not share it as it is; view_profile never "
        "shows or exports the value",
        VP_STR_ARG(name));
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Names kernels: a profile that lacks their times cannot tell what the device did. */
static int report_no_time(cj_reader *r, const sink_quality *q, uint64_t n, uint64_t kernels)
{
    const char *has = n == 1 ? "has" : "have", *is = n == 1 ? "is" : "are";
    if (kernels == n)
        return cj_quality(r, q, "%llu kernel%s %s no time and %s left out", (unsigned long long)n,
                          plural(n), has, is);
    if (!kernels)
        return cj_quality(r, q, "%llu event%s %s no time and %s left out", (unsigned long long)n,
                          plural(n), has, is);
    return cj_quality(r, q, "%llu events have no time and are left out, %llu of them kernel%s",
                      (unsigned long long)n, (unsigned long long)kernels, plural(kernels));
}

int cj_notes_report(cj_reader *r)
{
    for (size_t i = 0; i < CJ_NOTES; i++) {
        const cj_count *c = &r->notes[i];
        if (!c->n)
            continue;
        sink_quality q = {.code = notes[i].code,
                          .severity = notes[i].severity,
                          .event = c->event,
                          .byte = c->byte,
                          .partial = notes[i].partial};
        if (i == CJ_NO_TIME)
            VP_TRY(report_no_time(r, &q, c->n, r->timeless_kernels));
        else
            VP_TRY(cj_quality(r, &q, "%llu event%s %s", (unsigned long long)c->n, plural(c->n),
                              notes[i].what));
    }
    return 0;
}

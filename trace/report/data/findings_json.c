/* docs/reference/json.md#findings-array. The order of the array is the rank; key order is that of
 * the tables. */
#include "trace/report/data/field_macros.h"

#include "trace/analyze/result/result_words.h"
#include "trace/report/data/report_json.h"
#include "trace/report/labels/words.h"

/* ---- Evidence ---- */

static void put_evidence_value(rep_json_out *o, const void *finding)
{
    const vp_finding *f = finding;
    if (f->status == VP_NOT_EVALUATED)
        vp_json_null(&o->j);
    else
        vp_json_double(&o->j, f->value);
}

static const rep_field evidence_fields[] = {
    {F("metric", REP_TEXT, vp_finding, metric), .needed = true, .about = "Name of the figure."},
    {MADE("value", REP_NUMBER, put_evidence_value), .unit = "see `unit`", .null = "not evaluated",
     .about = "Value of the figure."},
    {F("threshold", REP_NUMBER, vp_finding, threshold), .unit = "see `unit`",
     .about = "The rule fires from this value on."},
    {F("unit", REP_TEXT, vp_finding, unit), .needed = true,
     .about = "Unit of `value` and `threshold`, such as `share`."},
    {F("denominator", REP_TEXT, vp_finding, denominator), .null = "not a share",
     .about = "Denominator, if the unit is a share."},
    {END("evidence", "The figure that the rule judges.")},
};

/* ---- Places ---- */

static void put_place_device(rep_json_out *o, const void *place)
{
    uint32_t device = ((const vp_place *)place)->device;
    vp_json_cstr(&o->j, device < o->r->device_count ? o->r->devices[device].name : NULL);
}

static const rep_field place_fields[] = {
    {MADE("device", REP_TEXT, put_place_device), .null = "no device",
     .about = "Name of the device."},
    {F("host", REP_TEXT, vp_place, host), .null = "no host", .about = "Name of the host."},
    {F("track", REP_TEXT, vp_place, track), .null = "no single track",
     .about = "Name of the track or thread."},
    {F("start_ps", REP_TIME, vp_place, start_ps), .null = "no single time",
     .about = "Start of the time span."},
    {F("end_ps", REP_TIME, vp_place, end_ps), .null = "no single time",
     .about = "End of the time span."},
    {END("place", "A place in the profile, on the aligned clock.")},
};

/* ---- Impact ---- */

static void put_impact_share(rep_json_out *o, const void *finding)
{
    const vp_finding *f = finding;
    if (f->impact_ps < 0 || f->window_ps <= 0)
        vp_json_null(&o->j);
    else
        vp_json_ratio(&o->j, f->impact_ps, f->window_ps);
}

static void put_impact_kind(rep_json_out *o, const void *finding)
{
    const vp_finding *f = finding;
    if (f->impact_ps < 0)
        vp_json_null(&o->j);
    else
        vp_json_cstr(&o->j, f->is_predicted ? "predicted" : "bound");
}

static const rep_field impact_fields[] = {
    {F("time_ps", REP_COUNT, vp_finding, impact_ps), .null = "no saving in time",
     .about = "Potential saving, without the time that earlier findings claim."},
    {F("gross_ps", REP_COUNT, vp_finding, gross_ps), .null = "no saving in time",
     .about = "Potential saving, including the time that earlier findings claim."},
    {F("window_ps", REP_COUNT, vp_finding, window_ps), .null = "no saving in time",
     .about = "Window that the saving is compared with."},
    {MADE("share_of_window", REP_NUMBER, put_impact_share), .unit = "share",
     .null = "no saving in time",
     .about = "`time_ps` divided by `window_ps`; it decides the severity."},
    {F("bytes", REP_COUNT, vp_finding, impact_bytes), .null = "not about memory",
     .about = "Potential saving of memory."},
    {MADE("kind", REP_TEXT, put_impact_kind), .null = "no saving in time", .later = true,
     .about = "`predicted` by a replay of the program, or `bound`: an upper bound."},
    {END("impact", "Saving if the cause is removed: predicted, or an upper bound.")},
};

/* ---- Findings ---- */

static void put_finding_severity(rep_json_out *o, const void *finding)
{
    const vp_finding *f = finding;
    if (f->status == VP_FIRED || f->status == VP_EXPLAINED)
        vp_json_cstr(&o->j, result_level_words[f->severity]);
    else
        vp_json_null(&o->j);
}

static const rep_field finding_fields[] = {
    {F("id", REP_TEXT, vp_finding, id), .needed = true,
     .about = "Identifier of the rule, such as `F10`."},
    {F("name", REP_TEXT, vp_finding, name), .needed = true,
     .about = "Name of the rule, such as `device-idle`."},
    {F("status", REP_WORD, vp_finding, status), .words = rep_status_words,
     .about = "Result of the rule."},
    {MADE("severity", REP_WORD, put_finding_severity), .words = result_level_words,
     .null = "did not fire", .about = "Severity of the finding."},
    {F("title", REP_TEXT, vp_finding, title), .needed = true, .about = "Title of the rule."},
    {F("message", REP_TEXT, vp_finding, message), .null = "did not fire",
     .about = "One sentence with the figures of this report."},
    {.key = "evidence",
     .type = REP_OBJECT,
     .fields = evidence_fields,
     .about = "The figure that the rule judges."},
    {LIST("where", vp_finding, where, where_count, vp_place, place_fields),
     .about = "Places to look at, most important first."},
    {.key = "impact",
     .type = REP_OBJECT,
     .fields = impact_fields,
     .about = "Upper bound of the saving."},
    {F("suggestion", REP_TEXT, vp_finding, suggestion), .null = "did not fire",
     .about = "What to change."},
    {ARRAY("caveats", REP_TEXTS, vp_finding, caveats, caveat_count),
     .about = "Limits of the finding."},
    {ARRAY("explained_by", REP_TEXTS, vp_finding, explained_by, explained_count),
     .about = "Identifiers of findings that claim the time of this one."},
    {ARRAY("missing", REP_TEXTS, vp_finding, missing, missing_count),
     .about = "What the profile lacks to evaluate the rule."},
    {END("finding", "The result of one rule. `docs/findings.md` lists the rules.")},
};

const rep_field rep_findings_fields[] = {
    {LIST("findings", vp_report, findings, finding_count, vp_finding, finding_fields),
     .about = "All rules in rank order: fired, explained, not evaluated, clear."},
    {0},
};

void rep_json_findings(vp_json *j, const vp_report *r)
{
    rep_json_out o = {.j = *j, .r = r};
    rep_put_fields(&o, rep_findings_fields, r);
    *j = o.j;
}

int rep_findings_json(vp_buf *b, const vp_report *r)
{
    vp_json j;
    rep_json_open(&j, b, r, "view_profile.findings/1");
    rep_json_findings(&j, r);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

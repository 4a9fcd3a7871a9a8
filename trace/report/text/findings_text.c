/* Findings on the terminal. */
#include "trace/report/text/text_parts.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"
#include "trace/report/labels/words.h"

/* " 1 !!! HIGH    title  F6 name", then labeled paragraphs: why, saves up to (or about), where,
 * fix, note. */
#define LABEL_WIDTH 13u
#define PLACES_SHOWN 3u
#define PROSE_WIDTH 100u /* longer lines are hard to read on terminals of any width */

static tbl_style level_style(vp_level l)
{
    return l == VP_LEVEL_HIGH ? TBL_BAD : l == VP_LEVEL_MEDIUM ? TBL_COMM : TBL_PLAIN;
}

static const char *level_mark(vp_level l)
{
    static const char *const marks[] = {"!  ", "!! ", "!!!"};
    return marks[l];
}

static size_t prose_width(const vp_view *v)
{
    return text_width(v) < PROSE_WIDTH ? text_width(v) : PROSE_WIDTH;
}

/* Prints a labeled text_put_paragraph with a hanging indent, and empties `text`. */
static void text_put_paragraph(vp_buf *b, const vp_view *v, const char *label, vp_buf *text)
{
    grid_flow f = {.b = b,
                   .width = prose_width(v),
                   .indent = 2 + LABEL_WIDTH,
                   .gap = 0,
                   .column = 2 + LABEL_WIDTH};
    vp_buf_puts(b, "  ");
    grid_color_on(b, TBL_DIM, v->color);
    vp_buf_puts(b, label);
    grid_color_off(b, TBL_DIM, v->color);
    vp_buf_pad(b, ' ', LABEL_WIDTH - strlen(label));
    grid_flow_words(&f, text);
    grid_flow_end(&f);
}

static void text_put_sentence(vp_buf *b, const vp_view *v, const char *label, const char *sentence)
{
    vp_buf text;
    if (!sentence)
        return;
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    vp_put_escaped(&text, vp_str_of(sentence));
    text_put_paragraph(b, v, label, &text);
    vp_buf_free(&text);
}

/* ---- One finding that fired ---- */

static void text_put_headline(vp_buf *b, const vp_finding *f, const vp_view *v, size_t rank)
{
    tbl_style style = level_style(f->severity);
    vp_buf_printf(b, "%2zu ", rank);
    grid_color_on(b, style, v->color);
    vp_buf_printf(b, "%s %-6s", level_mark(f->severity), rep_level_name(f->severity));
    grid_color_off(b, style, v->color);
    vp_buf_puts(b, "  ");
    grid_color_on(b, TBL_BOLD, v->color);
    vp_buf_puts(b, f->title);
    grid_color_off(b, TBL_BOLD, v->color);
    grid_color_on(b, TBL_DIM, v->color);
    vp_buf_printf(b, "  %s %s", f->id, f->name);
    grid_color_off(b, TBL_DIM, v->color);
    vp_buf_putc(b, '\n');
}

static const char *window_name(const vp_finding *f)
{
    return f->denominator && strstr(f->denominator, "capture") ? f->denominator : "window";
}

static void text_put_time(vp_buf *b, int64_t ps, const vp_view *v)
{
    vp_unit unit = rep_unit_for(v->unit, ps);
    rep_put_ps(b, ps, unit);
    vp_buf_printf(b, " %s", rep_unit_sign(unit));
}

static void text_put_impact(vp_buf *b, const vp_finding *f, const vp_view *v)
{
    vp_buf text;
    bool timed = f->impact_ps >= 0 && f->window_ps > 0;
    if (!timed && f->impact_bytes <= 0)
        return;
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    if (!timed) {
        rep_put_bytes(&text, f->impact_bytes);
        text_put_paragraph(b, v, "saves up to", &text);
        vp_buf_free(&text);
        return;
    }
    text_put_time(&text, f->impact_ps, v);

    vp_buf_puts(&text, " (");
    rep_put_percent(&text, f->impact_ps, f->window_ps);
    vp_buf_printf(&text, " of the %s of ", window_name(f));
    text_put_time(&text, f->window_ps, v);
    vp_buf_putc(&text, ')');

    if (f->gross_ps > f->impact_ps) {
        vp_buf_puts(&text, "; ");
        text_put_time(&text, f->gross_ps, v);
        vp_buf_puts(&text, " including time claimed by other findings");
    }
    text_put_paragraph(b, v, f->is_predicted ? "saves about" : "saves up to", &text);
    vp_buf_free(&text);
}

/* "/device:TPU:0" → "TPU:0" */
static vp_str short_device(const vp_device *d)
{
    vp_str name = vp_str_of(d->name);
    size_t slash = vp_str_rfind_char(name, '/'), colon = vp_str_find(name, VP_STR(":"));
    if (slash == 0 && colon + 1 < name.n)
        name = vp_str_skip(name, colon + 1);
    return name;
}

/* "TPU:0 at 14.060 s for 22.030 s"; with the host if there are several. */
static void place_words(vp_buf *text, const vp_report *r, const vp_place *p, const vp_view *v)
{
    if (p->device < r->device_count)
        vp_put_escaped(text, short_device(&r->devices[p->device]));
    else
        vp_buf_puts(text, "host");
    if (p->host && (r->host_count > 1 || p->device >= r->device_count)) {
        vp_buf_puts(text, p->device < r->device_count ? " on " : " ");
        vp_put_escaped(text, vp_str_of(p->host));
    }
    if (p->track) {
        vp_buf_puts(text, " (");
        vp_put_escaped(text, vp_str_of(p->track));
        vp_buf_putc(text, ')');
    }
    if (p->start_ps == VP_NO_TIME)
        return;
    vp_unit unit = rep_unit_for(v->unit, INT64_MAX);
    vp_buf_puts(text, " at ");
    rep_put_when(text, p->start_ps, unit, p->end_ps - p->start_ps);
    vp_buf_printf(text, " %s", rep_unit_name(unit));
    if (p->end_ps > p->start_ps) {
        vp_buf_puts(text, " for ");
        text_put_time(text, p->end_ps - p->start_ps, v);
    }
}

static void text_put_places(vp_buf *b, const vp_report *r, const vp_finding *f, const vp_view *v)
{
    vp_buf text;
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < f->where_count && i < PLACES_SHOWN; i++) {
        place_words(&text, r, &f->where[i], v);
        text_put_paragraph(b, v, i ? "" : "where", &text);
    }
    vp_buf_free(&text);
}

static void put_fired(vp_buf *b, const vp_report *r, const vp_finding *f, const vp_view *v,
                      size_t rank)
{
    text_put_headline(b, f, v, rank);
    text_put_sentence(b, v, "why", f->message);
    text_put_impact(b, f, v);
    text_put_places(b, r, f, v);
    text_put_sentence(b, v, "fix", f->suggestion);
    for (size_t i = 0; i < f->caveat_count; i++)
        text_put_sentence(b, v, i ? "" : "note", f->caveats[i]);
    vp_buf_putc(b, '\n');
}

/* ---- Findings that did not fire ---- */

static size_t count_with_status(const vp_report *r, vp_finding_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        n += r->findings[i].status == status;
    return n;
}

static void text_put_bold_title(vp_buf *b, const vp_view *v, const char *title)
{
    grid_color_on(b, TBL_BOLD, v->color);
    vp_buf_puts(b, title);
    grid_color_off(b, TBL_BOLD, v->color);
    vp_buf_putc(b, '\n');
}

static void text_put_explained(vp_buf *b, const vp_report *r, const vp_view *v)
{
    vp_buf text;
    if (!count_with_status(r, VP_EXPLAINED))
        return;
    text_put_bold_title(b, v, "Explained by the findings above");
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < r->finding_count; i++) {
        const vp_finding *f = &r->findings[i];
        if (f->status != VP_EXPLAINED)
            continue;
        vp_buf_printf(&text, "%s (see ", f->title);
        for (size_t k = 0; k < f->explained_count; k++)
            vp_buf_printf(&text, "%s%s", k ? ", " : "", f->explained_by[k]);
        vp_buf_puts(&text, "). ");
        vp_put_escaped(&text, vp_str_of(f->message ? f->message : ""));
        text_put_paragraph(b, v, f->id, &text);
    }
    vp_buf_free(&text);
    vp_buf_putc(b, '\n');
}

static bool finding_lacks(const vp_finding *f, const char *what)
{
    for (size_t i = 0; f->status == VP_NOT_EVALUATED && i < f->missing_count; i++)
        if (!strcmp(f->missing[i], what))
            return true;
    return false;
}

static bool said_before(const vp_report *r, size_t finding, size_t missing)
{
    const char *what = r->findings[finding].missing[missing];
    for (size_t i = 0; i < finding; i++)
        if (finding_lacks(&r->findings[i], what))
            return true;
    return false;
}

/* Prints a text_put_paragraph without a label, and empties `text`. */
static void text_put_line(vp_buf *b, const vp_view *v, vp_buf *text)
{
    grid_flow f = {.b = b, .width = prose_width(v), .indent = 2, .gap = 0};
    grid_flow_words(&f, text);
    grid_flow_end(&f);
}

/* "Not evaluated: F12, F13 (needs steps); F15, F16 (needs two or more devices)" */
static void put_not_evaluated(vp_buf *b, const vp_report *r, const vp_view *v)
{
    vp_buf text;
    bool any = false;
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < r->finding_count; i++) {
        for (size_t k = 0; k < r->findings[i].missing_count; k++) {
            if (r->findings[i].status != VP_NOT_EVALUATED || said_before(r, i, k))
                continue;
            const char *what = r->findings[i].missing[k];
            vp_buf_printf(&text, "%s%s", any ? "; " : "Not evaluated: ", r->findings[i].id);
            for (size_t n = i + 1; n < r->finding_count; n++)
                if (finding_lacks(&r->findings[n], what))
                    vp_buf_printf(&text, ", %s", r->findings[n].id);
            vp_buf_puts(&text, " (needs ");
            vp_put_escaped(&text, vp_str_of(what));
            vp_buf_putc(&text, ')');
            any = true;
        }
    }
    if (any)
        text_put_line(b, v, &text);
    vp_buf_free(&text);
}

static void text_put_clear_rules(vp_buf *b, const vp_report *r, const vp_view *v)
{
    vp_buf text;
    const char *before = "Clear: ";
    if (!count_with_status(r, VP_CLEAR))
        return;
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_CLEAR) {
            vp_buf_printf(&text, "%s%s", before, r->findings[i].id);
            before = ", ";
        }
    text_put_line(b, v, &text);
    vp_buf_free(&text);
}

/* ---- All findings ---- */

static void text_put_findings_head(vp_buf *b, const vp_report *r, const vp_view *v)
{
    grid_flow f = {.b = b, .width = text_width(v), .indent = 2, .gap = 2};
    size_t levels[3] = {0}, fired = 0;
    vp_buf text;
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED) {
            levels[r->findings[i].severity]++;
            fired++;
        }
    vp_buf_init(&text, VP_REPORT_BYTES_MAX);
    vp_buf_puts(&text, "run ");
    vp_put_escaped(&text, vp_str_of(r->session_name));
    grid_flow_put(&f, &text);
    vp_buf_printf(&text, "%zu finding%s", fired, fired == 1 ? "" : "s");
    const char *between = " (";
    for (int l = VP_LEVEL_HIGH; l >= VP_LEVEL_LOW; l--)
        if (levels[l]) {
            vp_buf_printf(&text, "%s%zu %s", between, levels[l], rep_level_name((vp_level)l));
            between = ", ";
        }
    vp_buf_puts(&text, fired ? ")" : "");
    grid_flow_put(&f, &text);
    vp_buf_printf(&text, "%zu of %zu rules evaluated",
                  r->finding_count - count_with_status(r, VP_NOT_EVALUATED), r->finding_count);
    grid_flow_put(&f, &text);
    grid_flow_end(&f);
    vp_buf_free(&text);
}

void text_findings(vp_buf *b, const vp_report *r, const vp_view *v)
{
    size_t rank = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED)
            put_fired(b, r, &r->findings[i], v, ++rank);
    text_put_explained(b, r, v);
    put_not_evaluated(b, r, v);
    text_put_clear_rules(b, r, v);
}

int rep_findings_text(vp_buf *b, const vp_report *r, const vp_view *view)
{
    vp_view v = rep_view(view);
    text_put_findings_head(b, r, &v);
    vp_buf_putc(b, '\n');
    text_findings(b, r, &v);
    return b->status;
}

#include "server/watch/watch_verdict.h"

#include <jansson.h>
#include <math.h>

#include "include/view_profile.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/words.h"

/* A scope is named if it has this share of the difference; a scope inside it is named instead if it
 * has this share of its parent's difference. */
#define WORTH_PERCENT 25
#define DEEPER_PERCENT 70
#define NAME_SHOWN 200u

static int64_t verdict_ps(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) ? json_integer_value(v) : 0;
}

static int64_t known_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_integer(v) ? json_integer_value(v) : VP_UNKNOWN;
}

static vp_str verdict_text(const json_t *o, const char *key)
{
    return vp_str_of(json_string_value(json_object_get(o, key)));
}

static void put_signed_duration(vp_buf *b, int64_t ps)
{
    vp_buf_putc(b, ps < 0 ? '-' : '+');
    (void)rep_duration(b, ps < 0 ? -ps : ps, VP_UNIT_AUTO, ps < 0 ? -ps : ps);
}

static void put_verdict_name(vp_buf *b, vp_str name)
{
    (void)vp_put_escaped(b, vp_str_head(name, NAME_SHOWN));
    if (name.n > NAME_SHOWN)
        vp_buf_puts(b, "…");
}

/* The scope that explains the difference, searched in pre-order; sign: 1 for slower, -1 for faster.
 */
static const json_t *explaining_scope(const json_t *root, int64_t worth, int sign)
{
    const json_t *best = NULL, *v, *list = json_object_get(root, "scopes");
    size_t i;
    json_array_foreach(list, i, v)
    {
        int64_t delta = sign * verdict_ps(v, "delta_ps");
        int64_t had = best ? sign * verdict_ps(best, "delta_ps") : worth;
        bool inside = best && verdict_ps(v, "depth") > verdict_ps(best, "depth") &&
                      vp_str_starts(verdict_text(v, "path"), verdict_text(best, "path"));
        /* /100 first: deltas reach 2^61. */
        if (inside ? delta >= had / 100 * DEEPER_PERCENT && delta > 0 : delta > had)
            best = v;
    }
    return best;
}

static const json_t *explaining_op(const json_t *root, int64_t worth, int sign)
{
    const json_t *best = NULL, *v, *list = json_object_get(root, "ops");
    size_t i;
    json_array_foreach(list, i, v)
    {
        int64_t had = best ? sign * verdict_ps(best, "delta_ps") : worth;
        if (sign * verdict_ps(v, "delta_ps") > had)
            best = v;
    }
    return best;
}

/* The class of device time that changed most, on the device whose step changed most. */
static void put_class(vp_buf *b, const json_t *root, int64_t worth, int sign)
{
    static const struct {
        const char *key, *words;
    } classes[] = {{"compute", "compute"},
                   {"exposed_comm", "exposed communication"},
                   {"exposed_copy", "exposed copies"},
                   {"idle", "idle time"}};
    const json_t *device = NULL, *v, *list = json_object_get(root, "devices");
    size_t i, at = 0;
    int64_t most = 0;
    json_array_foreach(list, i, v)
    {
        int64_t delta = sign * verdict_ps(json_object_get(v, "window"), "delta_ps");
        if (!device || delta > most) {
            device = v;
            most = delta;
        }
    }
    most = worth;
    for (i = 0; i < sizeof classes / sizeof *classes; i++) {
        int64_t delta = sign * verdict_ps(json_object_get(device, classes[i].key), "delta_ps");
        if (delta > most) {
            most = delta;
            at = i + 1;
        }
    }
    if (!at)
        return;
    vp_buf_printf(b, "; %s ", classes[at - 1].words);
    put_signed_duration(b, sign * most);
}

static void put_verdict_scope(vp_buf *b, const json_t *scope)
{
    if (!scope)
        return;
    vp_buf_puts(b, ", scope ");
    put_verdict_name(b, verdict_text(scope, "path"));
    vp_buf_putc(b, ' ');
    put_signed_duration(b, verdict_ps(scope, "delta_ps"));
}

static void put_verdict_op(vp_buf *b, const json_t *op)
{
    if (!op)
        return;
    vp_str category = verdict_text(op, "category"), reason = verdict_text(op, "reason");
    vp_buf_puts(b, ", op ");
    put_verdict_name(b, verdict_text(op, "name"));
    vp_buf_putc(b, ' ');
    put_signed_duration(b, verdict_ps(op, "delta_ps"));
    if (category.n) {
        vp_buf_puts(b, " (");
        put_verdict_name(b, category);
        vp_buf_putc(b, ')');
    }
    if (reason.n) {
        vp_buf_puts(b, ", ");
        put_verdict_name(b, reason);
    }
}

static void put_verdict_places(vp_buf *b, const json_t *root, int64_t delta)
{
    int sign = delta < 0 ? -1 : 1;
    int64_t worth = sign * delta / 100 * WORTH_PERCENT;
    put_class(b, root, worth, sign);
    put_verdict_scope(b, explaining_scope(root, worth, sign));
    put_verdict_op(b, explaining_op(root, worth, sign));
}

static void put_verdict_findings(vp_buf *b, const json_t *list)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        vp_buf_puts(b, i ? ", " : "; new findings: ");
        put_verdict_name(b, vp_str_of(json_string_value(v)));
        if (i == 4)
            break;
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A peak that exceeds its limit; row: its JSON, NULL for none. */
typedef struct peak {
    const json_t *row;
    int64_t a, b;
} peak;

static void take_peak(peak *most, peak of, double percent)
{
    bool broke = of.a >= 0 && of.b > of.a && (double)(of.b - of.a) * 100 > percent * (double)of.a;
    if (broke && (!most->row || of.b - of.a > most->b - most->a))
        *most = of;
}

/* The peaks that --fail-on-peak of compare checks: each allocator, and the largest program of each
 * side in the device's main memory. */
static peak find_exceeded_peak(const json_t *root, double percent)
{
    const json_t *v, *list = json_object_get(root, "memory");
    peak most = {0}, planned = {.a = VP_UNKNOWN, .b = VP_UNKNOWN};
    size_t i;
    json_array_foreach(list, i, v)
    {
        peak of = {v, known_of(v, "a_bytes"), known_of(v, "b_bytes")};
        if (!json_is_string(json_object_get(v, "program"))) {
            take_peak(&most, of, percent);
        } else if (!verdict_ps(v, "space")) {
            planned.row = of.b > planned.b ? v : planned.row;
            planned.b = of.b > planned.b ? of.b : planned.b;
            planned.a = of.a > planned.a ? of.a : planned.a;
        }
    }
    take_peak(&most, planned, percent);
    return most;
}

static void put_memory_scope(vp_buf *b, const json_t *row, int64_t worth)
{
    const json_t *best = NULL, *v, *list = json_object_get(row, "scopes");
    size_t i;
    json_array_foreach(list, i, v)
    {
        int64_t had = best ? verdict_ps(best, "delta_bytes") : worth;
        if (verdict_text(v, "scope").n && verdict_ps(v, "delta_bytes") > had)
            best = v;
    }
    if (!best)
        return;
    vp_buf_puts(b, ", scope ");
    put_verdict_name(b, verdict_text(best, "scope"));
    vp_buf_puts(b, " +");
    (void)rep_put_bytes(b, verdict_ps(best, "delta_bytes"));
}

/* percent: the limit; NAN: none. */
static void put_verdict_peak(vp_buf *b, const json_t *root, double percent)
{
    peak most = find_exceeded_peak(root, percent);
    if (!most.row)
        return;
    vp_str program = verdict_text(most.row, "program");
    vp_buf_puts(b, program.n ? "; peak planned for " : "; peak of ");
    put_verdict_name(b, program.n ? program : verdict_text(most.row, "allocator"));
    vp_buf_putc(b, ' ');
    (void)rep_put_bytes(b, most.b);
    vp_buf_puts(b, ", ");
    (void)rep_put_bytes(b, most.b - most.a);
    vp_buf_puts(b, " more than the baseline's");
    put_memory_scope(b, most.row, (most.b - most.a) / 100 * WORTH_PERCENT);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void put_time_difference(vp_buf *b, const char *what, const json_t *d)
{
    int64_t a = verdict_ps(d, "a_ps"), to = verdict_ps(d, "b_ps"), delta = to - a;
    vp_buf_puts(b, what);
    (void)rep_duration(b, to, VP_UNIT_AUTO, to);
    if (a > 0)
        vp_buf_printf(b, ", %.1f%% %s than the baseline's ",
                      fabs(100.0 * (double)delta / (double)a), delta < 0 ? "less" : "more");
    (void)rep_duration(b, a, VP_UNIT_AUTO, a);
}

/* For runs in which only the slowest steps are longer, by more than the noise. */
static void put_p90(vp_buf *b, const json_t *root, int64_t threshold)
{
    const json_t *p90 = json_object_get(root, "p90");
    int64_t delta = verdict_ps(p90, "b_ps") - verdict_ps(p90, "a_ps");
    if (threshold < 0 || verdict_ps(p90, "a_ps") <= 0 || delta <= threshold)
        return;
    put_time_difference(b, "; 90th percentile ", p90);
    put_verdict_places(b, root, delta);
}

static const char *verdict_of(vp_str said)
{
    static const char *const words[] = {"regression", "improvement", "noise", "unverified"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (vp_str_eq(said, vp_str_of(words[i])))
            return words[i];
    return NULL;
}

static int put_verdict_words(vp_buf *b, const char **verdict, const json_t *root, bool slower,
                             double peak_percent)
{
    const json_t *noise = json_object_get(root, "noise");
    const json_t *median = json_object_get(root, "median");
    if (verdict_ps(median, "a_ps") <= 0 || verdict_ps(median, "b_ps") <= 0)
        median = json_object_get(root, "step"); /* runs without steps have only that */
    *verdict = verdict_of(verdict_text(noise, "verdict"));
    if (!*verdict)
        return vp_fail(VP_ECORRUPT, "invalid comparison: no verdict");
    bool longer = !strcmp(*verdict, "regression"), unknown = !strcmp(*verdict, "unverified");
    put_time_difference(
        b, json_is_true(json_object_get(root, "per_step")) ? "median step " : "window ", median);
    if (longer || !strcmp(*verdict, "improvement")) {
        put_verdict_places(b, root, verdict_ps(median, "b_ps") - verdict_ps(median, "a_ps"));
    } else {
        vp_buf_puts(b, "; ");
        put_verdict_name(b, verdict_text(noise, "reason"));
    }
    if (!slower)
        return b->status;
    if (!unknown)
        put_p90(b, root, known_of(noise, "threshold_ps"));
    put_verdict_peak(b, root, peak_percent);
    put_verdict_findings(b, json_object_get(root, "findings_new"));
    return b->status;
}

int watch_verdict(vp_buf *words, const char **verdict, vp_str compare_json, bool slower,
                  double peak_percent)
{
    json_error_t e;
    json_t *root = json_loadb(compare_json.p, compare_json.n, 0, &e);
    int rc = root ? put_verdict_words(words, verdict, root, slower, peak_percent)
                  : vp_fail(VP_ECORRUPT, "the comparison is not valid JSON: %.100s", e.text);
    json_decref(root);
    return rc;
}

/* ---- Lines of a history ---------------------------------------------------------------------- */

int watch_line_read(watch_line *out, vp_str history_line)
{
    json_error_t e;
    json_t *root = json_loadb(history_line.p, history_line.n, 0, &e);
    if (!root)
        return vp_fail(VP_ECORRUPT, "the history line is not valid JSON: %.100s", e.text);
    *out = (watch_line){.steps = known_of(root, "steps"),
                        .median_ps = known_of(root, "median_ps"),
                        .p90_ps = known_of(root, "p90_ps"),
                        .mean_ps = known_of(root, "window_ps"),
                        .first_step = known_of(root, "first_step"),
                        .last_step = known_of(root, "last_step"),
                        .first_unix_ns = known_of(root, "first_unix_ns"),
                        .last_end_unix_ns = known_of(root, "last_end_unix_ns")};
    if (out->median_ps < 0)
        out->median_ps = out->mean_ps;
    json_decref(root);
    return 0;
}

/* True if steps take about as long as in the previous capture; otherwise a difference to the time
 * between is caused by the job. */
static bool is_steady(const watch_job *j, const watch_line *now)
{
    int64_t was = j->figure_count ? j->figures[j->figure_count - 1].median_ps : VP_UNKNOWN;
    int64_t moved = now->median_ps > was ? now->median_ps - was : was - now->median_ps;
    return was > 0 && moved <= was / 5;
}

void watch_put_cost(vp_buf *b, const watch_job *j, const watch_line *now, int64_t every_ms,
                    int64_t duration_ms)
{
    if (j->last_step < 0 || now->first_step < 0 || now->first_unix_ns < 0 ||
        j->last_end_unix_ns < 0 || now->last_step <= now->first_step)
        return;
    int64_t between = now->first_step - j->last_step - 1;
    int64_t ns = now->first_unix_ns - j->last_end_unix_ns;
    int64_t inside_ns =
        (now->last_end_unix_ns - now->first_unix_ns) / (now->last_step - now->first_step + 1);
    if (between < 1 || ns <= 0 || inside_ns <= 0)
        return; /* a restarted job, or steps that are not numbered consecutively */
    int64_t outside_ns = ns / between;
    double ratio = (double)inside_ns / (double)outside_ns;
    vp_buf_puts(b, "step time ");
    (void)rep_duration(b, inside_ns * 1000, VP_UNIT_AUTO, inside_ns * 1000);
    vp_buf_puts(b, " during the capture, ");
    (void)rep_duration(b, outside_ns * 1000, VP_UNIT_AUTO, outside_ns * 1000);
    vp_buf_printf(b, " since the previous capture (%lld steps): ", (long long)between);
    if (!is_steady(j, now))
        vp_buf_puts(b, "the step time of the job itself changed, so the overhead is unknown");
    else if (ratio < 1)
        vp_buf_puts(b, "no overhead measured; the time between captures includes other work of the "
                       "job and the start and stop of the profiler");
    else
        vp_buf_printf(b, "%+.1f%% during a capture, %.2g%% of the job's time", 100 * (ratio - 1),
                      100 * (ratio - 1) * (double)duration_ms /
                          (double)(every_ms > duration_ms ? every_ms : duration_ms));
}

/* Two runs: findings that appeared or disappeared, and notes on the reliability of the comparison.
 */
#include <string.h>

#include "trace/analyze/compare/compare_parts.h"
#include "trace/base/err.h"

/* ---- Findings ---- */

static bool fires_in(const vp_report *r, const char *id)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].status == VP_FIRED && !strcmp(r->findings[i].id, id))
            return true;
    return false;
}

/* True if it fires in more than half of the captures. */
static bool fires_usually(const compare_side *s, const char *id)
{
    size_t fired = 0;
    for (size_t i = 0; i < s->n; i++)
        fired += fires_in(s->captures[i], id);
    return 2 * fired > s->n;
}

/* Ids of findings that fire in `now` and not in `before`, in the order of the capture that is
 * shown. */
static int only_in(const char ***out, size_t *count, comparing *k, const vp_report *shown,
                   const compare_side *now, const compare_side *before)
{
    const char **ids = vp_arena_zalloc(k->arena, shown->finding_count * sizeof *ids);
    VP_NEED(ids);
    *out = ids;
    for (size_t i = 0; i < shown->finding_count; i++)
        if (fires_usually(now, shown->findings[i].id) &&
            !fires_usually(before, shown->findings[i].id))
            ids[(*count)++] = cmp_text(k, shown->findings[i].id);
    return 0;
}

int cmp_findings(comparing *k)
{
    VP_TRY(only_in(&k->c->findings_new, &k->c->new_count, k, k->b.r, &k->given_b, &k->given_a));
    return only_in(&k->c->findings_gone, &k->c->gone_count, k, k->a.r, &k->given_a, &k->given_b);
}

/* ---- Caveats ---- */

#define CAVEATS_MAX 16

static void add_caveat(comparing *k, const char *text)
{
    if (text && k->c->caveat_count < CAVEATS_MAX)
        k->c->caveats[k->c->caveat_count++] = text;
}

static bool is_same_known_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

static bool has_same_op_figures(const vp_op *a, const vp_op *b)
{
    return a->device == b->device && is_same_known_text(a->name, b->name) && a->calls == b->calls &&
           a->total_ps == b->total_ps && a->self_ps == b->self_ps && a->min_ps == b->min_ps &&
           a->max_ps == b->max_ps && a->slowest_start_ps == b->slowest_start_ps;
}

/* True if both reports may be of the same recording. Runs of a short program can be equal in
 * everything else, but they do not begin at the same nanosecond. Without a clock time, their files
 * differ in size. */
static bool same_origin(const vp_report *a, const vp_report *b)
{
    if (a->base_unix_ns != b->base_unix_ns || a->start_ps != b->start_ps || a->end_ps != b->end_ps)
        return false;
    if (a->base_unix_ns > 0)
        return true;
    if (a->file_count != b->file_count)
        return false;
    for (size_t i = 0; i < a->file_count; i++)
        if (a->files[i].bytes != b->files[i].bytes)
            return false;
    return true;
}

bool cmp_same_content(const vp_report *a, const vp_report *b)
{
    if (a->events != b->events || a->device_count != b->device_count || !a->device_count ||
        a->op_count != b->op_count || !same_origin(a, b))
        return false;
    for (size_t i = 0; i < a->device_count; i++)
        if (memcmp(&a->devices[i].breakdown, &b->devices[i].breakdown, sizeof(vp_breakdown)) != 0)
            return false;
    for (size_t i = 0; i < a->op_count; i++)
        if (!has_same_op_figures(&a->ops[i], &b->ops[i]))
            return false;
    return true;
}

static void check_identity(comparing *k)
{
    for (size_t i = 0; i < k->given_a.n; i++)
        for (size_t n = 0; n < k->given_b.n; n++)
            if (cmp_same_content(k->given_a.captures[i], k->given_b.captures[n])) {
                add_caveat(k, "A and B are the same capture: the times of every op are equal to "
                              "the picosecond");
                return;
            }
}

static void check_side_captures(comparing *k, const vp_compared_capture *list, size_t n,
                                size_t unreadable, char letter)
{
    size_t unused = 0;
    for (size_t i = 0; i < n; i++)
        unused += !list[i].counts;
    if (unreadable)
        add_caveat(k, cmp_print(k, "%zu of %zu captures of %c cannot be read and do not count",
                                unreadable, unreadable + n, letter));
    if (unused)
        add_caveat(k, cmp_print(k,
                                "%zu of %zu captures of %c do not count: they have no events or no "
                                "steps, or are given twice",
                                unused, n, letter));
}

static size_t count_device_kind(const vp_report *r, vp_device_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < r->device_count; i++)
        n += r->devices[i].kind == kind;
    return n;
}

static void check_same_devices(comparing *k)
{
    const vp_report *a = k->a.r, *b = k->b.r;
    bool kinds_differ = false;
    for (int i = 0; i <= VP_DEVICE_OTHER; i++)
        kinds_differ = kinds_differ || (!count_device_kind(a, (vp_device_kind)i) !=
                                        !count_device_kind(b, (vp_device_kind)i));
    const char *model_a = a->device_count ? a->devices[0].model : NULL,
               *model_b = b->device_count ? b->devices[0].model : NULL;
    if (kinds_differ)
        add_caveat(k, "A and B ran on different kinds of devices");
    else if (model_a && model_b && !is_same_known_text(model_a, model_b))
        add_caveat(k, cmp_print(k, "A ran on %s, B on %s", model_a, model_b));
    if (a->device_count != b->device_count)
        add_caveat(k,
                   cmp_print(k,
                             "A has %zu devices, B has %zu: op times are means over devices of a "
                             "kind",
                             a->device_count, b->device_count));
    if (a->host_count != b->host_count)
        add_caveat(k, cmp_print(k, "A has %zu hosts, B has %zu", a->host_count, b->host_count));
    if (a->has_devices != b->has_devices)
        add_caveat(k, "one of the runs has no devices: its processes are compared with devices of "
                      "the other");
    if (a->own_clock != b->own_clock)
        add_caveat(k, "one of the runs uses the device clock, the other the host clock");
}

static void check_data(comparing *k)
{
    const vp_report *a = k->a.r, *b = k->b.r;
    if (a->partial || b->partial)
        add_caveat(k, cmp_print(k, "%s incomplete, and so are the numbers",
                                a->partial && b->partial ? "A and B are"
                                : a->partial             ? "A is"
                                                         : "B is"));
    if (k->c->per_step && a->steps.source != b->steps.source)
        add_caveat(k, "the steps of A and B have different sources");
    if (!k->c->per_step && (cmp_has_steps(a) || cmp_has_steps(b)))
        add_caveat(k, "only one of the runs has steps that contain its work: whole windows are "
                      "compared");
    if (!k->c->per_step && a->steps.counted > 0 && b->steps.counted > 0 &&
        a->steps.counted != b->steps.counted)
        add_caveat(k, cmp_print(k,
                                "A ran %lld steps, B ran %lld: their windows contain different "
                                "work",
                                (long long)a->steps.counted, (long long)b->steps.counted));
}

void cmp_caveats(comparing *k)
{
    k->c->caveats = vp_arena_zalloc(k->arena, CAVEATS_MAX * sizeof *k->c->caveats);
    if (!k->c->caveats) {
        k->out_of_memory = true;
        return;
    }
    check_side_captures(k, k->c->captures_a, k->c->captures_a_count, k->given_a.unreadable, 'A');
    check_side_captures(k, k->c->captures_b, k->c->captures_b_count, k->given_b.unreadable, 'B');
    check_identity(k);
    check_same_devices(k);
    check_data(k);
}

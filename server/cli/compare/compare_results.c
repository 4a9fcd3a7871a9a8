#include "server/cli/compare/compare_results.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "server/cli/gates/compare_gate.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/bench/scaling_compare.h"
#include "trace/report/report.h"

typedef struct sides {
    scaling a, b;
    scaling_comparison c;
} sides;

/* ---- Which operands ---- */

bool compare_has_results(const cli_options *o)
{
    for (size_t i = 0; i < o->operand_count; i++)
        if (scaling_is_results(o->operands[i]))
            return true;
    return false;
}

/* Rejects options that do not apply to benchmark results. Returns 0, or the exit code after
 * printing an error. */
static int check_options(const cli_options *o, const compare_gate *g)
{
    for (size_t i = 0; i < o->operand_count; i++) {
        if (access(o->operands[i], F_OK) < 0) {
            vp_fail(VP_ENOTFOUND, "no such file or directory");
            return cli_fail(vp_fail_at(VP_ENOTFOUND, o->operands[i], -1, -1));
        }
        if (!scaling_is_results(o->operands[i])) {
            vp_log(VP_LOG_ERROR,
                   "%.200s is not a benchmark result, but %.200s is; compare two results, or two "
                   "profiles named by their \"tensorboard_trace\"",
                   o->operands[i], o->operands[!i]);
            return CLI_USAGE;
        }
    }
    if (o->append)
        vp_log(VP_LOG_ERROR, "--append: a history contains only profiles; use `view_profile trend` "
                             "for results of benchmarks");
    else if (!isnan(g->peak_percent))
        vp_log(VP_LOG_ERROR, "--fail-on-peak: results of a benchmark have no memory peaks");
    else if (g->findings.n)
        vp_log(VP_LOG_ERROR, "--fail-on %s: results of a benchmark have no findings",
               g->findings.items[0]);
    else
        return 0;
    return CLI_USAGE;
}

static int load_result_sides(sides *s, const cli_options *o)
{
    bool two = o->operand_count == 2;
    VP_TRY(scaling_add(&s->a, o->operands[0]));
    if (two)
        VP_TRY(scaling_add(&s->b, o->operands[1]));
    scaling_relate(&s->a);
    scaling_relate(&s->b);
    int rc = scaling_compare(&s->c, &s->a, two ? &s->b : NULL, o->operands[0],
                             two ? o->operands[1] : "the other methods");
    return rc < 0 ? vp_fail_at(rc, o->operands[0], -1, -1) : 0;
}

/* ---- The gate ---- */

static bool log_pair_failure(const scaling_pair *p, const char *option, const char *what)
{
    vp_buf name;
    vp_buf_init(&name, 1u << 20);
    scaling_pair_label(&name, p);
    vp_log(VP_LOG_ERROR, "%s: %.300s: %s", option, vp_buf_cstr(&name), what);
    vp_buf_free(&name);
    return true;
}

static bool is_too_slow(const scaling_pair *p, const char *option, const vp_delta *d,
                        double percent)
{
    char text[160];
    if (p->verdict == VP_UNVERIFIED || isnan(percent))
        return false;
    if (p->verdict == VP_REGRESSION && d->delta_ps == VP_NO_TIME)
        return log_pair_failure(p, option, p->reason);
    if (!compare_exceeds(d, percent, p->threshold_ps))
        return false;
    snprintf(text, sizeof text, "B takes %.2f%% longer than A (limit %.2f%%)",
             100 * (double)d->delta_ps / (double)d->a_ps, percent);
    return log_pair_failure(p, option, text);
}

static bool fails_pair_gate(const compare_gate *g, const scaling_pair *p)
{
    bool failed = is_too_slow(p, "--max-regression", &p->times[SCALING_MEDIAN], g->median_percent);
    failed =
        is_too_slow(p, "--max-p90-regression", &p->times[SCALING_P90], g->p90_percent) || failed;
    if ((g->on_regression && p->verdict == VP_REGRESSION) ||
        (g->on_unverified && p->verdict == VP_UNVERIFIED))
        failed = log_pair_failure(p, "--fail-on", p->reason);
    return failed;
}

/* failed[i]: result for pair i. */
static int check_pair_gates(bool *failed, const compare_gate *g, const scaling_comparison *c)
{
    int code = CLI_OK;
    for (size_t i = 0; i < c->count; i++) {
        failed[i] = fails_pair_gate(g, &c->pairs[i]);
        code = failed[i] ? CLI_GATE : code;
    }
    if (code || !c->by_verdict[VP_UNVERIFIED] || !compare_gate_needs_steps(g))
        return code;
    if (c->by_verdict[VP_UNVERIFIED] == c->count)
        return compare_gate_unverified(g, "--max-regression", "no method has a verdict",
                                       "repeat the benchmark: three runs of each method");
    vp_log(VP_LOG_WARN, "%zu of %zu comparisons not verified", c->by_verdict[VP_UNVERIFIED],
           c->count);
    return code;
}

/* ---- Printing ---- */

static int write_results_as(vp_buf *b, const scaling_comparison *c, const cli_options *o,
                            const bool *failed)
{
    vp_view view;
    cli_view(&view, o, 20);
    switch (o->format) {
    case COMPARE_JSON:
        return rep_results_json(b, c);
    case COMPARE_CSV:
        return rep_results_csv(b, c);
    case COMPARE_HTML:
        return rep_results_html(b, c);
    case COMPARE_MD:
        return rep_results_md(b, c, &view);
    case COMPARE_JUNIT:
        return rep_results_junit(b, c, failed);
    default:
        return rep_results_text(b, c, &view);
    }
}

static int show_results(const scaling_comparison *c, const cli_options *o, const compare_gate *g,
                        int *code)
{
    VP_CLEANUP(vp_free_ptr) bool *failed = vp_calloc(c->count, sizeof *failed);
    cli_file f;
    VP_NEED(failed);
    *code = check_pair_gates(failed, g, c);
    VP_TRY(cli_file_open(&f, o->out));
    return cli_file_close(&f, write_results_as(&f.buf, c, o, failed));
}

int compare_results(const cli_options *o, const compare_gate *g)
{
    int code = check_options(o, g);
    sides s = {0};
    if (code)
        return code;
    scaling_init(&s.a);
    scaling_init(&s.b);
    int rc = load_result_sides(&s, o);
    if (rc >= 0)
        rc = show_results(&s.c, o, g, &code);
    scaling_compare_free(&s.c);
    scaling_free(&s.a);
    scaling_free(&s.b);
    return rc < 0 ? cli_fail(rc) : code;
}

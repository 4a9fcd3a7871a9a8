/* `compare`: compares two runs, applies the gate, and writes the history of --append. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/gates/compare_gate.h"
#include "server/cli/input/input.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/compare/compare_results.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/analyze/analyze.h"
#include "trace/analyze/compare/compare.h"
#include "trace/analyze/findings/findings.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/report/compare/compare_formats.h"
#include "trace/report/trend/trend_view.h"

/* ---- The gate ---- */

static bool exceeds_gate(const char *what, const vp_delta *d, double percent,
                         const vp_comparison *c)
{
    if (c->verdict == VP_UNVERIFIED || !compare_exceeds(d, percent, c->threshold_ps))
        return false;
    vp_log(VP_LOG_ERROR, "%s: B takes %.2f%% longer than A (limit %.2f%%)", what,
           100 * (double)d->delta_ps / (double)d->a_ps, percent);
    return true;
}

static bool peak_fails(const char *name, int64_t a, int64_t b, double percent)
{
    if (b <= a || (double)(b - a) * 100 <= percent * (double)a)
        return false;
    vp_log(VP_LOG_ERROR,
           "--fail-on-peak: %.300s: the peak of B is %lld bytes higher than the %lld bytes of A "
           "(limit %.2f%%)",
           name, (long long)(b - a), (long long)a, percent);
    return true;
}

/* Compares the largest program of each side, even if they differ: that one has to fit in memory.
 * Returns a row like that of an allocator; unknown peaks are VP_UNKNOWN. */
static vp_compared_memory largest_program(const vp_comparison *c)
{
    vp_compared_memory of = {.a_bytes = VP_UNKNOWN, .b_bytes = VP_UNKNOWN};
    for (size_t i = 0; i < c->memory_count; i++) {
        const vp_compared_memory *m = &c->memory[i];
        if (!m->program || m->space)
            continue;
        of.program = m->b_bytes > of.b_bytes ? m->program : of.program;
        of.b_bytes = m->b_bytes > of.b_bytes ? m->b_bytes : of.b_bytes;
        of.a_bytes = m->a_bytes > of.a_bytes ? m->a_bytes : of.a_bytes;
    }
    return of;
}

static bool memory_fails(const compare_gate *g, const vp_comparison *c, bool must_know)
{
    vp_compared_memory most = largest_program(c);
    bool known = most.a_bytes != VP_UNKNOWN && most.b_bytes != VP_UNKNOWN;
    if (isnan(g->peak_percent))
        return false;
    bool failed = known && peak_fails(most.program, most.a_bytes, most.b_bytes, g->peak_percent);
    for (size_t i = 0; i < c->memory_count; i++) {
        const vp_compared_memory *m = &c->memory[i];
        if (m->program || m->delta_bytes == VP_NO_TIME)
            continue;
        known = true;
        failed = peak_fails(m->allocator, m->a_bytes, m->b_bytes, g->peak_percent) || failed;
    }
    if (known)
        return failed;
    vp_log(must_know ? VP_LOG_ERROR : VP_LOG_WARN,
           "--fail-on-peak: no peak is known for both A and B");
    return must_know;
}

static bool is_new_finding(const vp_comparison *c, const char *id)
{
    for (size_t i = 0; i < c->new_count; i++)
        if (!strcmp(c->findings_new[i], id))
            return true;
    return false;
}

static bool finding_fails(const compare_gate *g, const vp_comparison *c, const vp_report *b)
{
    for (size_t i = 0; i < b->finding_count; i++) {
        const vp_finding *f = &b->findings[i];
        for (size_t k = 0; f->status == VP_FIRED && is_new_finding(c, f->id) && k < g->findings.n;
             k++)
            if (findings_word_matches(f, g->findings.items[k])) {
                vp_log(VP_LOG_ERROR, "--fail-on %s: %s %s is found in B, not in A",
                       g->findings.items[k], f->id, f->name);
                return true;
            }
    }
    return false;
}

/* Returns true if an unverified comparison is a failure. For complete runs it is not; for an
 * incomplete run the gate must not report success. */
static bool unverified_fails(const vp_comparison *c, const vp_report *a, const vp_report *b)
{
    if (a->partial || b->partial) {
        vp_log(VP_LOG_ERROR, "not verified, and run %c is incomplete: %s", a->partial ? 'A' : 'B',
               c->verdict_reason);
        return true;
    }
    vp_log(VP_LOG_WARN, "not verified: %s", c->verdict_reason);
    return false;
}

static int check_compare_gate(const compare_gate *g, const vp_comparison *c, const vp_report *a,
                              const vp_report *b)
{
    bool failed = exceeds_gate("--max-regression", &c->median, g->median_percent, c);
    failed = exceeds_gate("--max-p90-regression", &c->p90, g->p90_percent, c) || failed;
    failed = finding_fails(g, c, b) || failed;
    failed = memory_fails(g, c, g->on_unverified || a->partial || b->partial) || failed;
    if ((g->on_regression && c->verdict == VP_REGRESSION) ||
        (g->on_unverified && c->verdict == VP_UNVERIFIED)) {
        vp_log(VP_LOG_ERROR, "--fail-on: %s", c->verdict_reason);
        failed = true;
    }
    if (!failed && c->verdict == VP_UNVERIFIED &&
        (!isnan(g->median_percent) || !isnan(g->p90_percent)))
        failed = unverified_fails(c, a, b);
    return failed ? CLI_GATE : CLI_OK;
}

/* ---- The command ---- */

static int write_comparison_as(vp_buf *b, const vp_comparison *c, const cli_options *o, bool failed)
{
    vp_view view;
    cli_view(&view, o, 20);
    switch (o->format) {
    case COMPARE_JSON:
        return rep_compare_json(b, c);
    case COMPARE_CSV:
        return rep_compare_csv(b, c);
    case COMPARE_HTML:
        return rep_compare_html(b, c, NULL);
    case COMPARE_MD:
        return rep_compare_md(b, c, &view);
    case COMPARE_JUNIT:
        return rep_compare_junit(b, c, failed);
    default:
        return rep_compare_text(b, c, &view);
    }
}

static int print_comparison(const vp_comparison *c, const cli_options *o, bool failed)
{
    cli_file f;
    VP_TRY(cli_file_open(&f, o->out));
    return cli_file_close(&f, write_comparison_as(&f.buf, c, o, failed));
}

/* ---- History ---- */

static int put_history_line(vp_buf *line, const vp_report *r)
{
    trend t;
    trend_init(&t);
    int rc = trend_add(&t, r);
    if (rc >= 0)
        rc = rep_history_line(line, &t.runs[0]);
    trend_free(&t);
    return rc;
}

/* Appends with a single write, so that lines of concurrent jobs are not mixed. */
static int append_history_line(const char *path, const vp_report *r)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    vp_buf line;
    vp_buf_init(&line, 1u << 20);
    int rc = put_history_line(&line, r);
    if (rc >= 0) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        rc = fd < 0 ? vp_fail(VP_EIO, "cannot write: %s", strerror(errno))
                    : vp_fs_write_all(fd, line.p, line.n);
    }
    vp_buf_free(&line);
    return rc < 0 ? vp_fail_at(rc, path, -1, -1) : 0;
}

static int compare_two_runs(const cli_options *o, const compare_gate *g)
{
    vp_report *a = NULL, *b = NULL;
    vp_comparison *c = NULL;
    int code = CLI_OK;
    int rc = cli_input(&a, o->operands[0], o);
    if (rc >= 0)
        rc = cli_input(&b, o->operands[1], o);
    if (rc >= 0)
        rc = compare_make(&c, a, b);
    if (rc >= 0) {
        code = check_compare_gate(g, c, a, b);
        rc = print_comparison(c, o, code != CLI_OK);
    }
    if (rc >= 0 && o->append)
        rc = append_history_line(o->append, b);
    compare_free(c);
    analyze_free(a);
    analyze_free(b);
    return rc < 0 ? cli_fail(rc) : code;
}

static int run_compare(const cli_options *o, const compare_gate *g)
{
    if (compare_has_results(o))
        return compare_results(o, g);
    if (o->operand_count == 2)
        return compare_two_runs(o, g);
    vp_log(VP_LOG_ERROR,
           "%.200s: compare needs two runs: view_profile compare A B (a single argument must be "
           "results of a benchmark)",
           o->operands[0]);
    return CLI_USAGE;
}

int cli_run_compare(const cli_options *o)
{
    compare_gate g;
    int code = compare_gate_parse(&g, o);
    if (!code)
        code = run_compare(o, &g);
    vp_free(g.words);
    return code;
}

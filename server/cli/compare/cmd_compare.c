/* `compare`: compares two runs, applies the gate, and writes the history of --append. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
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

/* The reports of one side. */
typedef struct captures {
    vp_report **v;
    size_t n, unreadable;
} captures;

typedef struct sides {
    captures a, b;
} sides;

/* ---- The gate ---- */

static bool exceeds_gate(const char *what, const vp_delta *d, double percent,
                         const vp_comparison *c)
{
    /* Work that only B does is no noise, if it alone exceeds the limit. */
    vp_delta certain = {d->a_ps, VP_UNKNOWN, c->certain_ps};
    int64_t noise = compare_exceeds(&certain, percent, 0) ? 0 : c->threshold_ps;
    if (c->verdict == VP_UNVERIFIED || !compare_exceeds(d, percent, noise))
        return false;
    vp_log(VP_LOG_ERROR, "%s: B takes %.2f%% longer than A (%+.3f ms, limit %.2f%%)", what,
           100 * (double)d->delta_ps / (double)d->a_ps, (double)d->delta_ps / 1e9, percent);
    return true;
}

/* The larger of the median and the typical step: an evaluation in every fifth step leaves the
 * median as it is. */
static const vp_delta *step_to_check(const vp_comparison *c)
{
    return c->typical.delta_ps > c->median.delta_ps ? &c->typical : &c->median;
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

static int check_memory_gate(const compare_gate *g, const vp_comparison *c, bool must_know)
{
    vp_compared_memory most = largest_program(c);
    bool known = most.a_bytes != VP_UNKNOWN && most.b_bytes != VP_UNKNOWN;
    if (isnan(g->peak_percent))
        return CLI_OK;
    bool failed = known && peak_fails(most.program, most.a_bytes, most.b_bytes, g->peak_percent);
    for (size_t i = 0; i < c->memory_count; i++) {
        const vp_compared_memory *m = &c->memory[i];
        if (m->program || m->delta_bytes == VP_NO_TIME)
            continue;
        known = true;
        failed = peak_fails(m->allocator, m->a_bytes, m->b_bytes, g->peak_percent) || failed;
    }
    if (known)
        return failed ? CLI_GATE : CLI_OK;
    if (!must_know)
        return compare_gate_unverified(g, "--fail-on-peak", "no peak is known for both A and B",
                                       "record profiles with memory, or drop --fail-on-peak");
    vp_log(VP_LOG_ERROR, "--fail-on-peak: no peak is known for both A and B");
    return CLI_GATE;
}

static bool is_new_finding(const vp_comparison *c, const char *id)
{
    for (size_t i = 0; i < c->new_count; i++)
        if (!strcmp(c->findings_new[i], id))
            return true;
    return false;
}

/* A rule that no capture of B can evaluate; severities are of whatever can be evaluated. */
static bool cannot_evaluate(const char *word, const captures *b)
{
    size_t rules = 0;
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->v[i]->finding_count; k++) {
            const vp_finding *f = &b->v[i]->findings[k];
            if (strcmp(f->id, word) != 0 && strcmp(f->name, word) != 0)
                continue;
            rules++;
            if (f->status != VP_NOT_EVALUATED)
                return false;
        }
    return rules > 0;
}

static bool has_new_finding(const vp_comparison *c, const captures *b, const char *word)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->v[i]->finding_count; k++) {
            const vp_finding *f = &b->v[i]->findings[k];
            if (f->status != VP_FIRED || !is_new_finding(c, f->id) ||
                !findings_word_matches(f, word))
                continue;
            vp_log(VP_LOG_ERROR, "--fail-on %s: %s %s is found in B, not in A", word, f->id,
                   f->name);
            return true;
        }
    return false;
}

static int check_findings_gate(const compare_gate *g, const vp_comparison *c, const captures *b)
{
    int code = CLI_OK;
    for (size_t i = 0; i < g->findings.n; i++) {
        const char *word = g->findings.items[i];
        char option[80];
        if (has_new_finding(c, b, word))
            return CLI_GATE;
        snprintf(option, sizeof option, "--fail-on %.60s", word);
        if (cannot_evaluate(word, b) &&
            compare_gate_unverified(g, option, "B lacks the data that this rule needs",
                                    "see docs/findings.md"))
            code = CLI_UNREADABLE;
    }
    return code;
}

static bool any_partial(const captures *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i]->partial)
            return true;
    return false;
}

/* What would make step times comparable. */
static const char *how_to_verify(const vp_comparison *c)
{
    if (!c->per_step && c->steps_a > 0 && c->steps_b > 0)
        return "wait for the device at the end of each step (docs/ci.md#steps)";
    if (!c->per_step)
        return "mark the steps of the program (docs/ci.md#steps)";
    if (c->median.a_ps > 0 && c->median.b_ps > 0 && c->steps_a >= 3 && c->steps_b >= 3)
        return "compare runs that do the same work";
    return "profile thirty steps (docs/ci.md#steps)";
}

/* No step times can be compared. An incomplete run then fails: it may have been cut off for the
 * reason that the gate looks for. */
static int check_unverified(const compare_gate *g, const vp_comparison *c, const sides *s)
{
    bool a = any_partial(&s->a);
    if (a || any_partial(&s->b)) {
        vp_log(VP_LOG_ERROR, "not verified, and run %c is incomplete: %s", a ? 'A' : 'B',
               c->verdict_reason);
        return CLI_GATE;
    }
    const char *option = !isnan(g->median_percent) ? "--max-regression"
                         : !isnan(g->p90_percent)  ? "--max-p90-regression"
                                                   : "--fail-on regression";
    return compare_gate_unverified(g, option, c->verdict_reason, how_to_verify(c));
}

static int worse_code(int a, int b)
{
    return a == CLI_GATE || b == CLI_GATE ? CLI_GATE : a ? a : b;
}

/* A limit that is exceeded counts more than one that cannot be checked. */
static int check_compare_gate(const compare_gate *g, const vp_comparison *c, const sides *s)
{
    bool failed = exceeds_gate("--max-regression", step_to_check(c), g->median_percent, c);
    failed = exceeds_gate("--max-p90-regression", &c->p90, g->p90_percent, c) || failed;
    int code = worse_code(failed ? CLI_GATE : CLI_OK, check_findings_gate(g, c, &s->b));
    bool partial = any_partial(&s->a) || any_partial(&s->b);
    code = worse_code(code, check_memory_gate(g, c, g->on_unverified || partial));
    if ((g->on_regression && c->verdict == VP_REGRESSION) ||
        (g->on_unverified && c->verdict == VP_UNVERIFIED)) {
        vp_log(VP_LOG_ERROR, "--fail-on: %s", c->verdict_reason);
        return CLI_GATE;
    }
    if (code != CLI_GATE && c->verdict == VP_UNVERIFIED && compare_gate_needs_steps(g))
        code = worse_code(code, check_unverified(g, c, s));
    return code;
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

/* ---- Captures ---- */

static void free_captures(captures *s)
{
    for (size_t i = 0; i < s->n; i++)
        analyze_free(s->v[i]);
    vp_free(s->v);
}

/* Reads the captures of a side. One of several that cannot be read is reported and left out; if
 * none is left, the side has failed. */
static int read_captures(captures *s, const char *const *paths, size_t n, const cli_options *o)
{
    s->v = vp_calloc(n, sizeof *s->v);
    VP_NEED(s->v);
    for (size_t i = 0; i < n; i++) {
        int rc = cli_input(&s->v[s->n], paths[i], o);
        if (rc >= 0) {
            s->n++;
            continue;
        }
        if (n == 1 || rc == VP_ENOMEM || rc == VP_ECANCELLED || (i + 1 == n && !s->n))
            return rc;
        s->unreadable++;
        vp_log(VP_LOG_WARN, "%.300s: not compared: %s", paths[i], vp_error_last()->message);
    }
    return 0;
}

static int read_sides(sides *s, const cli_options *o)
{
    const char *const *operands = (const char *const *)o->operands;
    if (o->operand_count) {
        VP_TRY(read_captures(&s->a, operands, 1, o));
        return read_captures(&s->b, operands + 1, 1, o);
    }
    VP_TRY(read_captures(&s->a, o->base.items, o->base.n, o));
    return read_captures(&s->b, o->new_captures.items, o->new_captures.n, o);
}

static compare_side side_of_captures(const captures *s)
{
    return (compare_side){(const vp_report *const *)s->v, s->n, s->unreadable};
}

/* The history has one line a capture of B. */
static int append_history(const char *path, const captures *b)
{
    int rc = 0;
    for (size_t i = 0; path && rc >= 0 && i < b->n; i++)
        rc = append_history_line(path, b->v[i]);
    return rc;
}

static int compare_runs(const cli_options *o, const compare_gate *g)
{
    sides s = {0};
    vp_comparison *c = NULL;
    int code = CLI_OK, rc = read_sides(&s, o);
    if (rc >= 0) {
        compare_side a = side_of_captures(&s.a), b = side_of_captures(&s.b);
        rc = compare_sides(&c, &a, &b);
    }
    if (rc >= 0) {
        code = check_compare_gate(g, c, &s);
        rc = print_comparison(c, o, code != CLI_OK);
    }
    if (rc >= 0)
        rc = append_history(o->append, &s.b);
    compare_free(c);
    free_captures(&s.a);
    free_captures(&s.b);
    return rc < 0 ? cli_fail(rc) : code;
}

static int run_compare(const cli_options *o, const compare_gate *g)
{
    bool lists = o->base.n || o->new_captures.n;
    if (lists && o->operand_count) {
        vp_log(VP_LOG_ERROR, "%.200s: name runs either as arguments or with --base and --new",
               o->operands[0]);
        return CLI_USAGE;
    }
    if (lists && (!o->base.n || !o->new_captures.n)) {
        vp_log(VP_LOG_ERROR, "missing --%s: each side needs at least one capture",
               o->base.n ? "new" : "base");
        return CLI_USAGE;
    }
    if (compare_has_results(o))
        return compare_results(o, g);
    if (lists || o->operand_count == 2)
        return compare_runs(o, g);
    if (!o->operand_count) {
        vp_log(VP_LOG_ERROR, "missing argument A [B]; see view_profile compare --help");
        return CLI_USAGE;
    }
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

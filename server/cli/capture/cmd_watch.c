/* `watch`: converts the command line to the options of server/watch. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/gates/compare_gate.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/duration.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "server/watch/watcher.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"
#include "trace/source/address.h"

#define MOST_MS (INT64_C(366) * 86400000)

/* The options that are passed to each capture. */
typedef struct capture_words {
    const char *v[16 + 2 * CLI_LIST_MAX];
    size_t n;
    char host[8], device[8];
} capture_words;

static void capture_words_put(capture_words *w, const char *option, const char *value)
{
    w->v[w->n++] = option;
    if (value)
        w->v[w->n++] = value;
}

static void capture_words_of(capture_words *w, const cli_options *o)
{
    *w = (capture_words){0};
    snprintf(w->host, sizeof w->host, "%d", (int)(o->host_tracer & 7));
    snprintf(w->device, sizeof w->device, "%d", (int)(o->device_tracer & 7));
    capture_words_put(w, "--duration", o->duration);
    capture_words_put(w, "--patience", o->patience);
    capture_words_put(w, "--host-tracer", w->host);
    capture_words_put(w, "--device-tracer", w->device);
    if (o->python_tracer)
        capture_words_put(w, "--python-tracer", NULL);
    for (size_t i = 0; i < o->option.n; i++)
        capture_words_put(w, "--option", o->option.items[i]);
}

static bool is_baseline_there(const watch_options *w)
{
    char path[2 * VP_PATH_MAX];
    if (!strcmp(w->baseline, "first") || !strcmp(w->baseline, "best") ||
        source_is_address(w->baseline) || (w->out && source_is_address(w->out)))
        return true; /* a run that is not local is searched at the first comparison */
    bool is_path = strchr(w->baseline, '/') != NULL;
    snprintf(path, sizeof path, "%s%s%s",
             is_path  ? ""
             : w->out ? w->out
                      : ".",
             is_path ? "" : "/plugins/profile/", w->baseline);
    return access(path, R_OK) == 0;
}

static int watch_options_of_cli(watch_options *w, const capture_words *words, const cli_options *o)
{
    compare_gate gate;
    *w = (watch_options){.program = o->program,
                         .targets = o->operands,
                         .target_count = o->operand_count,
                         .hosts_file = o->hosts_file,
                         .out = o->out,
                         .baseline = o->baseline,
                         .keep = o->keep,
                         .parallel = o->parallel,
                         .times = o->times,
                         .max_regression = o->max_regression,
                         .max_p90_regression = o->max_p90_regression,
                         .fail_on_peak = o->fail_on_peak,
                         .fail_on = o->fail_on,
                         .on_regression = o->on_regression,
                         .on_regression_args = o->on_regression_arg.items,
                         .on_regression_arg_count = o->on_regression_arg.n,
                         .capture_args = words->v,
                         .capture_arg_count = words->n,
                         .is_unsigned = o->no_sign_request,
                         .json = o->format == 1,
                         .quiet = o->quiet};
    int code = cli_duration_ms("every", o->every, 100, MOST_MS, &w->every_ms);
    if (!code)
        code = cli_duration_ms("duration", o->duration, 1, MOST_MS, &w->duration_ms);
    if (code)
        return code;
    code = compare_gate_parse(&gate, o);
    w->peak_percent = gate.peak_percent;
    vp_free(gate.words);
    return code;
}

static int refuse_watch_options(const cli_options *o, const watch_options *w)
{
    if (!o->operand_count && !o->hosts_file)
        vp_log(VP_LOG_ERROR, "missing HOST:PORT or --hosts-file; see view_profile watch --help");
    else if (o->on_regression_arg.n && !o->on_regression)
        vp_log(VP_LOG_ERROR, "--on-regression-arg requires --on-regression");
    else if (w->duration_ms > w->every_ms)
        vp_log(VP_LOG_ERROR, "--duration %s is longer than --every %s", o->duration, o->every);
    else if (!is_baseline_there(w))
        vp_log(VP_LOG_ERROR,
               "--baseline %.300s: no such run; give first, best, a run in --out, or a path that "
               "contains a /",
               w->baseline);
    else
        return CLI_OK;
    return CLI_USAGE;
}

int cli_run_watch(const cli_options *o)
{
    static const int codes[] = {
        [WATCH_OK] = CLI_OK, [WATCH_SLOWER] = CLI_GATE, [WATCH_NOTHING] = CLI_CAPTURE_FAILED};
    watch_options w;
    watch_end end;
    capture_words words;
    capture_words_of(&words, o);
    int code = watch_options_of_cli(&w, &words, o);
    if (!code)
        code = refuse_watch_options(o, &w);
    if (code)
        return code;
    int rc = watch_run(&w, &end);
    return rc < 0 ? cli_fail(rc) : codes[end];
}

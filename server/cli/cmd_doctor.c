/* `view_profile doctor`: checks what is installed and what is missing, with advice. */
#include <string.h>

#include "server/cli/doctor_stores.h"
#include "server/cli/input/open.h"
#include "server/cli/input/profile_dir.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/serve/find_perfetto.h"
#include "server/cli/terminal/standard_out.h"
#include "server/cli/terminal/wrap.h"
#include "server/local/survey.h"
#include "server/local/survey_tensorboard.h"
#include "server/routes/handoff/ui_build.h"
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"
#include "trace/capture/adapters/dwarf.h"
#include "trace/capture/gpu/cupti.h"

#define WIDTH 80
#define NAME_COLUMN 9
#define TEXT_COLUMN 28

static void ask_library(survey_line *out, survey_find_fn *find, const char *name,
                        const char *advice)
{
    char path[VP_PATH_MAX];
    survey_aside(path, sizeof path, find);
    if (path[0])
        survey_say(out, SURVEY_OK, "", "%.300s", path);
    else
        survey_say(out, SURVEY_OPTIONAL, advice, "cannot load %s", name);
}

static void ask_cupti(survey_line *out)
{
    ask_library(out, cupti_find, "libcupti.so",
                "needed only to record CUDA kernels; install CUPTI from the CUDA toolkit, add its "
                "directory to LD_LIBRARY_PATH, or run pip install nvidia-cuda-cupti");
}

static void ask_libdw(survey_line *out)
{
    ask_library(out, dwarf_find, "libdw.so.1",
                "needed only by record --functions, for files and lines of functions; install "
                "elfutils' libdw (Debian: libdw1)");
}

static void ask_perfetto(survey_line *out)
{
    VP_CLEANUP(ui_build_close) ui_build *b = NULL;
    char dir[VP_PATH_MAX];
    if (cli_find_perfetto(dir) == 0 && ui_build_open(&b, dir) == 0)
        survey_say(out, SURVEY_OK, "",
                   "%s in %.300s, used with --offline or if ui.perfetto.dev does not answer",
                   b->version, dir);
    else
        survey_say(out, SURVEY_OPTIONAL, CLI_PERFETTO_ADVICE,
                   "not installed; ui.perfetto.dev is used");
}

typedef struct question {
    const char *name;
    survey_fn *ask;
} question;

static const question questions[] = {
    {"temporary files", survey_temp},
    {"browser", survey_browser},
    {"TensorBoard", survey_tensorboard},
    {"Perfetto UI", ask_perfetto},
    {"viewer port", survey_own_port},
    {"TensorBoard port", survey_tensorboard_port},
    {"safe opening", survey_openat2},
    {"sandbox", survey_landlock},
    {"file notification", survey_inotify},
    {"object stores", doctor_stores},
    {"CUPTI", ask_cupti},
    {"libdw", ask_libdw},
};
#define QUESTIONS (sizeof questions / sizeof *questions)

static const char *const states[] = {"ok", "optional", "missing"};

/* ---- The profile directory ------------------------------------------------------------------ */

static void describe_catalog(survey_line *out, const catalog *c)
{
    const cat_session *latest = catalog_latest(c);
    size_t n = catalog_count(c);
    if (latest)
        survey_say(out, SURVEY_OK, "", "%.300s: %zu run%s, latest %.120s", catalog_path(c), n,
                   n == 1 ? "" : "s", latest->name);
}

/* A directory without a profile is a failure only if the user gave it. Returns an exit code. */
static int look_at_directory(survey_line *out, const cli_options *o)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    VP_CLEANUP(vp_free_ptr) char *path = o->path ? vp_strdup(o->path) : cli_default_dir();
    cat_options opts = CAT_OPTIONS_INIT;
    int rc = path ? cli_mirror(&opts.mirror, path, o) : vp_no_memory();
    if (rc >= 0)
        rc = catalog_open(&c, path, &opts);
    if (opts.mirror) { /* its URL contains no password */
        vp_free(path);
        path = vp_strdup(mirror_url(opts.mirror));
    }
    mirror_free(opts.mirror);
    out->name = "profile directory";
    if (rc >= 0)
        rc = cli_readable(c);
    if (rc >= 0) {
        describe_catalog(out, c);
        return CLI_OK;
    }
    survey_say(out, o->path ? SURVEY_FAILED : SURVEY_OPTIONAL,
               "give a directory above or below plugins/profile, a trace file or an archive",
               "%.150s: %.320s", path ? path : ".", vp_error_last()->message);
    return !o->path ? CLI_OK : rc == VP_ENOTFOUND ? CLI_NOT_FOUND : CLI_UNREADABLE;
}

/* ---- Output --------------------------------------------------------------------------------- */

/* Wraps the text at a column that the line has already reached. */
static void put_wrapped(vp_buf *b, const char *text)
{
    vp_buf escaped, wrapped;
    vp_buf_init(&escaped, 8192);
    vp_buf_init(&wrapped, 16384);
    vp_put_escaped(&escaped, vp_str_of(text));
    cli_wrap(&wrapped, vp_buf_view(&escaped), TEXT_COLUMN, WIDTH);
    vp_buf_str(b, vp_str_skip(vp_buf_view(&wrapped), TEXT_COLUMN));
    vp_buf_free(&escaped);
    vp_buf_free(&wrapped);
}

static void put_doctor_line(vp_buf *b, const survey_line *l)
{
    const char *state = states[l->state];
    vp_buf_puts(b, state);
    vp_buf_pad(b, ' ', NAME_COLUMN - strlen(state));
    vp_buf_puts(b, l->name);
    vp_buf_pad(b, ' ', TEXT_COLUMN - NAME_COLUMN - strlen(l->name));
    put_wrapped(b, l->detail);
    if (!l->advice[0])
        return;
    vp_buf_pad(b, ' ', TEXT_COLUMN);
    put_wrapped(b, l->advice);
}

static void put_doctor_json(vp_buf *b, const survey_line *lines, size_t n, bool ok)
{
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "schema", "view_profile.doctor/1");
    vp_json_kcstr(&j, "version", VP_VERSION);
    vp_json_kbool(&j, "ok", ok);
    vp_json_key(&j, "checks");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < n; i++) {
        vp_json_begin_object(&j);
        vp_json_kcstr(&j, "name", lines[i].name);
        vp_json_kcstr(&j, "state", states[lines[i].state]);
        vp_json_kcstr(&j, "detail", lines[i].detail);
        vp_json_kcstr(&j, "advice", lines[i].advice[0] ? lines[i].advice : NULL);
        vp_json_end_object(&j);
    }
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    vp_buf_putc(b, '\n');
}

int cli_run_doctor(const cli_options *o)
{
    survey_line lines[QUESTIONS + 1] = {0};
    int code = look_at_directory(&lines[0], o);
    vp_buf b;
    for (size_t i = 0; i < QUESTIONS; i++) {
        lines[i + 1].name = questions[i].name;
        questions[i].ask(&lines[i + 1]);
        if (!code && lines[i + 1].state == SURVEY_FAILED)
            code = CLI_CANNOT_SERVE;
    }
    cli_stdout(&b);
    if (o->format == VP_FORMAT_JSON)
        put_doctor_json(&b, lines, QUESTIONS + 1, !code);
    for (size_t i = 0; o->format != VP_FORMAT_JSON && i <= QUESTIONS; i++)
        put_doctor_line(&b, &lines[i]);
    int written = cli_finish(&b);
    return written ? written : code;
}

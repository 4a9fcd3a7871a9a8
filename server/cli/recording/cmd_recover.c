/* `view_profile recover`: recovers the profiles of killed processes. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/view_profile_capture.h"
#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/recording/find_recorder.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/base/err.h"
#include "trace/base/log.h"
#include "trace/base/str.h"

typedef struct totals {
    size_t found, made, kept, failed;
} totals;

static int say_made(const vp_result *r, const char *path)
{
    vp_buf b;
    cli_stdout(&b);
    vp_buf_printf(&b, "recovered %llu event%s of ", (unsigned long long)r->zones,
                  r->zones == 1 ? "" : "s");
    vp_put_escaped(&b, vp_str_of(path));
    vp_buf_puts(&b, " to ");
    vp_put_escaped(&b, vp_str_of(r->run_dir));
    vp_buf_putc(&b, '\n');
    return cli_finish(&b);
}

/* Recovers one recording. named: given by the user, so that every reason for skipping it is an
 * error; other skipped or empty recordings are only counted. */
static int recover_one_recording(totals *t, const cli_options *o, const char *path, bool named)
{
    vp_result r = VP_RESULT_INIT;
    t->found++;
    int rc = cli_recover(&r, path, o->out);
    if ((rc == VP_EREFUSED || rc == VP_EEMPTY || rc == VP_EBUSY) && !named) {
        t->kept++;
        return CLI_OK;
    }
    if (rc < 0) {
        t->failed++;
        int code = cli_fail(rc);
        return rc == VP_EBUSY ? CLI_UNREADABLE : code;
    }
    t->made++;
    if (o->remove && unlink(path) < 0)
        vp_log(VP_LOG_WARN, "%s: cannot remove the file", path);
    return say_made(&r, path);
}

static bool is_recording(const cat_file *f)
{
    return f->kind.format == RD_VPCAP && !f->is_member;
}

static int recover_all_recordings(totals *t, const cli_options *o, const char *dir)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    cat_options opts = CAT_OPTIONS_INIT;
    int rc = catalog_open(&c, dir, &opts), code = CLI_OK;
    if (rc < 0)
        return cli_fail(rc);
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        for (size_t k = 0; k < s->file_count; k++) {
            char path[2 * VP_PATH_MAX];
            if (!is_recording(&s->files[k]))
                continue;
            snprintf(path, sizeof path, "%s/%s", catalog_path(c), s->files[k].path);
            int each = recover_one_recording(t, o, path, false);
            code = each ? each : code;
        }
    }
    return code;
}

int cli_run_recover(const cli_options *o)
{
    totals t = {0};
    int code = CLI_OK;
    for (size_t i = 0; i < o->operand_count; i++) {
        struct stat st;
        bool is_dir = stat(o->operands[i], &st) == 0 && S_ISDIR(st.st_mode);
        int each = is_dir ? recover_all_recordings(&t, o, o->operands[i])
                          : recover_one_recording(&t, o, o->operands[i], true);
        code = each ? each : code;
    }
    if (t.kept)
        vp_log(VP_LOG_INFO,
               "%zu recording%s skipped: already recovered, empty, or still being recorded", t.kept,
               t.kept == 1 ? " is" : "s are");
    if (!t.found && !code) {
        vp_log(VP_LOG_ERROR, "%s: no .vpcap file of a killed process found", o->operands[0]);
        return CLI_NOT_FOUND;
    }
    return code;
}

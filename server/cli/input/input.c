#include "server/cli/input/input.h"

#include <string.h>
#include <unistd.h>

#include "server/cli/input/open.h"
#include "server/cli/language/cli_options.h"
#include "trace/base/err.h"
#include "trace/report/report.h"
#include "trace/source/document.h"

/* Opens and analyzes `path` and `session` instead of those of o. */
static int analyze_there(vp_report **out, const cli_options *o, const char *path,
                         const char *session)
{
    VP_CLEANUP(cli_catalog_free) catalog *c = NULL;
    cli_options there = *o;
    there.path = path;
    there.session = session;
    there.paths = NULL;
    there.path_count = 0;
    VP_TRY(cli_open(&c, &there));
    return cli_analyze(out, c, &there);
}

int cli_input(vp_report **out, const char *operand, const cli_options *o)
{
    VP_CLEANUP(document_close) document d;
    VP_TRY(document_open(&d, operand, o->no_sign_request, VP_STR("\"view_profile.report/")));
    if (!strcmp(operand, "-") || rep_is_report(d.path))
        return document_fail(&d, rep_read_file(out, d.path));
    if (mirror_is_url(operand) || access(operand, F_OK) == 0)
        return analyze_there(out, o, operand, NULL);
    int rc = analyze_there(out, o, o->profile_dir, operand);
    if (rc != VP_ENOTFOUND)
        return rc;
    vp_error why = *vp_error_last();
    vp_fail(rc, "no such file or directory, and no such run: %.200s", why.message);
    return vp_fail_at(rc, operand, -1, -1);
}

#include "server/local/tb_probe.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/local/loopback_http.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

/* The plugin answers its version in 2-4 ms and the list of 10,000 runs in 0.8 s
 * (docs/reference/xprof.md#tensorboard). */
#define VERSION_TIMEOUT_MS 1000
#define RUNS_TIMEOUT_MS 5000

int tb_get(vp_buf *body, const tb_place *at, const char *path, int timeout_ms)
{
    char target[TB_PREFIX_MAX + 256];
    int status;
    snprintf(target, sizeof target, "%s%s", at->prefix, path);
    VP_TRY(lb_get(body, &status, at->port, target, timeout_ms));
    if (status == 404)
        return vp_fail(VP_ENOTFOUND, "page not found on port %d", at->port);
    if (status != 200)
        return vp_fail(VP_EREMOTE, "port %d answers with HTTP status %d", at->port, status);
    return 0;
}

int tb_get_runs(vp_buf *runs_json, bool *plugin, const tb_place *at)
{
    VP_CLEANUP(vp_buf_free) vp_buf version;
    vp_buf_init(&version, VP_LOCAL_ANSWER_MAX);
    *plugin = false;
    VP_TRY(tb_get(&version, at, "/data/plugin/profile/version", VERSION_TIMEOUT_MS));
    *plugin = true;
    return tb_get(runs_json, at, "/data/plugin/profile/runs", RUNS_TIMEOUT_MS);
}

int tb_lists(vp_str runs_json, const char *run)
{
    json_t *runs = json_loadb(runs_json.p ? runs_json.p : "", runs_json.n, 0, NULL), *entry;
    bool found = false, good = json_is_array(runs);
    size_t i;
    json_array_foreach(runs, i, entry)
    {
        const char *text = json_string_value(entry);
        found = found || (text && strcmp(text, run) == 0);
    }
    json_decref(runs);
    if (!good)
        return vp_fail(VP_ECORRUPT, "TensorBoard returned an invalid list of runs");
    return found ? 0 : vp_fail(VP_ENOTFOUND, "TensorBoard does not list the run");
}

/* Queries a TensorBoard or standalone XProf on loopback: profile plugin, runs, log directory. All
 * answers are untrusted. */
#ifndef VP_LOCAL_TB_PROBE_H
#define VP_LOCAL_TB_PROBE_H

#include <stdbool.h>

#include "trace/base/buf.h"

#define TB_PREFIX_MAX 128u

typedef struct tb_place {
    int port;
    char prefix[TB_PREFIX_MAX]; /* --path_prefix: "" or "/…" without a slash at its end */
} tb_place;

/* GETs prefix/path like lb_get. VP_ENOTFOUND for 404, VP_EREMOTE for any other status except 200.
 */
int tb_get(vp_buf *body, const tb_place *at, const char *path, int timeout_ms);
/* Appends the runs, a JSON array of strings. *plugin: true if the profile plugin is installed.
 * VP_EREMOTE: no server; VP_ENOTFOUND: a server without the plugin. */
int tb_get_runs(vp_buf *runs_json, bool *plugin, const tb_place *at);
/* Checks that `run` is in the list. VP_ENOTFOUND, VP_ECORRUPT. */
int tb_lists(vp_str runs_json, const char *run);

#endif

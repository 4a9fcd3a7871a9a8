/* What a TensorBoard or a standalone XProf on loopback answers when asked: whether it has the
 * profile plugin, which runs it lists, where its log directory is. Only server/local includes
 * this. All answers are hostile until read. */
#ifndef VP_LOCAL_TB_PROBE_H
#define VP_LOCAL_TB_PROBE_H

#include <stdbool.h>

#include "trace/base/buf.h"

#define TB_PREFIX_MAX 128u

typedef struct tb_place {
    int port;
    char prefix[TB_PREFIX_MAX]; /* --path_prefix: "" or "/…" without a slash at its end */
} tb_place;

/* GETs prefix/path, as lb_get. VP_ENOTFOUND for 404, VP_EREMOTE for any other status but 200. */
int tb_get(vp_buf *body, const tb_place *at, const char *path, int timeout_ms);
/* Appends the runs, a JSON array of strings. *plugin tells whether there is a profile plugin.
 * VP_EREMOTE: nobody answers; VP_ENOTFOUND: somebody without the plugin. */
int tb_get_runs(vp_buf *runs_json, bool *plugin, const tb_place *at);
/* Whether `run` is among them. VP_ENOTFOUND, VP_ECORRUPT. */
int tb_lists(vp_str runs_json, const char *run);

#endif

/* A TensorBoard or a standalone XProf that somebody runs on this machine already, for the same
 * directory. Another directory will not do: asked for a run that it does not know, TensorBoard
 * silently opens another one (docs/reference/xprof.md#tensorboard), and runs of two directories
 * often have one name. Only server/local includes this.
 *
 * Asked are the port that was named, the ports that running TensorBoards write into
 * $TMPDIR/.tensorboard-info, and XProf's own. One counts only if a run that it lists is made of the
 * session's very files (device and inode below its log directory) and the socket is our user's or
 * root's. Where the log directory is not to be seen (a container), the run's whole name has to be
 * the same. */
#ifndef VP_LOCAL_TB_FIND_H
#define VP_LOCAL_TB_FIND_H

#include "server/local/tb_probe.h"
#include "trace/base/limits.h"
#include "trace/model/catalog/catalog.h"

typedef struct tb_found {
    tb_place place;
    bool xprof;                   /* a standalone XProf: no TensorBoard around the plugin */
    char run[VP_MEMBER_NAME_MAX]; /* as it names the session */
} tb_found;

/* Looks on `port`, where running TensorBoards say they are ($TMPDIR/.tensorboard-info), and on
 * XProf's own port. VP_ENOTFOUND: none shows this session. */
int tb_find(tb_found *out, int port, const cat_session *s);

/* Which of the listed runs (a JSON array of strings) is the session: the one whose directory below
 * `logdir` holds the session's very files. Where that directory is not there to be looked at
 * (logdir is NULL, or one of another mount namespace), it is the one of exactly the session's name.
 * VP_ENOTFOUND, VP_ECORRUPT. run has VP_MEMBER_NAME_MAX bytes. */
int tb_match_run(char *run, vp_str runs_json, const char *logdir, const cat_session *s);

#endif

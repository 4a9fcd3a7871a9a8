/* Finds a TensorBoard or standalone XProf that already runs on this machine and shows the same
 * directory. A different directory is not usable: TensorBoard silently opens another run if it
 * does not know the requested one (docs/reference/xprof.md#tensorboard), and runs of two
 * directories often share a name.
 *
 * Candidates are the given port, the ports in $TMPDIR/.tensorboard-info, and XProf's default port.
 * A candidate is accepted only if one of its runs consists of the same files (device and inode),
 * and its socket belongs to this user or root. If its log directory is not visible (a container),
 * the full name of the run must match. */
#ifndef VP_LOCAL_TB_FIND_H
#define VP_LOCAL_TB_FIND_H

#include "server/local/tb_probe.h"
#include "trace/base/limits.h"
#include "trace/model/catalog/catalog.h"

typedef struct tb_found {
    tb_place place;
    bool xprof;                   /* a standalone XProf without TensorBoard */
    char run[VP_MEMBER_NAME_MAX]; /* its name of the run */
} tb_found;

/* Searches `port`, the ports in $TMPDIR/.tensorboard-info, and XProf's default port. VP_ENOTFOUND:
 * none shows this run. */
int tb_find(tb_found *out, int port, const cat_session *s);

/* Finds the run in the list (a JSON array of strings): the entry whose directory below `logdir`
 * contains the same files. If that directory cannot be read (logdir is NULL, or in another mount
 * namespace), the entry with the same name. VP_ENOTFOUND, VP_ECORRUPT. run has VP_MEMBER_NAME_MAX
 * bytes. */
int tb_match_run(char *run, vp_str runs_json, const char *logdir, const cat_session *s);

#endif

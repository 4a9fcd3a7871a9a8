/* Who listens on a port of this machine, as /proc tells it: whose process it is, and which log
 * directory a TensorBoard or XProf was given. Any program may answer on a port of loopback; one
 * of another user is not to be trusted with a link. Only server/local includes this. */
#ifndef VP_LOCAL_TB_LISTENER_H
#define VP_LOCAL_TB_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/base/str.h"

typedef struct tb_listener {
    uid_t uid;
    unsigned long long inode; /* of its socket */
} tb_listener;

/* Who gets what is sent to 127.0.0.1:port. VP_ENOTFOUND: nobody, or /proc does not say. */
int tb_listener_find(tb_listener *out, int port);
/* The same from the text of /proc/net/tcp or tcp6, for tests. */
int tb_listener_parse(tb_listener *out, vp_str table, int port);
/* The process that holds the socket, if we may look into it; 0 otherwise. */
pid_t tb_listener_pid(const tb_listener *l);
/* The log directory among a program's arguments, each ended by NUL: after --logdir or -l, or the
 * operand of xprof. false: none. */
bool tb_logdir_of(vp_str *out, vp_str args);
/* The same of a running process, absolute, into out of VP_PATH_MAX bytes. `said` is what it calls
 * its log directory when asked, or NULL. VP_ENOTFOUND. */
int tb_listener_logdir(char *out, pid_t pid, const char *said);

#endif

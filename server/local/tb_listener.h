/* Finds in /proc which process listens on a port, its user, and the log directory of a TensorBoard
 * or XProf. Any program can answer on a loopback port, and one of another user is not trusted with
 * a link. */
#ifndef VP_LOCAL_TB_LISTENER_H
#define VP_LOCAL_TB_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/base/str.h"

typedef struct tb_listener {
    uid_t uid;
    unsigned long long inode; /* of its socket */
} tb_listener;

/* Finds the listener of 127.0.0.1:port. VP_ENOTFOUND: none, or not visible in /proc. */
int tb_listener_find(tb_listener *out, int port);
/* The same from the text of /proc/net/tcp or tcp6, for tests. */
int tb_listener_parse(tb_listener *out, vp_str table, int port);
/* The process that holds the socket; 0 if unknown or permission is denied. */
pid_t tb_listener_pid(const tb_listener *l);
/* Finds the log directory in NUL-terminated arguments: after --logdir or -l, or the operand of
 * xprof. false: none. */
bool tb_logdir_of(vp_str *out, vp_str args);
/* The absolute log directory of a running process; out has VP_PATH_MAX bytes. `said`: the log
 * directory in its answer, or NULL. VP_ENOTFOUND. */
int tb_listener_logdir(char *out, pid_t pid, const char *said);

#endif

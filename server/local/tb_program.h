/* Finds the TensorBoard program and builds its command line, which always restricts it to
 * loopback. */
#ifndef VP_LOCAL_TB_PROGRAM_H
#define VP_LOCAL_TB_PROGRAM_H

#include "server/local/child.h"
#include "trace/base/limits.h"

typedef enum tb_kind {
    TB_PROGRAM, /* `tensorboard` or a compatible program */
    TB_XPROF,   /* `xprof`, standalone */
    TB_MODULE   /* `python3 -m tensorboard.main` */
} tb_kind;

typedef struct tb_program {
    tb_kind kind;
    char path[VP_PATH_MAX];
} tb_program;

/* $VIEW_PROFILE_TENSORBOARD, else `tensorboard`, `xprof` or `python3` in PATH. VP_ENOTFOUND. */
int tb_program_find(tb_program *out);
/* Starts it on 127.0.0.1:port over a log directory. */
int tb_program_start(child **out, const tb_program *p, const char *logdir, int port);

#endif

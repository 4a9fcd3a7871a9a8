/* Finds a TensorBoard on loopback that shows the served directory, or starts one
 * (docs/reference/xprof.md#tensorboard). Called from worker threads; a call blocks for a few
 * seconds at most. The answer is plain data; routes make links and pages from it. One tb serves
 * all runs, and a run that is added later appears immediately.
 *
 * If none is found, one is started on a tree of links in a temporary directory (tb_scratch.h).
 * Archive members are copied there by a thread while the page shows the progress. xprof has no
 * option for its address and listens on all interfaces, so it is started through its Python with
 * that one function replaced, or not at all. A TensorBoard that has answered once is restarted if
 * it exits, at most five times in a row. */
#ifndef VP_LOCAL_TENSORBOARD_H
#define VP_LOCAL_TENSORBOARD_H

#include "trace/base/limits.h"
#include "trace/model/catalog/catalog.h"

typedef struct tb tb;

/* XProf opens at most this many hosts in one trace viewer (docs/reference/xprof.md#tensorboard). */
#define TB_HOSTS_MAX 10u
#define TB_HOSTS_BYTES_MAX (TB_HOSTS_MAX * 256u)

typedef enum tb_state {
    TB_READY,     /* a TensorBoard on `port` lists `run` */
    TB_COPYING,   /* the run is being unpacked for ours: done of total bytes */
    TB_STARTING,  /* ours was started and does not answer yet */
    TB_FAILED,    /* `message` is the reason; the next request tries again */
    TB_NO_XPLANE, /* the run has no file that TensorBoard reads */
    TB_NO_HOST    /* the requested host has no file that TensorBoard reads */
} tb_state;

typedef struct tb_answer {
    tb_state state;
    int port;
    char prefix[128];               /* path prefix: "" or "/…" */
    bool ours;                      /* we started it */
    bool xprof;                     /* TB_READY: a standalone XProf without TensorBoard */
    bool again;                     /* TB_STARTING: it exited and was restarted */
    bool busy;                      /* TB_STARTING: it has answered before */
    char run[VP_MEMBER_NAME_MAX];   /* TensorBoard's name of the run */
    char hosts[TB_HOSTS_BYTES_MAX]; /* "a,b"; "" if there are more than TB_HOSTS_MAX */
    int64_t waited_ms;              /* TB_STARTING: since the start */
    int64_t done, total;            /* TB_COPYING */
    char message[512];
    const char *command; /* TB_FAILED: the command that fixes it, or NULL */
    char log[4096];      /* the last lines of its output, raw bytes */
} tb_answer;

typedef struct tb_options {
    int port;      /* port to search, and to start ours on (or the next free of 20) */
    bool in_place; /* let XProf keep its caches in the run directories */
} tb_options;

/* Does not start TensorBoard yet. */
int tb_new(tb **out, const tb_options *opts);
/* Stops the TensorBoard that was started and removes its scratch directory. NULL is allowed. */
void tb_free(tb *t);

/* Finds where run s can be opened. host: one of its hosts, or NULL for all. may_start: a
 * TensorBoard can be started, which answers every client that reaches its port. Errors are reported
 * as TB_FAILED. Thread-safe. */
void tb_ask(tb *t, tb_answer *out, catalog *c, const cat_session *s, const char *host,
            bool may_start);

#endif

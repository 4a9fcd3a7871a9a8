/* The way to a real TensorBoard: find one on loopback that shows this directory, or start one that
 * does. Facts: docs/reference/xprof.md#tensorboard. Routes ask here from a
 * worker (everything blocks, at most a few seconds); the answer is plain data, and links and pages
 * are made by the routes. One tb serves all sessions: a run that is added later shows at once.
 *
 * Where none is found, ours is started over a tree of links in a temporary directory (tb_scratch;
 * copies of what is packed are made in a thread of their own, while the page shows how far). xprof
 * has no option for its address and listens on all of them; it is started by its Python with that
 * one function replaced, or not at all. Once a TensorBoard has answered it is started again when it
 * dies, at most five times in a row. */
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
    TB_COPYING,   /* the session is being unpacked for ours: done of total bytes */
    TB_STARTING,  /* ours was started and does not answer yet */
    TB_FAILED,    /* `message` says why; asking again tries again */
    TB_NO_XPLANE, /* the session has nothing that TensorBoard reads */
    TB_NO_HOST    /* the host that was asked for has nothing that TensorBoard reads */
} tb_state;

typedef struct tb_answer {
    tb_state state;
    int port;
    char prefix[128];             /* of its address: "" or "/…" */
    bool ours;                    /* we started it */
    bool xprof;                   /* TB_READY: a standalone XProf, without TensorBoard around it */
    bool again;                   /* TB_STARTING: it had ended and was started again */
    bool busy;                    /* TB_STARTING: it has answered before */
    char run[VP_MEMBER_NAME_MAX]; /* as that TensorBoard names it */
    char hosts[TB_HOSTS_BYTES_MAX]; /* "a,b"; "" when there are more than TB_HOSTS_MAX */
    int64_t waited_ms;              /* TB_STARTING: since the start */
    int64_t done, total;            /* TB_COPYING */
    char message[512];
    const char *command; /* TB_FAILED: what to run to mend it, or NULL */
    char log[4096];      /* the last lines that ours printed, raw bytes */
} tb_answer;

typedef struct tb_options {
    int port;      /* where one is looked for, and ours is started (or on the next free of 20) */
    bool in_place; /* let XProf keep its caches in the run directories */
} tb_options;

/* Starts nothing. */
int tb_new(tb **out, const tb_options *opts);
/* Ends the TensorBoard that we started, and removes its scratch directory. NULL is fine. */
void tb_free(tb *t);

/* Where session s can be opened. host: the name of one of its hosts, or NULL for all. may_start:
 * ours may be started, which answers everybody who reaches its port. Never fails: what goes wrong
 * is TB_FAILED. Thread-safe. */
void tb_ask(tb *t, tb_answer *out, catalog *c, const cat_session *s, const char *host,
            bool may_start);

#endif

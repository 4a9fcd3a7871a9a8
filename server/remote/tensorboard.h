/* The way to a real TensorBoard: find one on loopback that knows a run, or start one that does.
 * Facts: peers.md "TensorBoard 2.21 + xprof as the redirect target". Routes ask here from a worker
 * (everything blocks, at most a few seconds); the answer is plain data, and links and pages are
 * made by the routes. One tb serves all sessions: a run that is added later shows at once. */
#ifndef VP_REMOTE_TENSORBOARD_H
#define VP_REMOTE_TENSORBOARD_H

#include "trace/base/limits.h"
#include "trace/model/catalog.h"

typedef struct tb tb;

typedef enum tb_state {
    TB_READY,    /* a TensorBoard on `port` lists `run` */
    TB_STARTING, /* ours was started and does not answer yet */
    TB_FAILED,   /* `message` says why; asking again tries again */
    TB_NO_XPLANE /* the session has nothing that TensorBoard reads */
} tb_state;

typedef struct tb_answer {
    tb_state state;
    int port;
    bool ours;    /* we started it */
    bool missing; /* TB_FAILED: TensorBoard or its profile plugin is not installed */
    char run[VP_MEMBER_NAME_MAX]; /* as that TensorBoard names it */
    char host[VP_MEMBER_NAME_MAX];
    size_t hosts;      /* hosts with an xplane file */
    int64_t waited_ms; /* TB_STARTING: since the start */
    char message[512];
    char log[4096]; /* the last lines that ours printed, raw bytes */
} tb_answer;

/* port: where a TensorBoard is looked for, and ours is started (or on the next free of 20). Starts
 * nothing. */
int tb_new(tb **out, int port);
/* Ends the TensorBoard that we started, and removes its scratch directory. NULL is fine. */
void tb_free(tb *t);

/* Where session s can be opened. host: the name of one of its hosts, or NULL. Never fails: what
 * goes wrong is TB_FAILED. Thread-safe. */
void tb_ask(tb *t, tb_answer *out, const catalog *c, const cat_session *s, const char *host);

/* Among the runs that a TensorBoard lists (a JSON array of strings), the one that is ours: equal
 * to `name`, else the only one whose last component is name's. VP_ENOTFOUND, VP_ECORRUPT. */
int tb_find_run(char *out, size_t cap, vp_str runs_json, const char *name);

#endif

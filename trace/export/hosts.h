/* Exports all hosts of a run as one file: which hosts, their names, and their clock offsets. The
 * caller frees the hosts after the stream that uses them. */
#ifndef VP_EXPORT_HOSTS_H
#define VP_EXPORT_HOSTS_H

#include "trace/base/buf.h"
#include "trace/export/exporters.h"
#include "trace/model/host_clock.h"

typedef struct ex_host {
    const cat_host *host; /* the session's */
    char *name;           /* as it is shown: valid UTF-8, unlike that of any other */
    host_clock clock;
    int64_t shift_ns; /* once it is open: to add to its exported times, for times of the session */
    /* While and after it is exported: */
    const cat_file *file;                   /* what it is made of; NULL: nothing yet */
    vp_error left_out;                      /* code 0, or why it is not there */
    vp_error damage;                        /* code 0, or why it is not there as a whole */
    uint64_t missing_events, missing_flows; /* as in ex_pick */
} ex_host;

typedef struct ex_hosts {
    ex_pick pick; /* of the one that is open: all events */
    /* Prepares the pick of a host before it is opened; may be NULL. What it sets lives until the
     * next call, or the end of the stream. */
    void (*prepare)(void *ctx, const cat_host *h, ex_pick *pick);
    void *ctx;
    const catalog *c;
    const cat_session *s;
    ex_host *hosts; /* in the session's order */
    size_t count;
} ex_hosts;

/* clocks: one a host, or NULL where nothing is known of them. The catalog lives as long. */
int ex_hosts_make(ex_hosts *out, const catalog *c, const cat_session *s, const host_clock *clocks);
void ex_hosts_free(ex_hosts *h);

/* Opens the host's timeline, or says in left_out why there is none. 1; 0: left out; < 0: a failure
 * that is not the host's alone. as: which host of one trace it is; NULL: it is written by itself.
 */
int ex_hosts_open(rd_stream **out, ex_host *h, ex_hosts *all, ex_form form, const pft_host *as);
/* Closes it after its last chunk, and remembers its damage. Fails where the file changed meanwhile.
 */
int ex_hosts_close(rd_stream **s, ex_host *h, const ex_hosts *all);

/* Of all files that are read, for a progress; -1: unknown. */
int64_t ex_hosts_bytes(const ex_hosts *h);

/* What is known of the host's clock, as people read it. */
void ex_put_clock(vp_buf *b, const host_clock *c);

/* A tar of each host's Trace Event JSON and the manifest by which Perfetto puts them together
 * (docs/reference/perfetto.md#several-hosts: v58 and later). Members are made one after the other,
 * each spooled: a tar tells sizes first. *h outlives the stream. */
int ex_bundle(rd_stream **out, ex_hosts *h);

/* One .pftrace of all hosts, each of which is in it what its own .pftrace has: its processes have
 * the host's name beside their own, and pids that no other host has; its times are the session's. A
 * track "Clocks of the hosts" has one a host, with what is known of its clock, or why it is not
 * there. One host is made after the other, in as much memory as that takes alone. *h outlives the
 * stream. */
int ex_pftrace_merged(rd_stream **out, ex_hosts *h);

#endif

/* Exports all hosts of a run as one file: which hosts, their names, and their clock offsets. The
 * caller frees the hosts after the stream that uses them. */
#ifndef VP_EXPORT_HOSTS_H
#define VP_EXPORT_HOSTS_H

#include "trace/base/buf.h"
#include "trace/export/exporters.h"
#include "trace/model/host_clock.h"

typedef struct ex_host {
    const cat_host *host; /* the session's */
    char *name;           /* displayed name: valid UTF-8, unique */
    host_clock clock;
    int64_t shift_ns; /* set when it is open: the offset from its exported times to the times of the
                       * run */
    /* Set during and after its export: */
    const cat_file *file;                   /* the exported file; NULL: none yet */
    vp_error left_out;                      /* code 0, or why it is missing */
    vp_error damage;                        /* code 0, or why it is incomplete */
    uint64_t missing_events, missing_flows; /* as in ex_pick */
} ex_host;

typedef struct ex_hosts {
    ex_pick pick; /* of the open host: all events */
    /* Prepares the pick of a host before it is opened; may be NULL. The data that it sets must live
     * until the next call or the end of the stream. */
    void (*prepare)(void *ctx, const cat_host *h, ex_pick *pick);
    void *ctx;
    const catalog *c;
    const cat_session *s;
    ex_host *hosts; /* in the order of the run */
    size_t count;
} ex_hosts;

/* clocks: one per host, or NULL if unknown. The catalog must outlive it. */
int ex_hosts_make(ex_hosts *out, const catalog *c, const cat_session *s, const host_clock *clocks);
void ex_hosts_free(ex_hosts *h);

/* Opens the host's timeline, or sets left_out. Returns 1; 0: left out; < 0: a failure that does not
 * only concern this host. as: its index in a combined trace; NULL: it is written separately. */
int ex_hosts_open(rd_stream **out, ex_host *h, ex_hosts *all, ex_form form, const pft_host *as);
/* Closes it after its last chunk and stores its damage. Fails if the file has changed. */
int ex_hosts_close(rd_stream **s, ex_host *h, const ex_hosts *all);

/* Bytes of all input files, for progress; -1: unknown. */
int64_t ex_hosts_bytes(const ex_hosts *h);

/* A description of the host's clock for users. */
void ex_put_clock(vp_buf *b, const host_clock *c);

/* A tar of the Trace Event JSON of each host and the manifest by which Perfetto combines them
 * (docs/reference/perfetto.md#several-hosts: v58 and later). Members are made one after the other
 * and spooled, because tar needs sizes first. *h must outlive the stream. */
int ex_bundle(rd_stream **out, ex_hosts *h);

/* One .pftrace of all hosts with the content of each host's own .pftrace. Process names include the
 * host, pids are unique, and times are those of the run. A track "Clocks of the hosts" has one
 * child per host, with the description of its clock, or why the host is missing. Hosts are
 * converted one after the other, each in as much memory as alone. *h must outlive the stream. */
int ex_pftrace_merged(rd_stream **out, ex_hosts *h);

#endif

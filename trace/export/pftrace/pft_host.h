/* Combines several hosts in one .pftrace: separate ids for processes, tracks, sequences and flows,
 * and one clock. pft_writer.c requests every id from it, so converters handle only one host.
 * ../pft_merged.c owns both. */
#ifndef VP_EXPORT_PFTRACE_PFT_HOST_H
#define VP_EXPORT_PFTRACE_PFT_HOST_H

#include "trace/base/map.h"
#include "trace/base/str.h"
#include "trace/export/shared/pick.h"

/* All hosts of the trace. Zeroed before the first, but for the maps. */
typedef struct pft_whole {
    uint32_t sequences; /* begun so far */
    vp_map taken;       /* pids of any host */
    vp_map given;       /* a host's own pid to that in the trace */
    uint32_t next_pid, next_tid;
} pft_whole;

struct pft_host {
    pft_whole *whole;
    uint32_t number;  /* from 1 on */
    vp_str name;      /* said beside the names of its processes */
    int64_t shift_ns; /* to add to the times of the host's own file */
    const ex_pick
        *pick; /* that its exporter has: how much it moved those times, and where they begin
                */
};

/* A moment of the host in the trace's time; never before 0. */
int64_t pft_host_time(const pft_host *h, int64_t at_ns);
/* A number of a track or flow. 0 stays 0; different ones of one host stay different. */
uint64_t pft_host_id(const pft_host *h, uint64_t id);
/* The host's pid as it is, unless another host has it. VP_ENOMEM. */
int pft_host_pid(const pft_host *h, uint32_t pid, uint32_t *out);
/* A thread's number beside the pid that it is written with, which it must not be. */
uint32_t pft_host_tid(const pft_host *h, uint32_t pid, uint32_t tid);
/* Among all processes: those of one host together. */
int32_t pft_host_rank(const pft_host *h, int32_t rank);

void pft_whole_init(pft_whole *w);
void pft_whole_free(pft_whole *w);

#endif

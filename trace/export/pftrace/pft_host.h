/* Combines several hosts in one .pftrace: separate ids for processes, tracks, sequences and flows,
 * and one clock. pft_writer.c requests every id from it, so converters handle only one host.
 * ../pft_merged.c owns both. */
#ifndef VP_EXPORT_PFTRACE_PFT_HOST_H
#define VP_EXPORT_PFTRACE_PFT_HOST_H

#include "trace/base/map.h"
#include "trace/base/str.h"
#include "trace/export/shared/pick.h"

/* All hosts of the trace. Zero-initialize, except the maps. */
typedef struct pft_whole {
    uint32_t sequences; /* begun so far */
    vp_map taken;       /* pids of any host */
    vp_map given;       /* maps the pid of a host to the pid in the trace */
    uint32_t next_pid, next_tid;
} pft_whole;

struct pft_host {
    pft_whole *whole;
    uint32_t number;     /* from 1 on */
    vp_str name;         /* appended to the names of its processes */
    int64_t shift_ns;    /* offset from times of the host's file */
    const ex_pick *pick; /* offset that its exporter applied to those times, and their origin */
};

/* Converts a time of the host to the time of the trace; never before 0. */
int64_t pft_host_time(const pft_host *h, int64_t at_ns);
/* Maps an id of a track or flow. 0 stays 0; distinct ids of one host stay distinct. */
uint64_t pft_host_id(const pft_host *h, uint64_t id);
/* Returns the host's pid, or another one if a previous host uses it. VP_ENOMEM. */
int pft_host_pid(const pft_host *h, uint32_t pid, uint32_t *out);
/* Maps a thread id; it must differ from the written pid. */
uint32_t pft_host_tid(const pft_host *h, uint32_t pid, uint32_t tid);
/* Rank among all processes; those of one host are adjacent. */
int32_t pft_host_rank(const pft_host *h, int32_t rank);

void pft_whole_init(pft_whole *w);
void pft_whole_free(pft_whole *w);

#endif

#include "trace/export/pftrace/pft_host.h"

#include "trace/base/err.h"

/* Above all pids of Linux. For Perfetto, a thread whose id is that of a process is its main thread.
 */
#define FIRST_PID (UINT32_C(1) << 22)
#define FIRST_TID (UINT32_C(7) << 28)

/* Ranks of one host's processes; further processes share the last one. */
#define RANKS 100000

void pft_whole_init(pft_whole *w)
{
    *w = (pft_whole){.next_pid = FIRST_PID, .next_tid = FIRST_TID};
    vp_map_init(&w->taken);
    vp_map_init(&w->given);
}

void pft_whole_free(pft_whole *w)
{
    vp_map_free(&w->taken);
    vp_map_free(&w->given);
}

int64_t pft_host_time(const pft_host *h, int64_t at_ns)
{
    int64_t shift, first;
    if (__builtin_sub_overflow(h->shift_ns, h->pick->moved_ns, &shift))
        shift = 0;
    /* Perfetto has no time before 0: the host as a whole is moved to 0. */
    if (!__builtin_add_overflow(h->pick->first_ns, shift, &first) && first < 0)
        shift = h->pick->first_ns < 0 ? 0 : -h->pick->first_ns;
    return __builtin_add_overflow(at_ns, shift, &at_ns) || at_ns < 0 ? 0 : at_ns;
}

/* Each step is invertible, so distinct ids of a host stay distinct (the finalizer of SplitMix64).
 */
uint64_t pft_host_id(const pft_host *h, uint64_t id)
{
    if (!id)
        return 0;
    id += UINT64_C(0x9e3779b97f4a7c15) * h->number;
    id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
    id ^= id >> 31;
    return id ? id : 1;
}

int pft_host_pid(const pft_host *h, uint32_t pid, uint32_t *out)
{
    pft_whole *w = h->whole;
    uint64_t key = (uint64_t)h->number << 32 | pid;
    *out = vp_map_get(&w->given, key);
    if (*out != VP_MAP_NONE)
        return 0;
    *out = pid;
    while (vp_map_get(&w->taken, *out) != VP_MAP_NONE || *out == VP_MAP_NONE)
        *out = w->next_pid++;
    VP_TRY(vp_map_set(&w->taken, *out, 1));
    return vp_map_set(&w->given, key, *out);
}

uint32_t pft_host_tid(const pft_host *h, uint32_t pid, uint32_t tid)
{
    return tid == pid ? h->whole->next_tid++ : tid;
}

int32_t pft_host_rank(const pft_host *h, int32_t rank)
{
    int64_t first = (int64_t)h->number * RANKS;
    int64_t at = first + (rank < 0 ? 0 : rank < RANKS ? rank : RANKS - 1);
    return at < INT32_MAX ? (int32_t)at : INT32_MAX;
}

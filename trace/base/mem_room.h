/* How much of the machine there is for us: the memory that it has left, and what the limits of our
 * control groups leave of that and of its processors. Everyone may include. */
#ifndef VP_BASE_MEM_ROOM_H
#define VP_BASE_MEM_ROOM_H

#include <stdint.h>

/* Bytes that can be taken now without swapping or being killed: MemAvailable of /proc/meminfo, and
 * limit − use (less the file pages that the kernel gives up first) of every memory control group
 * that we are in, version 1 and 2. -1 where nothing is to be read. root: "" (tests: a directory
 * that holds proc and sys). Sources: proc(5), Linux's cgroup-v1/memory.rst and cgroup-v2.rst. */
int64_t vp_mem_room(const char *root);
/* Processors that our control groups let us use at once, rounded up (cpu.max, or cpu.cfs_quota_us
 * by cpu.cfs_period_us); -1 where they set no bound. root: as above. Sources: Linux's cgroup-v2.rst
 * and scheduler/sched-bwc.rst. */
int64_t vp_cpu_room(const char *root);

#endif

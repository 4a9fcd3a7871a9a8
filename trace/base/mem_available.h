/* Memory and processors that this process can use: what the machine has left, within the limits of
 * its control groups. Nothing is allocated; unknown values are -1. */
#ifndef VP_BASE_MEM_AVAILABLE_H
#define VP_BASE_MEM_AVAILABLE_H

#include <stdint.h>

/* Bytes that can be allocated now without swapping or being killed. The minimum of MemAvailable in
 * /proc/meminfo and of limit − use of every memory control group of this process, version 1 and 2.
 * Inactive file pages don't count as use, because the kernel reclaims them first. -1 if nothing can
 * be read. root: ""; tests pass a directory with proc and sys. Sources: proc(5), Linux's
 * cgroup-v1/memory.rst and cgroup-v2.rst. */
int64_t vp_mem_available(const char *root);
/* Processors that the control groups allow at once, rounded up (cpu.max, or cpu.cfs_quota_us /
 * cpu.cfs_period_us); -1 if they set no limit. root: as above. Sources: Linux's cgroup-v2.rst and
 * scheduler/sched-bwc.rst. */
int64_t vp_cpu_limit(const char *root);

#endif

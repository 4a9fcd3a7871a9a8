/* How much memory there is for us: what the machine has left, and what the limits of our control
 * groups leave of it. Everyone may include. */
#ifndef VP_BASE_MEM_ROOM_H
#define VP_BASE_MEM_ROOM_H

#include <stdint.h>

/* Bytes that can be taken now without swapping or being killed: MemAvailable of /proc/meminfo, and
 * limit − use (less the file pages that the kernel gives up first) of every memory control group
 * that we are in, version 1 and 2. -1 where nothing is to be read. root: "" (tests: a directory
 * that holds proc and sys). Sources: proc(5), Linux's cgroup-v1/memory.rst and cgroup-v2.rst. */
int64_t vp_mem_room(const char *root);

#endif

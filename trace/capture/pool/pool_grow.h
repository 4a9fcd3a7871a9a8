/* Growth of a pool's file. The file holds what is recorded, and a reserve: 1 MiB at first, then as
 * much as is in use, up to 16 MiB. So the hundredth child of a job, killed after five zones, leaves
 * 1 MiB and not 75. The mapping has its full size from the start. Touching a page for which the
 * disk has no space would kill the program, so disk space is reserved (fallocate) before it is
 * used; if that fails, the pool is full.
 *
 * Touching a page for the first time costs as much as fifty to thousands of zones. A thread
 * therefore reserves and touches pages ahead, and sleeps while the reserve suffices. Without this
 * thread, the recording threads do both. A file system without fallocate gets the whole file at the
 * start. Unused parts of the tables before the chunks are holes. Private to pool.c and the session;
 * a cap_grow belongs to its pool. */
#ifndef VP_CAPTURE_POOL_GROW_H
#define VP_CAPTURE_POOL_GROW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "trace/vpcap/vpcap_layout.h"

struct cap_pool;

typedef struct cap_grow {
    int file;   /* descriptor + 1; 0: memory without a file */
    char *path; /* of the file, in case the program closes the descriptor */
    dev_t dev;
    ino_t ino;
    uint64_t names, strings, chunks; /* bytes reserved for each */
    uint64_t filled;                 /* bytes of the chunks that were touched in advance */
    uint32_t calls;                  /* a futex: changes when the thread has work, or must end */
    bool ends, runs;
    pthread_t thread;
    uint64_t owner; /* argument of tell_full; 0: no one is notified, or that is done */
    void (*tell_full)(uint64_t owner, const struct cap_pool *p);
} cap_grow;

/* Duplicates the descriptor (fd < 0: memory without a file). Reserves the head, the small tables
 * and the first part of the others. VP_ENOSPC, VP_EIO, VP_ENOMEM. */
int grow_open(cap_grow *g, const vpcap_header *h, int fd, const char *path);
void grow_close(cap_grow *g);
/* Touches the first pages of the chunks, for zones that follow at once. */
void grow_fill_first(struct cap_pool *p);

/* Reserves space for the first `pages` pages of the chunks: false if there is no space.
 * Async-signal-safe, like the functions below. */
bool grow_pages(struct cap_pool *p, uint32_t pages);
/* The same for the first n bytes of an area. ready: the matching one of names and strings above. */
bool grow_area(struct cap_pool *p, const vpcap_area *a, uint64_t *ready, uint64_t n);

/* Starts the thread that reserves ahead. The pool must stay at its address until grow_stop. Unless
 * owner is 0, the thread calls tell_full once the pool is full. Does nothing if no thread can be
 * started. */
void grow_start(struct cap_pool *p, uint64_t owner,
                void (*tell_full)(uint64_t owner, const struct cap_pool *p));
/* Wakes the thread after a caller found that the pool is full. Async-signal-safe. */
void grow_end(struct cap_pool *p);
void grow_stop(struct cap_pool *p);

#endif

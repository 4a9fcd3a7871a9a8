/* A pool's file has as much as is recorded and some more that is ready in advance: a megabyte at
 * first, then as much ahead as is in use, up to 16 MiB, so that the hundredth child of a job,
 * killed after five zones, leaves a megabyte and not 75. The mapping has its whole size from the
 * start. A page that the disk has no room for would end the program when it is touched, so whoever
 * takes a part of the image reserves its place first (fallocate); where that fails, the pool is
 * full.
 *
 * Touching a page for the first time costs as much as fifty zones to thousands, so a thread of its
 * own reserves and touches ahead and sleeps while it is far enough; without it whoever takes does
 * both. A file system without fallocate gets the whole file at the start. The tables before the
 * chunks are holes where nothing is in them. Private to pool.c and the session; a cap_grow belongs
 * to its pool. */
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
    char *path; /* of the file, in case the program closes our descriptor */
    dev_t dev;
    ino_t ino;
    uint64_t names, strings, chunks; /* how many bytes of each there is room for */
    uint64_t filled;                 /* how many bytes of the chunks were touched in advance */
    uint32_t calls; /* a futex: changes when the thread has something to do, or is to end */
    bool ends, runs;
    pthread_t thread;
    uint64_t owner; /* who is to be told when the pool is full; 0: nobody, or that was done */
    void (*tell_full)(uint64_t owner, const struct cap_pool *p);
} cap_grow;

/* Takes a copy of the descriptor (fd < 0: memory). Makes the head, the small tables and the first
 * pieces of the others ready. VP_ENOSPC, VP_EIO, VP_ENOMEM. */
int grow_open(cap_grow *g, const vpcap_header *h, int fd, const char *path);
void grow_close(cap_grow *g);
/* Touches the first pages of the chunks, for the zones that come at once. */
void grow_fill_first(struct cap_pool *p);

/* Sees to it that pages up to this one can be written to: false when there is no room. Signal-safe,
 * as the others. */
bool grow_pages(struct cap_pool *p, uint32_t pages);
/* The same for the first n bytes of an area. ready: which of names and strings above it is. */
bool grow_area(struct cap_pool *p, const vpcap_area *a, uint64_t *ready, uint64_t n);

/* Starts the thread that keeps ahead. The pool must stay at its address until grow_stop. Unless
 * owner is 0, the thread calls tell_full once the pool is full. Does nothing where no thread can be
 * started. */
void grow_start(struct cap_pool *p, uint64_t owner,
                void (*tell_full)(uint64_t owner, const struct cap_pool *p));
/* Called by whoever found that the pool is full. Signal-safe. */
void grow_end(struct cap_pool *p);
void grow_stop(struct cap_pool *p);

#endif

/* A pool's file is as long as what is recorded needs, and some more that is ready in advance: the
 * mapping has its whole size from the start, the file comes up to it in pieces. Whoever takes a
 * part of the image makes sure of its place first, since a page that the disk has no room for ends
 * the program when it is touched. A thread of its own keeps ahead of that and touches the pages, as
 * the first time costs as much as fifty zones to thousands; without it whoever takes does both.
 * Private to pool.c and the session; a cap_grow belongs to its pool.
 *
 * The mapping has the pool's whole size, the file behind it comes in pieces: a megabyte at first,
 * then as much ahead as is used, up to 16 MiB, so that the hundredth child of a job, killed after
 * five zones, leaves a megabyte and not 75. A page that the disk has no room for would end the
 * program when it is touched, so its place is reserved first (fallocate), by whoever takes it;
 * where that fails, the pool is full. Touching a page for the first time costs as much as fifty
 * zones, so a thread keeps ahead, and sleeps while it is. A file system without fallocate gets the
 * whole file at the start. The tables before the chunks are a hole where nothing is in them. */
#ifndef VP_CAPTURE_POOL_GROW_H
#define VP_CAPTURE_POOL_GROW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "trace/image/vpcap_layout.h"

struct cap_pool;

typedef struct cap_grow {
    int file;   /* descriptor + 1; 0: memory */
    char *path; /* of the file, should the program close our descriptor */
    dev_t dev;
    ino_t ino;
    uint64_t names, strings, chunks; /* bytes of each that there is room for */
    uint64_t filled;                 /* of the chunks, bytes that were touched in advance */
    uint32_t calls;                  /* futex: changes when there is something to do or to end */
    bool ends, runs;
    pthread_t thread;
    uint64_t owner; /* whom to tell when the pool is full; 0: nobody, or it was told */
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
/* The same of the first n bytes of an area; ready: names or strings above. */
bool grow_area(struct cap_pool *p, const vpcap_area *a, uint64_t *ready, uint64_t n);

/* The thread that keeps ahead of this pool, which stays where it is until grow_stop, and calls
 * tell_full once it is full, unless owner is 0. Where there is none to be had, nothing. */
void grow_start(struct cap_pool *p, uint64_t owner,
                void (*tell_full)(uint64_t owner, const struct cap_pool *p));
/* It is full: from whoever found it so. Signal-safe. */
void grow_end(struct cap_pool *p);
void grow_stop(struct cap_pool *p);

#endif

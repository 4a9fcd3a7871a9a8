/* Ranges and marks of NVTX as zones and instants of the recording. Only nvtx.c and tests include
 * it. Every function may be called from any thread, whether something records or not. */
#ifndef VP_CAPTURE_NVTX_RANGE_H
#define VP_CAPTURE_NVTX_RANGE_H

#include "include/view_profile_capture.h"

/* Bytes of a name with its NUL; a longer one is cut. */
#define NVTX_NAME_MAX 1024u

typedef struct nvtx_domain nvtx_domain; /* NULL is the program's default domain */

typedef struct nvtx_event {
    nvtx_domain *domain;
    const void *registered; /* of nvtx_register; NULL: the name is text */
    const char *text;       /* never NULL unless registered */
    uint32_t category;      /* 0: none */
    vp_arg payload;         /* key NULL: none */
} nvtx_event;

/* Ranges of the calling thread. push: the depth of the new one, from 0; pop: that of the one that
 * has ended. Negative: there is none, or no memory for it. Each domain has a stack of its own. */
int nvtx_push(const nvtx_event *e);
int nvtx_pop(nvtx_domain *d);
/* A range that any thread may end, which is recorded on the thread that does; 0: no memory for it.
 */
uint64_t nvtx_start(const nvtx_event *e);
void nvtx_end(uint64_t id);
void nvtx_mark(const nvtx_event *e);

/* A domain, for good; one for each name. NULL, which is the default domain: no memory. */
nvtx_domain *nvtx_domain_of(const char *name);
/* Keeps a name, to be used by its handle; NULL, which is no name: no memory. */
const void *nvtx_register(nvtx_domain *d, const char *text);
void nvtx_name_category(nvtx_domain *d, uint32_t id, const char *text);
/* The text of such a handle. */
const char *nvtx_text(const void *registered);
/* Names any thread of the process. Another thread's name is written when the recording ends. */
void nvtx_name_thread(uint32_t tid, const char *text);

/* To be called before any of the others, so that the process can fork while other threads are in
 * one of them. Whoever holds locks of his own while calling them registers his fork handlers after
 * this. */
void nvtx_install(void);

#endif

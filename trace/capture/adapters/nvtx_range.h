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

/* A range of the calling thread. The depth of the new one, from 0; pop: of the one that ended.
 * Negative: there is none, or no memory for it. Domains have stacks of their own. */
int nvtx_push(const nvtx_event *e);
int nvtx_pop(nvtx_domain *d);
/* A range that any thread may end: recorded on that one. 0: no memory for it. */
uint64_t nvtx_start(const nvtx_event *e);
void nvtx_end(uint64_t id);
void nvtx_mark(const nvtx_event *e);

/* For good; the same name is the same. NULL, which is the default domain: no memory. */
nvtx_domain *nvtx_domain_of(const char *name);
/* A name that is handed over once; NULL, which is no name: no memory. */
const void *nvtx_register(nvtx_domain *d, const char *text);
void nvtx_name_category(nvtx_domain *d, uint32_t id, const char *text);
/* The text of a name of nvtx_register. */
const char *nvtx_text(const void *registered);
/* Any thread of the process; of others the recording has the name when it ends. */
void nvtx_name_thread(uint32_t tid, const char *text);

/* Before any of them: lets the process fork while its other threads are in one. Whoever has locks
 * of his own around these functions installs his handlers of fork after this. */
void nvtx_install(void);

#endif

/* Records ranges and marks of NVTX as zones and instants. Private to nvtx.c and tests. All
 * functions may be called on any thread, with or without an active recording. If out of memory,
 * annotations are ignored. */
#ifndef VP_CAPTURE_NVTX_RANGE_H
#define VP_CAPTURE_NVTX_RANGE_H

#include "include/view_profile_capture.h"

/* Maximum bytes of a name with its NUL; longer ones are truncated. */
#define NVTX_NAME_MAX 1024u

typedef struct nvtx_domain nvtx_domain; /* NULL is the program's default domain */

typedef struct nvtx_event {
    nvtx_domain *domain;
    const void *registered; /* result of nvtx_register; NULL: the name is `text` */
    const char *text;       /* not NULL unless `registered` is set */
    uint32_t category;      /* 0: none */
    vp_arg payload;         /* key NULL: none */
} nvtx_event;

/* Ranges of the calling thread. push: returns the depth of the new range, from 0; pop: that of the
 * ended range. Negative: there is none, or out of memory. Each domain has its own stack. */
int nvtx_push(const nvtx_event *e);
int nvtx_pop(nvtx_domain *d);
/* Starts a range that any thread may end; it is recorded on the thread that ends it. 0: out of
 * memory. */
uint64_t nvtx_start(const nvtx_event *e);
void nvtx_end(uint64_t id);
void nvtx_mark(const nvtx_event *e);

/* The domain with this name; it is never freed. NULL, the default domain: out of memory. */
nvtx_domain *nvtx_domain_of(const char *name);
/* Registers a name and returns its handle; NULL, which is no name: out of memory. */
const void *nvtx_register(nvtx_domain *d, const char *text);
void nvtx_name_category(nvtx_domain *d, uint32_t id, const char *text);
/* The text of a registered name. */
const char *nvtx_text(const void *registered);
/* Names any thread of the process. Another thread's name is written when the recording ends. */
void nvtx_name_thread(uint32_t tid, const char *text);

/* Installs fork handlers; call it before all other functions, so that the process can fork while
 * other threads are inside them. A caller that holds its own locks during calls must register its
 * fork handlers after this. */
void nvtx_install(void);

#endif

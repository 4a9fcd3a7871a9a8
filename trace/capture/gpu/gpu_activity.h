/* What a GPU did while a recording ran: kernels, copies, memory sets, and the calls that started
 * them, in a form that no longer depends on CUPTI. cupti.c fills one, the writer reads it; both
 * sides of this room, nobody else. Whoever gets one frees it. */
#ifndef VP_CAPTURE_GPU_ACTIVITY_H
#define VP_CAPTURE_GPU_ACTIVITY_H

#include <stdbool.h>

#include "trace/base/arena.h"

/* How many records of device work are kept, and as many of calls, as in XLA's own collector; 160 MB
 * each. */
#define GPU_RECORDS_MAX 2000000u

typedef enum gpu_kind {
    GPU_KERNEL,
    GPU_COPY,      /* host and one device, or within a device */
    GPU_PEER_COPY, /* from one device to another */
    GPU_SET,       /* memset */
    GPU_RUNTIME,   /* a call of the CUDA runtime, on a thread of the host */
    GPU_DRIVER,    /* a call of the CUDA driver, likewise */
    GPU_OVERHEAD,  /* time that the tracing itself took */
} gpu_kind;

/* Times are Unix ns. Device work has device, context and stream; calls have the thread. Work and
 * the call that started it have the same correlation. */
typedef struct gpu_record {
    int64_t start_ns, end_ns; /* end_ns >= start_ns */
    uint32_t correlation;     /* 0: none */
    uint32_t device, context, stream;
    uint8_t kind; /* gpu_kind */
    union {
        struct {
            vp_sid name; /* as the compiler mangled it */
            int32_t grid[3], block[3];
            uint32_t static_shared, dynamic_shared; /* bytes */
            uint16_t registers;                     /* of a thread */
        } kernel;
        struct {
            uint64_t bytes;
            uint32_t source, destination; /* devices; of GPU_PEER_COPY */
            uint8_t copy_kind;            /* CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD… */
            uint8_t source_memory, destination_memory; /* CUpti_ActivityMemoryKind: 1 pageable,
                                                          2 pinned, 3 device… */
            bool async;
        } copy;
        struct {
            uint64_t bytes;
            uint32_t value;
        } set;
        struct {
            vp_sid name;  /* "cudaLaunchKernel"; "" when CUPTI has no name for it */
            uint32_t id;  /* CUPTI's number of the function */
            uint32_t tid; /* of the system */
            int32_t status;
        } call;
        struct {
            uint32_t kind; /* CUpti_ActivityOverheadKind */
        } overhead;
    };
} gpu_record;

typedef struct gpu_activity {
    gpu_record *records; /* sorted by gpu_activity_finish: by start, then by end */
    size_t count, cap;
    bool ring; /* when it is full, the oldest make room */
    size_t kept[2],
        next[2]; /* [0] of device work, [1] of calls: how many, and in a ring where the oldest is */
    size_t patience; /* how many calls may come before sifting them again is worth while */
    vp_arena arena;
    vp_intern names;
    uint64_t dropped; /* that CUPTI dropped, or that we had no room for */
    uint64_t damaged; /* that made no sense: no times, or cut off */
    uint64_t outside; /* from before the recording */
    uint64_t unknown; /* of kinds that nobody asked for */
    int status;       /* 0, or why there is nothing: VP_EGPU_…, VP_EPERM */
    char why[320];    /* of a status, in a sentence */
} gpu_activity;

/* 0 or VP_ENOMEM. ring: see above. */
int gpu_activity_new(gpu_activity **out, bool ring);
void gpu_activity_free(gpu_activity *a);
/* Keeps one, or counts it as dropped. */
void gpu_activity_add(gpu_activity *a, const gpu_record *r);
/* A copy of the records that ended after from_ns. 0 or VP_ENOMEM. */
int gpu_activity_copy(gpu_activity **out, const gpu_activity *a, int64_t from_ns);
/* Sorts the records. Of the driver's calls it keeps only those that started device work which no
 * call of the runtime claims: the runtime calls the driver for everything that it does. */
void gpu_activity_finish(gpu_activity *a);
static inline vp_str gpu_name(const gpu_activity *a, vp_sid name)
{
    return vp_intern_get(&a->names, name);
}

#endif

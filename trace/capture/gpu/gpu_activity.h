/* GPU activity during a recording: kernels, copies, memory sets, and the calls that started them,
 * in a form independent of CUPTI. cupti.c fills it, the writer reads it. The receiver frees it. */
#ifndef VP_CAPTURE_GPU_ACTIVITY_H
#define VP_CAPTURE_GPU_ACTIVITY_H

#include <stdbool.h>

#include "trace/base/arena.h"

/* Maximum number of records of device work, and of calls, as in XLA's own collector; 160 MB
 * each. */
#define GPU_RECORDS_MAX 2000000u

typedef enum gpu_kind {
    GPU_KERNEL,
    GPU_COPY,      /* between host and one device, or within a device */
    GPU_PEER_COPY, /* from one device to another */
    GPU_SET,       /* memset */
    GPU_RUNTIME,   /* a call of the CUDA runtime, on a thread of the host */
    GPU_DRIVER,    /* a call of the CUDA driver, on a thread of the host */
    GPU_OVERHEAD,  /* overhead of the tracing itself */
} gpu_kind;

/* Times are Unix ns. Device work has device, context and stream; calls have the thread. Work and
 * the call that started it share the correlation. */
typedef struct gpu_record {
    int64_t start_ns, end_ns; /* end_ns >= start_ns */
    uint32_t correlation;     /* 0: none */
    uint32_t device, context, stream;
    uint8_t kind; /* gpu_kind */
    union {
        struct {
            vp_sid name; /* mangled name */
            int32_t grid[3], block[3];
            uint32_t static_shared, dynamic_shared; /* bytes */
            uint16_t registers;                     /* per thread */
        } kernel;
        struct {
            uint64_t bytes;
            uint32_t source, destination; /* devices of a GPU_PEER_COPY */
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
            vp_sid name;  /* "cudaLaunchKernel"; "" if CUPTI has no name */
            uint32_t id;  /* CUPTI's number of the function */
            uint32_t tid; /* system thread id */
            int32_t status;
        } call;
        struct {
            uint32_t kind; /* CUpti_ActivityOverheadKind */
        } overhead;
    };
} gpu_record;

typedef struct gpu_activity {
    gpu_record *records; /* sorted by gpu_activity_finish: by start, then end */
    size_t count, cap;
    bool ring; /* when full, new records replace the oldest */
    /* [0]: device work, [1]: calls. kept: number of records; next: the oldest in a ring. */
    size_t kept[2], next[2];
    size_t patience; /* calls until the next attempt to remove unneeded ones */
    vp_arena arena;
    vp_intern names;
    uint64_t dropped; /* dropped by CUPTI, or by our limits */
    uint64_t damaged; /* malformed: without times, or truncated */
    uint64_t outside; /* older than the recording */
    uint64_t unknown; /* of kinds that were not requested */
    int status;       /* 0, or why it is empty: VP_EGPU_…, VP_EPERM */
    char why[320];    /* message of the status */
} gpu_activity;

/* 0 or VP_ENOMEM. ring: see above. */
int gpu_activity_new(gpu_activity **out, bool ring);
void gpu_activity_free(gpu_activity *a);
/* Adds a record, or counts it as dropped. */
void gpu_activity_add(gpu_activity *a, const gpu_record *r);
/* Copies the records that ended after from_ns. 0 or VP_ENOMEM. */
int gpu_activity_copy(gpu_activity **out, const gpu_activity *a, int64_t from_ns);
/* Sorts the records. Keeps only driver calls that started device work which no runtime call claims,
 * because the runtime calls the driver for all of its work. */
void gpu_activity_finish(gpu_activity *a);
static inline vp_str gpu_name(const gpu_activity *a, vp_sid name)
{
    return vp_intern_get(&a->names, name);
}

#endif

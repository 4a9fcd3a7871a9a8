/* pprof profiles of memory, as jax.profiler.save_device_memory_profile writes them ("memory.prof",
 * gzip): who held how many bytes at one moment. Format: pprof's profile.proto, package
 * perftools.profiles. The analysis of memory includes this.
 *
 * How to read a session's file (its kind is RD_PPROF):
 *     rd_stream *in; catalog_stream(&in, c, file, false);
 *     pp_profile *p;  pp_read(&p, in);      gzip, where there still is one, is taken off
 *     p->total_bytes, p->total_count; p->holders[i]: largest first
 *     pp_free(p); */
#ifndef VP_READ_PPROF_H
#define VP_READ_PPROF_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/bytes/byte_stream.h"

/* What is held for one reason: all samples of equal labels and equal calling function. Executables
 * hold code and count, but have 0 bytes in JAX's profiles. */
typedef struct pp_holder {
    const char *kind;     /* label "kind": "buffer", "executable"; NULL unknown */
    const char *device;   /* label "device": "cpu:0", "gpu:1"; NULL unknown */
    const char *function; /* the innermost frame outside JAX's own files, else the innermost;
                             NULL where the samples have no stack */
    const char *source;   /* its "file:line", or NULL */
    int64_t bytes, count; /* sums; a sum that would overflow stays at INT64_MAX */
} pp_holder;

/* Sums by label "device". */
typedef struct pp_device {
    const char *name; /* NULL: samples without that label */
    int64_t bytes, count;
} pp_device;

typedef struct pp_profile {
    pp_holder *holders; /* bytes descending, then count, function, kind, device */
    size_t holder_count;
    pp_device *devices; /* in the order of their names, NULL first */
    size_t device_count;
    int64_t total_bytes, total_count, samples;
    int64_t time_ns; /* Unix; 0 unknown */
} pp_profile;

/* Reads a whole profile; freed with pp_free. VP_ECORRUPT when it is no pprof profile or damaged (a
 * profile without its sample type for bytes is none of memory: VP_EUNSUPPORTED), VP_ELIMIT above
 * 256 MiB. *out is untouched on failure. The stream is not closed. */
int pp_read(pp_profile **out, rd_stream *in);
/* Frees the profile and all its strings. */
void pp_free(pp_profile *p);

#endif

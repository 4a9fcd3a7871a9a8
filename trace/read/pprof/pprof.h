/* Reader of pprof memory profiles, as jax.profiler.save_device_memory_profile writes them
 * ("memory.prof", gzip): bytes by holder at one moment. Format: pprof's profile.proto, package
 * perftools.profiles.
 *
 * How to read a run's file (its kind is RD_PPROF):
 *     rd_stream *in; catalog_stream(&in, c, file, false);
 *     pp_profile *p;  pp_read(&p, in);      gzip, if still present, is inflated
 *     p->total_bytes, p->total_count; p->holders[i]: largest first
 *     pp_free(p); */
#ifndef VP_READ_PPROF_H
#define VP_READ_PPROF_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/bytes/byte_stream.h"

/* Memory held for one reason: the sum of all samples with equal labels and equal calling function.
 * Executables count in `count`, but have 0 bytes in JAX's profiles. */
typedef struct pp_holder {
    const char *kind;   /* label "kind": "buffer", "executable"; NULL unknown */
    const char *device; /* label "device": "cpu:0", "gpu:1"; NULL unknown */
    /* Innermost frame of the user, else of a library other than JAX, else "(no frame of the user)";
     * NULL: the samples have no stack. */
    const char *function;
    const char *source;   /* its "file:line", or NULL */
    int64_t bytes, count; /* sums, saturated at INT64_MAX */
} pp_holder;

/* Sums by label "device". */
typedef struct pp_device {
    const char *name; /* NULL: samples without this label */
    int64_t bytes, count;
} pp_device;

typedef struct pp_profile {
    pp_holder *holders; /* descending by bytes, then count, function, kind, device */
    size_t holder_count;
    pp_device *devices; /* ordered by name, NULL first */
    size_t device_count;
    int64_t total_bytes, total_count, samples;
    int64_t time_ns; /* Unix; 0 unknown */
} pp_profile;

/* Reads a whole profile; free it with pp_free. VP_ECORRUPT: damaged or not a pprof profile;
 * VP_EUNSUPPORTED: not a memory profile, because no sample type is in bytes; VP_ELIMIT: above 256
 * MiB. On failure *out is unchanged. The stream is not closed. */
int pp_read(pp_profile **out, rd_stream *in);
/* Frees the profile and all its strings. */
void pp_free(pp_profile *p);

#endif

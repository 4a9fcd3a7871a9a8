/* The formats, one row each. Only model/catalog/timeline.c compiles the readers that rows name, and
 * only export/exporters.c the exporters, so this header includes neither. */
#ifndef VP_READ_FORMATS_H
#define VP_READ_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

/* X(format, name in JSON, kind of a run of such files, role in a run,
 *   suffix after the host's name, how the content is opened, reader, exporters: JSON, .pftrace)
 *
 * source: random access by rd_source; stream: text, read in order by rd_stream. NULL: no reader or
 * exporter. CHROME: Trace Event JSON other than KINETO and XLA_JSON; UNKNOWN: not listed; CACHE:
 * written by XProf or TensorBoard, ignored; UNREADABLE: states why. */
#define RD_FORMATS(X)                                                                              \
    X(UNKNOWN, "unknown", "none", REST, "", source, NULL, NULL, NULL)                              \
    X(XSPACE, "xplane", "xla", FIRST_HALF, ".xplane.pb", source, xs_read, ex_json_from_xspace,     \
      ex_pftrace_from_xspace)                                                                      \
    X(XLA_JSON, "trace.json", "xla", SECOND_HALF, ".trace.json", stream, cj_read, ex_json_whole,   \
      ex_pftrace_from_json)                                                                        \
    X(KINETO, "kineto", "kineto", ALONE, ".trace.json", stream, cj_read, ex_json_whole,            \
      ex_pftrace_from_json)                                                                        \
    X(CHROME, "chrome", "chrome", ALONE, ".trace.json", stream, cj_read, ex_json_whole,            \
      ex_pftrace_from_json)                                                                        \
    X(PPROF, "memory", "memory", MEMORY, "", source, NULL, NULL, NULL)                             \
    X(SNAPSHOT, "snapshot", "memory", MEMORY, "", source, NULL, NULL, NULL)                        \
    X(VPCAP, "vpcap", "xla", UNFINISHED, ".vpcap", source, vr_read, ex_json_from_vpcap,            \
      ex_pftrace_from_vpcap)                                                                       \
    X(ARCHIVE, "archive", "none", REST, "", source, NULL, NULL, NULL)                              \
    X(CACHE, "cache", "none", REST, "", source, NULL, NULL, NULL)                                  \
    X(UNREADABLE, "unreadable", "none", REST, ".xplane.riegeli", source, NULL, NULL, NULL)

#define RD_FORMAT_VALUE(format, ...) RD_##format,
typedef enum rd_format { RD_FORMATS(RD_FORMAT_VALUE) RD_FORMAT_COUNT } rd_format;

/* Role of a file in its run. Files are sorted by readable timelines first, then by this order. */
typedef enum rd_role {
    RD_FIRST_HALF,  /* the complete timeline of a host */
    RD_SECOND_HALF, /* a copy of it, possibly truncated by its writer */
    RD_ALONE,       /* a timeline without a copy */
    RD_UNFINISHED,  /* an unfinished recording */
    RD_MEMORY,      /* a memory profile or snapshot, not a timeline */
    RD_REST,
} rd_role;

typedef struct rd_format_row {
    char name[12], session[8], suffix[16]; /* arrays: pointers would be relocated at start */
    unsigned char role;                    /* rd_role */
    bool text;                             /* read in order; contains no pages of zeros */
} rd_format_row;

extern const rd_format_row rd_formats[RD_FORMAT_COUNT];

#endif

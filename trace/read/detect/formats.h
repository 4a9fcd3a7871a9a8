/* Every format, a row each. model/timeline.c keeps the readers that rows name, export/exporters.c
 * the exporters. A row that names a reader or exporter is compiled there only, so this header
 * includes neither. */
#ifndef VP_READ_FORMATS_H
#define VP_READ_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

/* X(format, its name in JSON, kind of a session of such files, role in a session,
 *   suffix behind the name of a host, how its content is opened, reader, exporters: JSON, .pftrace)
 * source: at any place, as rd_source. stream: from front to back, as rd_stream; it is text. A NULL:
 * nobody reads or exports it. CHROME is any Trace Event JSON that is neither KINETO nor XLA_JSON,
 * UNKNOWN nothing of ours (not listed), CACHE what XProf or TensorBoard wrote (ignored), and
 * UNREADABLE says why. */
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

/* What a file is in its session. Readable timelines stand first, whichever role they have, then
 * the others in this order. */
typedef enum rd_role {
    RD_FIRST_HALF,  /* a host's whole timeline */
    RD_SECOND_HALF, /* the same once more, which its writer may have cut off */
    RD_ALONE,       /* a timeline that no other file repeats */
    RD_UNFINISHED,  /* a recording that nobody finished */
    RD_MEMORY,      /* a memory profile or snapshot, which is no timeline */
    RD_REST,
} rd_role;

typedef struct rd_format_row {
    char name[12], session[8], suffix[16]; /* no pointers, which each start would relocate */
    unsigned char role;                    /* rd_role */
    bool text; /* its bytes are read from front to back, and hold no zeros by the page */
} rd_format_row;

extern const rd_format_row rd_formats[RD_FORMAT_COUNT];

#endif

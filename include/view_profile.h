/* view_profile: which parts of the computation graph take the longest, and why.
 *
 * Opens profile directories, archives and files of JAX/XLA, TensorFlow and PyTorch, analyses them
 * into one plain report, and serves a viewer on loopback.
 *
 * Grammar: out-parameters first; 0 or a negative VP_E… (view_profile_status.h), then
 * vp_error_last() says more; outputs are untouched on failure; what a function returns through a
 * `const` pointer belongs to its parent; _free takes NULL. Nothing prints, exits or installs
 * signal handlers, except open_latest_profile(), which says where it serves.
 * Options carry a version: start from VP_…_INIT. Handles may be used by one thread at a time;
 * vp_catalog and vp_report may be read by several. */
#ifndef VIEW_PROFILE_H
#define VIEW_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view_profile_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The report --------------------------------------------------------------------------- */
/* One host's figures or a whole session's. Times and durations are integer picoseconds; times are
 * relative to base_unix_ns. Unknown counts are -1, unknown texts NULL (JSON: null, never 0). */

#define VP_UNKNOWN INT64_C(-1)
#define VP_NO_TIME INT64_MIN

typedef enum vp_op_class { VP_COMPUTE, VP_COMMUNICATION, VP_COPY } vp_op_class;
typedef enum vp_device_kind {
    VP_DEVICE_TPU,
    VP_DEVICE_GPU,
    VP_DEVICE_CPU,
    VP_DEVICE_OTHER
} vp_device_kind;
typedef enum vp_group {
    VP_GROUP_NAME, /* class, category and normalised name (analysis.md 2.4) */
    VP_GROUP_CATEGORY,
    VP_GROUP_SCOPE,
    VP_GROUP_SOURCE,
    VP_GROUP_MODULE,
    VP_GROUP_RAW
} vp_group;
typedef enum vp_sort { VP_BY_SELF, VP_BY_TOTAL, VP_BY_CALLS, VP_BY_MAX } vp_sort;
typedef enum vp_severity { VP_SEV_INFO, VP_SEV_WARNING, VP_SEV_ERROR } vp_severity;

/* compute + exposed_comm + exposed_copy + idle = window, exactly. Unions of half-open intervals
 * over all op tracks of the device (analysis.md A1). */
typedef struct vp_breakdown {
    int64_t window_ps, compute_ps, exposed_comm_ps, exposed_copy_ps, idle_ps;
    int64_t busy_ps, comm_ps, copy_ps, overlap_comm_ps;
} vp_breakdown;

typedef struct vp_device {
    const char *name; /* "/device:TPU:0", "GPU 0", "/host:CPU:0" */
    const char *host;
    vp_device_kind kind;
    int64_t events;           /* op events */
    int64_t start_ps, end_ps; /* the device's window, on `clock` of the report's window */
    bool own_clock;           /* the window is on the device's own clock, not the host's */
    int64_t
        timeline_ns; /* to add to the report's (aligned) times for those of its host's own file */
    int64_t self_ps; /* Σ self of its ops: the denominator of self_share_of_ops */
    vp_breakdown breakdown;
} vp_device;

/* One group of events of one device. */
typedef struct vp_op {
    uint32_t device; /* index into devices; without devices, index into tracks' processes */
    vp_op_class op_class;
    const char *category; /* hlo_category, Kineto cat, …; may be NULL */
    const char *name;     /* the group's key as shown */
    int64_t calls, total_ps, self_ps;
    int64_t min_ps, p50_ps, p95_ps, max_ps;   /* of one call; percentiles by nearest rank */
    double stddev_ps;                         /* population */
    int64_t bytes, flops;                     /* Σ over calls */
    const char *scope, *source, *module;      /* of its slowest member, may be NULL */
    int64_t raw_names;                        /* distinct names in the group */
    int64_t slowest_start_ps, slowest_dur_ps; /* start on the aligned clock */
} vp_op;

/* The computation graph by time: framework paths as a tree, in pre-order. */
typedef struct vp_scope {
    uint32_t depth;   /* 0 for a root */
    uint32_t parent;  /* index, UINT32_MAX for a root */
    const char *path; /* whole path, "jit(step)/transformer/layer_3" */
    const char *name; /* its last component */
    int64_t self_ps;  /* of ops that stand exactly here */
    int64_t total_ps; /* self of the whole subtree */
    int64_t calls;    /* of the whole subtree */
} vp_scope;

typedef struct vp_module {
    const char *name;
    int64_t program_id;             /* XLA's 64 bits, printed unsigned; -1 unknown */
    int64_t runs, total_ps, p50_ps; /* -1 unknown */
} vp_module;

typedef struct vp_quality {
    const char *code;
    vp_severity severity;
    const char *message;
    const char *file;    /* may be NULL */
    int64_t event, byte; /* -1: none */
    bool partial;
} vp_quality;

typedef struct vp_report_file {
    const char *path, *kind;
    int64_t bytes, events;
    bool partial;
} vp_report_file;

typedef struct vp_report {
    const char *session_id, *session_name, *session_path, *session_kind;
    int64_t captured_unix_ns; /* -1 unknown */
    int64_t base_unix_ns;     /* -1 unknown */
    const char **hosts;
    size_t host_count;
    vp_report_file *files;
    size_t file_count;

    bool has_devices; /* false: ops are the tracks' own names (host-only profile, Chrome trace) */
    bool own_clock;   /* some device window is on a device's clock */
    int64_t start_ps, end_ps; /* over all devices; without devices, over all events */
    int64_t capture_ps;       /* length of the whole capture, -1 unknown */
    int64_t events;           /* of every kind, in all files that were read */

    vp_device *
        devices; /* without devices: one entry a process, kind OTHER, idle and busy of its tracks */
    size_t device_count;
    vp_group group;
    vp_op *ops; /* by self time, descending; ties by name */
    size_t op_count;
    vp_scope *scopes;
    size_t scope_count;
    vp_module *modules;
    size_t module_count;
    vp_quality *quality;
    size_t quality_count;
    bool partial; /* some file was cut, capped or damaged: figures miss something */
    void *owner_; /* the memory of everything above */
} vp_report;

/* ---- Sessions ------------------------------------------------------------------------------- */

typedef struct vp_catalog vp_catalog;
typedef struct vp_session vp_session; /* belongs to its catalog */

/* Scans a directory, archive, file or "-". VP_ENOTFOUND: no such path. */
VP_API int vp_catalog_open(vp_catalog **out, const char *path);
VP_API void vp_catalog_free(vp_catalog *c);
VP_API size_t vp_catalog_count(const vp_catalog *c);
/* Newest first. VP_ENOTFOUND: i is out of range. */
VP_API int vp_catalog_session(const vp_session **out, const vp_catalog *c, size_t i);
VP_API int vp_catalog_latest(const vp_session **out, const vp_catalog *c);
/* By id, name, path or a unique end of these. */
VP_API int vp_catalog_find(const vp_session **out, const vp_catalog *c, const char *key);
VP_API const char *vp_session_id(const vp_session *s);
VP_API const char *vp_session_name(const vp_session *s);
VP_API const char *vp_session_path(const vp_session *s);
VP_API int64_t vp_session_captured_unix_ns(const vp_session *s);

typedef struct vp_report_options {
    int version;
    vp_group group;
    int jobs;         /* files read at once; 0: as many as processors */
    const char *host; /* only this host; NULL: all */
    /* done and total bytes of the files; nonzero stops with VP_ECANCELLED. May be NULL. */
    int (*progress)(void *ctx, int64_t done, int64_t total);
    void *progress_ctx;
} vp_report_options;
#define VP_REPORT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Reads and analyses a session. Files that cannot be read are quality entries as long as one can;
 * VP_EEMPTY: nothing to analyse. */
VP_API int vp_report_make(vp_report **out, const vp_catalog *c, const vp_session *s,
                          const vp_report_options *opts);
VP_API void vp_report_free(vp_report *r);

typedef enum vp_format { VP_FORMAT_TEXT, VP_FORMAT_JSON, VP_FORMAT_CSV, VP_FORMAT_HTML } vp_format;
typedef enum vp_unit { VP_UNIT_AUTO, VP_UNIT_NS, VP_UNIT_US, VP_UNIT_MS, VP_UNIT_S } vp_unit;

typedef struct vp_view { /* what of a report is shown, and how */
    int version;
    size_t top; /* rows; 0: all. Default 20 */
    vp_sort sort;
    const char *device; /* only this device (name, or its end, "TPU:0"); NULL: all */
    const char *host;
    vp_unit unit;
    bool color; /* text: ANSI colours */
    int width;  /* text: columns; 0: 100 */
} vp_view;
#define VP_VIEW_INIT                                                                               \
    {                                                                                              \
        .version = 1, .top = 20, .width = 100                                                      \
    }

/* Prints to a descriptor. view may be NULL. */
VP_API int vp_report_write(const vp_report *r, vp_format format, const vp_view *view, int fd);

/* ---- The viewer ----------------------------------------------------------------------------- */

typedef struct vp_server vp_server;
typedef struct vp_open_options {
    int version;
    const char *ui;       /* "perfetto", "tensorboard", "both" or "none"; default both */
    int port;             /* -1: 9001 or the next free of 20; 0: any free; else exactly this */
    int tensorboard_port; /* 6006 */
    bool open_browser;
} vp_open_options;
#define VP_OPEN_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .version = 1, .ui = "both", .port = -1, .tensorboard_port = 6006, .open_browser = true     \
    }

/* Serves a profile directory on loopback from threads of its own. VP_EBUSY: no port. */
VP_API int vp_server_start(vp_server **out, const char *profile_dir, const vp_open_options *opts);
/* "http://127.0.0.1:9001/"; belongs to the server. */
VP_API const char *vp_server_url(const vp_server *s);
/* Lets requests in flight finish (at most 10 s), then frees the server. */
VP_API void vp_server_stop(vp_server *s);

typedef struct vp_viewer vp_viewer;
/* Serves profile_dir and opens the browser on its newest session. NULL means $VIEW_PROFILE_DIR,
 * then $XAX_PROFILE_DIR. Does not block. VP_ENOTFOUND: no session there. */
VP_API int vp_open_latest(vp_viewer **out, const char *profile_dir, const vp_open_options *opts);
VP_API const char *vp_viewer_url(const vp_viewer *v); /* of the session's page */
VP_API void vp_viewer_close(vp_viewer *v);
/* The same with defaults, printing the address; blocks until SIGINT or SIGTERM. */
VP_API int open_latest_profile(const char *profile_dir);

VP_API const char *vp_version(void);

#ifdef __cplusplus
}
#endif
#endif

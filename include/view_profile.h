/* view_profile: which parts of the computation graph take the longest, and why.
 *
 * Opens profile directories, archives and files of JAX/XLA, TensorFlow and PyTorch, analyzes them
 * into one plain report, and serves a viewer on loopback.
 *
 * Conventions: out-parameters come first. Functions return 0 or a negative VP_E…
 * (view_profile_status.h); then vp_error_last() has details, and outputs are unchanged. A result
 * behind a `const` pointer belongs to its parent; _free accepts NULL. Nothing prints, exits or
 * installs signal handlers, except open_latest_profile(), which prints its address.
 *
 * A path to profiles or reports may be an address (gs://, s3://, az://, abfss://, http(s)://). Then
 * view_profile-fetch is started, which must be installed or next to the program (VP_EUNSUPPORTED).
 * It finds credentials as described in docs/stores.md. VP_EREMOTE: the remote side failed.
 *
 * Options carry a version: start from VP_…_INIT; another version gives VP_EVERSION. A handle may be
 * used by one thread at a time; several threads may read a vp_catalog or vp_report. */
#ifndef VIEW_PROFILE_H
#define VIEW_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view_profile_report.h"
#include "view_profile_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Runs ---- */

typedef struct vp_catalog vp_catalog;
typedef struct vp_session vp_session; /* a run; belongs to its catalog */

/* Scans a directory, archive, file or "-". VP_ENOTFOUND: no such path. Free with
 * vp_catalog_free. */
VP_API int vp_catalog_open(vp_catalog **out, const char *path);
VP_API void vp_catalog_free(vp_catalog *c);
VP_API size_t vp_catalog_count(const vp_catalog *c);
/* Newest first. VP_ENOTFOUND: i is out of range. */
VP_API int vp_catalog_session(const vp_session **out, const vp_catalog *c, size_t i);
VP_API int vp_catalog_latest(const vp_session **out, const vp_catalog *c);
/* By id, name, path or a unique suffix of these. */
VP_API int vp_catalog_find(const vp_session **out, const vp_catalog *c, const char *key);
VP_API const char *vp_session_id(const vp_session *s);
VP_API const char *vp_session_name(const vp_session *s);
VP_API const char *vp_session_path(const vp_session *s);
VP_API int64_t vp_session_captured_unix_ns(const vp_session *s);

typedef struct vp_report_options {
    int version;
    vp_group group;
    vp_depth depth;
    int jobs;         /* threads that read files; 0: number of processors */
    const char *host; /* only this host; NULL: all */
    bool one_step;    /* only the time of step number `step`; VP_ENOTFOUND if missing */
    int64_t step;
    /* Called with done and total bytes of the files; a nonzero result stops with VP_ECANCELLED. May
     * be NULL; must not throw C++ exceptions. */
    int (*progress)(void *ctx, int64_t done, int64_t total);
    void *progress_ctx;
    vp_where where; /* VP_WHERE_HOST: only makes the op tables, as VP_DEPTH_OPS does */
    /* Capabilities of the devices, overriding profile and table of chips; 0 and NULL: not set. */
    const char *chip; /* a row of the table of chips, "H100 SXM"; VP_EARG: unknown */
    double peak_tflops, peak_gb_s;
    /* Model size for its FLOP, 6 x parameters x tokens. tokens: of one step on all devices, else of
     * the whole profile. 0: unknown. */
    double params, tokens;
    /* Only the time from from_ps to before until_ps, in times of the report, of one host: makes
     * only the op tables, as VP_DEPTH_OPS does. VP_EARG: several hosts, or combined with
     * one_step. */
    bool one_window;
    int64_t from_ps, until_ps;
    /* With VP_DEPTH_OPS: events that the tables do not need are not counted, so vp_report.events
     * may be too low. */
    bool uncounted;
    const char
        *step_series; /* with one_step: the series of the step; NULL: the first that has it */
    /* The name of the annotation that marks steps, without a number; NULL: found by itself
     * (docs/reference/metrics.md#steps). */
    const char *steps_by;
} vp_report_options;
#define VP_REPORT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Reads and analyzes a run. Unreadable files become quality entries as long as one file is
 * readable. VP_EEMPTY: nothing to analyze. Free with vp_report_free. */
VP_API int vp_report_make(vp_report **out, const vp_catalog *c, const vp_session *s,
                          const vp_report_options *opts);
VP_API void vp_report_free(vp_report *r);

/* Reads the JSON of vp_report_write. VP_ECORRUPT names the place. */
VP_API int vp_report_read(vp_report **out, const char *path);
/* Merges reports of hosts or files, in any order, into the report of the whole. Exact except for
 * percentiles of modules read from JSON (rank error below 0.4 %). */
VP_API int vp_report_merge(vp_report **out, const vp_report *const *parts, size_t n);

/* Compares b with a, per step if both have steps. Free with vp_comparison_free. */
VP_API int vp_report_compare(vp_comparison **out, const vp_report *a, const vp_report *b);
VP_API void vp_comparison_free(vp_comparison *c);

typedef enum vp_format { VP_FORMAT_TEXT, VP_FORMAT_JSON, VP_FORMAT_CSV, VP_FORMAT_HTML } vp_format;
typedef enum vp_unit { VP_UNIT_AUTO, VP_UNIT_NS, VP_UNIT_US, VP_UNIT_MS, VP_UNIT_S } vp_unit;

typedef struct vp_view { /* selection and format of a report */
    int version;
    size_t top; /* rows; 0: all. Default 20 */
    vp_sort sort;
    const char *device; /* only this device (name or suffix, "TPU:0"); NULL: all */
    const char *host;
    vp_unit unit;
    bool color; /* text: ANSI colors */
    int width;  /* text: columns; 0: 100 */
    /* Only ops whose name, category, scope, source or module contains this, ignoring case; NULL:
     * all. */
    const char *filter;
    /* text: source lines become links (OSC 8) to an editor (vscode://file/…), with relative paths
     * below this directory. "": only absolute paths; NULL: no links. */
    const char *source_links;
} vp_view;
#define VP_VIEW_INIT                                                                               \
    {                                                                                              \
        .version = 1, .top = 20, .width = 100                                                      \
    }

/* Writes to a descriptor. view may be NULL. */
VP_API int vp_report_write(const vp_report *r, vp_format format, const vp_view *view, int fd);

/* ---- Timelines ---- */

typedef enum vp_export_form { VP_EXPORT_PFTRACE, VP_EXPORT_PERFETTO_JSON } vp_export_form;

typedef struct vp_export_options {
    int version;
    const char *host; /* host of the run; NULL: the only one */
    /* Only events that overlap [start, end), in ns since the trace's first event; 0, 0: all. */
    int64_t window_start_ns, window_end_ns;
    uint64_t max_events; /* maximum number of slices, the longest ones; 0: all */
} vp_export_options;
#define VP_EXPORT_OPTIONS_INIT                                                                     \
    {                                                                                              \
        .version = 1                                                                               \
    }

/* Writes a host's timeline with the tracks of its analysis for Perfetto, as .pftrace or as Trace
 * Event JSON. Events that the format cannot represent are counted in the file. opts may be NULL.
 * VP_EARG: the window ends before it starts, or no host is named and there are several; VP_EEMPTY:
 * no such host; VP_ECORRUPT, VP_EUNSUPPORTED: from the file. After a failure the output is
 * truncated. */
VP_API int vp_export_write(const vp_catalog *c, const vp_session *s, vp_export_form form,
                           const vp_export_options *opts, int fd);

/* ---- The viewer ---- */

typedef struct vp_server vp_server;
typedef struct vp_open_options {
    int version;
    const char *ui; /* "perfetto", "tensorboard", "both" or "none"; default both */
    int port;       /* -1: 9001 or the next free one of 20; 0: any free one; else exactly this */
    int tensorboard_port; /* 6006 */
    bool open_browser;
} vp_open_options;
#define VP_OPEN_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .version = 1, .ui = "both", .port = -1, .tensorboard_port = 6006, .open_browser = true     \
    }

/* Serves a profile directory on loopback from its own threads. VP_EBUSY: no port available. End
 * with vp_server_stop. */
VP_API int vp_server_start(vp_server **out, const char *profile_dir, const vp_open_options *opts);
/* "http://127.0.0.1:9001/"; belongs to the server. */
VP_API const char *vp_server_url(const vp_server *s);
/* Waits for requests in progress (at most 10 s), then frees the server. */
VP_API void vp_server_stop(vp_server *s);

typedef struct vp_viewer vp_viewer;
/* Serves profile_dir and opens the browser on its newest run. NULL: $VIEW_PROFILE_DIR, then
 * $XAX_PROFILE_DIR. Does not block. VP_ENOTFOUND: no run. */
VP_API int vp_open_latest(vp_viewer **out, const char *profile_dir, const vp_open_options *opts);
VP_API const char *vp_viewer_url(const vp_viewer *v); /* of the run's page */
VP_API void vp_viewer_close(vp_viewer *v);
/* The same with default options, printing the address; blocks until SIGINT or SIGTERM. */
VP_API int open_latest_profile(const char *profile_dir);

VP_API const char *vp_version(void);

#ifdef __cplusplus
}
#endif
#endif

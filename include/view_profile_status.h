/* Status codes and the last error, shared by view_profile.h and view_profile_capture.h.
 *
 * Every function of both libraries returns 0 or a negative VP_E… code. After a failure
 * vp_error_last() describes it, per thread, until the next failing call on that thread. */
#ifndef VIEW_PROFILE_STATUS_H
#define VIEW_PROFILE_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VP_API __attribute__((visibility("default")))
#else
#define VP_API
#endif

enum {
    VP_OK = 0,
    VP_ENOMEM = -1,       /* out of memory */
    VP_EARG = -2,         /* an argument or option makes no sense */
    VP_EIO = -3,          /* the operating system refused a read or write */
    VP_ECORRUPT = -4,     /* damaged content */
    VP_EUNSUPPORTED = -5, /* recognised, but not readable here */
    VP_ENOTFOUND = -6,    /* no such path, session, host or device */
    VP_ELIMIT = -7,       /* a ceiling of limits.h was reached */
    VP_EREFUSED = -8,     /* a safety rule said no */
    VP_EBUSY = -9,        /* address or resource in use */
    VP_ECANCELLED = -10,  /* the caller asked to stop */
    VP_EEMPTY = -11,      /* readable, but there is nothing in it to analyse */
    VP_EREMOTE = -12,     /* the other side failed or did not answer */
    /* Recording only. */
    VP_EINACTIVE = -13,        /* this recording has ended already */
    VP_EFORKED = -14,          /* the recording belongs to the parent process */
    VP_ENOSPC = -15,           /* no room on the disk */
    VP_ECLOCK = -16,           /* the clock went backwards or stood still */
    VP_EGPU_UNAVAILABLE = -17, /* no CUPTI, no driver, or a version that we do not know */
    VP_EGPU_BUSY = -18,        /* another profiler holds CUPTI */
    VP_EPERM = -19,            /* the system forbids it to this user */
    VP_EFULL = -20,            /* the recording's pool has no room left: counted as dropped */
    /* Both again. */
    VP_EVERSION = -21 /* a structure of a version that this library does not know */
};

/* The description of a failure. offset and event are -1 where they mean nothing. */
typedef struct vp_error {
    int code;          /* one of VP_E… */
    int64_t offset;    /* byte in `path` (uncompressed), or -1 */
    int64_t event;     /* 0-based number of the event in `path`, or -1 */
    char message[320]; /* what and what next, without the path; never empty after a failure */
    char path[512];    /* the file, escaped for a terminal; may be empty */
} vp_error;

/* The calling thread's last failure; never NULL. The memory belongs to the library and is
 * overwritten by the thread's next failure. */
VP_API const vp_error *vp_error_last(void);

/* A constant short name of a code: "corrupt", "not found", … */
VP_API const char *vp_status_name(int code);

#ifdef __cplusplus
}
#endif
#endif

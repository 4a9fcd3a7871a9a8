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
    VP_EARG = -2,         /* invalid argument or option */
    VP_EIO = -3,          /* a read or write failed */
    VP_ECORRUPT = -4,     /* damaged content */
    VP_EUNSUPPORTED = -5, /* recognized, but not supported */
    VP_ENOTFOUND = -6,    /* no such path, run, host or device */
    VP_ELIMIT = -7,       /* a limit was exceeded */
    VP_EREFUSED = -8,     /* refused for safety */
    VP_EBUSY = -9,        /* address or resource in use */
    VP_ECANCELLED = -10,  /* cancelled by the caller */
    VP_EEMPTY = -11,      /* readable, but nothing to analyze */
    VP_EREMOTE = -12,     /* the remote side failed or timed out */
    /* Recording only. */
    VP_EINACTIVE = -13,        /* this recording has already ended */
    VP_EFORKED = -14,          /* the recording belongs to the parent process */
    VP_ENOSPC = -15,           /* no space left on the device */
    VP_ECLOCK = -16,           /* the clock went backwards or does not advance */
    VP_EGPU_UNAVAILABLE = -17, /* no CUPTI, no driver, or an unknown version */
    VP_EGPU_BUSY = -18,        /* another profiler uses CUPTI */
    VP_EPERM = -19,            /* permission denied */
    VP_EFULL = -20,            /* the recording's pool is full; counted as dropped */
    /* For both libraries. */
    VP_EVERSION = -21 /* the structure's version is not known to this library */
};

/* Description of a failure. */
typedef struct vp_error {
    int code;          /* one of VP_E… */
    int64_t offset;    /* byte in `path` (uncompressed), or -1 */
    int64_t event;     /* index of the event in `path` from 0, or -1 */
    char message[320]; /* problem and advice, without the path; never empty after a failure */
    char path[512];    /* the file, escaped for a terminal; may be empty */
} vp_error;

/* The calling thread's last failure; never NULL. The library owns the memory, and the thread's next
 * failure overwrites it. */
VP_API const vp_error *vp_error_last(void);

/* A constant short name of a code: "corrupt", "not found", … */
VP_API const char *vp_status_name(int code);

#ifdef __cplusplus
}
#endif
#endif

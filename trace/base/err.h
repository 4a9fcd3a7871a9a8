/* Errors: the return value carries a code, and thread-local storage holds one message per thread
 * with the place (file, event, byte offset) and advice. Nothing needs to be freed. The library
 * never prints. */
#ifndef VP_BASE_ERR_H
#define VP_BASE_ERR_H

#include "include/view_profile_status.h"

/* Records a failure and returns `code`. The format must not contain the path. */
int vp_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Records and returns VP_ENOMEM. Allocators don't call this themselves: recording an error
 * allocates memory, so they belong to a lower layer than this header. */
int vp_no_memory(void) __attribute__((cold));

/* Adds the place to the failure just recorded; keeps what is already known (the innermost place).
 * path may be NULL; event and offset may be -1. Returns `code` unchanged. */
int vp_fail_at(int code, const char *path, int64_t event, int64_t offset);

/* Copies a failure from another thread into this thread's slot. Returns err->code. */
int vp_fail_copy(const vp_error *err);

/* Checks the `version` of a caller's structure. Returns 0 if it is `known`; else VP_EVERSION, with
 * a message that names the type and its initializer macro. */
int vp_check_version(int version, int known, const char *type, const char *init);

/* Forgets the last failure. */
void vp_error_clear(void);

/* One line: "PATH: event N, byte M: message". At most `cap` bytes with the NUL. Returns dst. */
char *vp_error_line(const vp_error *err, char *dst, unsigned long cap);

#define VP_TRY(expr)                                                                               \
    do {                                                                                           \
        int vp_try_rc_ = (expr);                                                                   \
        if (vp_try_rc_ < 0)                                                                        \
            return vp_try_rc_;                                                                     \
    } while (0)

/* Returns VP_ENOMEM if an allocation failed: VP_NEED(p), VP_NEED(p && q). */
#define VP_NEED(pointers)                                                                          \
    do {                                                                                           \
        if (!(pointers))                                                                           \
            return vp_no_memory();                                                                 \
    } while (0)

#define VP_CLEANUP(fn) __attribute__((cleanup(fn)))

#endif

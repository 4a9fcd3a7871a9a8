/* Frames on a stream of the fetcher (fetch_wire.h), in both directions. The caller owns the
 * descriptor; one thread reads and one writes. */
#ifndef VP_SOURCE_FETCH_FRAMES_H
#define VP_SOURCE_FETCH_FRAMES_H

#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"
#include "trace/source/fetch_wire.h"

/* Writes one frame of at most FETCH_FRAME_MAX bytes. VP_ECANCELLED: the peer closed the stream;
 * VP_EIO. */
int fetch_put(int stream, fetch_frame kind, vp_str payload);
/* Writes FETCH_FAILED with this thread's last error. */
int fetch_put_failure(int stream, int code, int64_t status);

/* Reads the next frame's head. Its n bytes must be read with fetch_take before the next head.
 * VP_EREMOTE: the peer ended without a final frame; VP_ECORRUPT: n is too large. */
int fetch_head(int stream, fetch_frame *kind, size_t *n);
int fetch_take(int stream, void *p, size_t n);
/* Reads head and payload of a frame other than FETCH_DATA, into an empty or cleared buffer. For
 * FETCH_FAILED it records the failure and returns its code; for FETCH_DONE it returns 0. */
int fetch_next(int stream, fetch_frame *kind, vp_buf *payload);
/* Records the failure in the payload of FETCH_FAILED, and returns its negative code. */
int fetch_failure(vp_str payload);

#endif

/* Frames on a stream of the fetcher (fetch_wire.h), both ways. Whoever has the descriptor owns it;
 * one thread reads and one writes. Included like fetch_wire.h. */
#ifndef VP_SOURCE_FETCH_FRAMES_H
#define VP_SOURCE_FETCH_FRAMES_H

#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"
#include "trace/source/fetch_wire.h"

/* Writes one frame of at most FETCH_FRAME_MAX bytes. VP_ECANCELLED: the other side is gone;
 * VP_EIO. */
int fetch_put(int stream, fetch_frame kind, vp_str payload);
/* FETCH_FAILED with this thread's last failure. */
int fetch_put_failure(int stream, int code, int64_t status);

/* The next frame's head; its n bytes follow, and have to be taken with fetch_take before the next
 * head. VP_EREMOTE: the other side ended without a word; VP_ECORRUPT: n is too large. */
int fetch_head(int stream, fetch_frame *kind, size_t *n);
int fetch_take(int stream, void *p, size_t n);
/* Head and payload of a frame that is no data, into an empty or cleared buffer. Of FETCH_FAILED it
 * records the failure and returns its code; of FETCH_DONE it returns 0 with kind FETCH_DONE. */
int fetch_next(int stream, fetch_frame *kind, vp_buf *payload);
/* Records the failure that such a payload tells, and returns its code, which is negative. */
int fetch_failure(vp_str payload);

#endif

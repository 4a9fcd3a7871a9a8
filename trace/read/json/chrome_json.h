/* Trace Event JSON as browsers, Kineto, XLA, TensorFlow and others write it: a push scanner without
 * a tree and without recursion. Tolerant as browsers are, and says what it tolerated. Facts:
 * docs/reference/formats.md#trace-event-json, the traces' README. */
#ifndef VP_READ_CHROME_JSON_H
#define VP_READ_CHROME_JSON_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/bytes/sink.h"

/* Reads a whole stream into the sink. Order within a track is the file's, except that spans told
 * in two events (B and E, b and e, S and F) come last, when the file has been seen. With
 * opts->device_only, host events are skipped from the first device event or "/device:…" name on;
 * those before are delivered, for a reader cannot know. XLA's ops on CPU are delivered twice: on
 * their device and as the host events that they are.
 * Relative time 0 is the file's 0 where times are below 10^12 µs, else the first event's whole µs.
 * Quality codes: truncated, trailing-data, bad-event, oversized-event, negative-duration,
 * unbalanced, unknown-phase, unplaced-ops, no-time, credentials, capped, cpu-async-unjoined. opts
 * may be NULL; it reads by up to four threads where opts->threads says so and `in` can fill memory
 * of its reader's. VP_ECORRUPT only when there is no usable prefix at all; damage after good events
 * is a quality entry with `partial`. VP_EEMPTY: valid, no events. */
int cj_read(sink *out, rd_stream *in, const rd_options *opts);

#endif

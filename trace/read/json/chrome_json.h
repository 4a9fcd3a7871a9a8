/* Reader of Trace Event JSON as written by browsers, Kineto, XLA, TensorFlow and others: a push
 * scanner without a tree and without recursion. It is as tolerant as browsers, and reports what it
 * tolerated. Formats: docs/reference/formats.md#trace-event-json, and the README of the traces. */
#ifndef VP_READ_CHROME_JSON_H
#define VP_READ_CHROME_JSON_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/bytes/sink.h"

/* Reads a whole stream into the sink. The order within a track is that of the file, except that
 * spans written as two events (B and E, b and e, S and F) come last. With opts->device_only, host
 * events are skipped after the first device event or "/device:…" name; earlier ones are passed,
 * because the reader cannot know. XLA's ops on CPU are passed twice: on their device, and as host
 * events.
 *
 * Relative time 0 is the file's 0 if times are below 10^12 µs, else the first event's whole µs.
 * Quality codes: truncated, trailing-data, bad-event, oversized-event, negative-duration,
 * unbalanced, unknown-phase, unplaced-ops, no-time, credentials, capped, cpu-async-unjoined.
 *
 * opts may be NULL. Up to four threads read if opts->threads allows it and `in` supports `fill`.
 * VP_ECORRUPT only if no prefix is usable; damage after good events is a quality entry with
 * `partial`. VP_EEMPTY: valid, without events. */
int cj_read(sink *out, rd_stream *in, const rd_options *opts);

#endif

/* Trace Event JSON as browsers, Kineto, XLA, TensorFlow and others write it: a push scanner
 * without a tree and without recursion. Tolerant as browsers are, and says what it tolerated.
 * Facts: perfetto.md 2, the traces' README. Included by the trace loader and by export. */
#ifndef VP_READ_CHROME_JSON_H
#define VP_READ_CHROME_JSON_H

#include "trace/read/sink.h"
#include "trace/read/stream.h"

/* Reads a whole stream into the sink. VP_ECORRUPT only when there is no usable prefix at all;
 * damage after good events is a quality entry with `partial`. VP_EEMPTY: valid, no events. */
int cj_read(sink *out, rd_stream *in, const rd_options *opts);

#endif

/* `.vpcap`: a recording of ours whose process ended before it was written, or that still goes on.
 * It is turned into the XSpace that it would have become (image/vpcap_xspace), so that its figures
 * and its timeline are those of a finished one. */
#ifndef VP_READ_VPCAP_READER_H
#define VP_READ_VPCAP_READER_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/bytes/sink.h"

/* Starts with the magic of our recordings. */
bool vr_is(vp_str head);
/* The XSpace in an unlinked temporary file. in stays the caller's. VP_ECORRUPT, VP_EUNSUPPORTED,
 * VP_ELIMIT (a pool above 16 GiB), VP_ENOMEM, VP_EIO, VP_ENOSPC. */
int vr_xspace(rd_source **out, rd_source *in);
/* Reads it into the sink, and says in quality that it is unfinished and what that means. */
int vr_read(sink *out, rd_source *in, const rd_options *opts);

#endif

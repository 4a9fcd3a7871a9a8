/* Reader of `.vpcap` files: recordings of view_profile whose process died or is still recording. It
 * converts them to the XSpace that they would have become (trace/vpcap/vpcap_xspace.h), so figures
 * and timeline are those of a finished recording. */
#ifndef VP_READ_VPCAP_READER_H
#define VP_READ_VPCAP_READER_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/bytes/sink.h"

/* True if head starts with the magic of a recording. */
bool vr_is(vp_str head);
/* Writes the XSpace to an unlinked temporary file. The caller keeps `in`. VP_ECORRUPT,
 * VP_EUNSUPPORTED, VP_ELIMIT (a pool above 16 GiB), VP_ENOMEM, VP_EIO, VP_ENOSPC. */
int vr_xspace(rd_source **out, rd_source *in);
/* Reads it into the sink, and adds quality entries that it is unfinished and what that implies. */
int vr_read(sink *out, rd_source *in, const rd_options *opts);

#endif

/* XSpace (`*.xplane.pb`): the wire format is docs/reference/xprof.md#xspace, read without generated
 * code and without holding the file: a first pass over the planes reads their metadata and skips
 * the lines, a second goes over the lines, a third decodes their events.
 *
 * Three passes, because serializers write lines before the metadata that names their events, and a
 * line's name, which decides whether it is wanted, may stand behind its events. HLO protos are
 * parsed when the first op of their module is met. With device_only, host lines are only counted
 * where the file has a device, with uncounted not even that; a file without one is read again in
 * full. */
#ifndef VP_READ_XSPACE_H
#define VP_READ_XSPACE_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/bytes/sink.h"

/* Reads a whole XSpace into the sink. Damage inside a plane or line leaves what came before and is
 * a quality entry with `partial`; VP_ECORRUPT when not even one plane could be read. */
int xs_read(sink *out, rd_source *in, const rd_options *opts);

#endif

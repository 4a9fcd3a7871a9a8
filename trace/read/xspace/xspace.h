/* Reader of XSpace files (`*.xplane.pb`, docs/reference/xprof.md#xspace), without generated code
 * and without loading the whole file. A first pass over the planes reads their metadata and skips
 * the lines, a second pass scans the lines, a third decodes their events.
 *
 * Three passes are needed because serializers write lines before the metadata that names their
 * events. A line's name, which decides if it is needed, may follow its events. HLO protos are
 * parsed when the first op of their module occurs. With device_only, host lines are only counted if
 * the file has a device, and with uncounted not even that. A file without a device is then read
 * again in full. */
#ifndef VP_READ_XSPACE_H
#define VP_READ_XSPACE_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/bytes/sink.h"

/* Reads a whole XSpace into the sink. Damage inside a plane or line keeps the content before it and
 * adds a quality entry with `partial`. VP_ECORRUPT if not even one plane could be read. */
int xs_read(sink *out, rd_source *in, const rd_options *opts);

#endif

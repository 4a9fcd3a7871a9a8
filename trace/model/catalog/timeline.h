/* Dispatches a file to its reader, by the row of its format (read/detect/formats.h). */
#ifndef VP_MODEL_TIMELINE_H
#define VP_MODEL_TIMELINE_H

#include "trace/model/catalog/catalog.h"
#include "trace/read/bytes/sink.h"

/* Reads a file of the catalog into the sink. damage: of its packing or of its storage, code 0:
 * none; the reader reports damage of the content to the sink. VP_EUNSUPPORTED: the format has no
 * reader. */
int timeline_read(sink *out, const catalog *c, const cat_file *f, const rd_options *opts,
                  vp_error *damage);
/* True if both formats have the same reader; they differ only in their producer. */
bool timeline_same_reader(rd_format a, rd_format b);

#endif

/* Which reader takes a file, by its format's row (read/detect/formats.h). */
#ifndef VP_MODEL_TIMELINE_H
#define VP_MODEL_TIMELINE_H

#include "trace/model/catalog/catalog.h"
#include "trace/read/bytes/sink.h"

/* Reads a file of the catalog's into the sink. damage: of its packing or its place on the disk,
 * code 0 where there is none; of its content the reader tells the sink. VP_EUNSUPPORTED for a
 * format that no row has a reader for. */
int timeline_read(sink *out, const catalog *c, const cat_file *f, const rd_options *opts,
                  vp_error *damage);
/* One reader takes both formats: they differ in their producer alone. */
bool timeline_same_reader(rd_format a, rd_format b);

#endif

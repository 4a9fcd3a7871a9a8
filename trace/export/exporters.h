/* Which file of a host is exported, and by whom, by its format's row (read/detect/formats.h).
 * Included by the server's routes; the files are the catalog's. */
#ifndef VP_EXPORT_EXPORTERS_H
#define VP_EXPORT_EXPORTERS_H

#include "trace/model/catalog.h"

/* The half of a host's profile that is exported: the first, which reports are made of, too.
 * jaxlib's JSON lacks async ops, memory, flows, and what is behind its millionth event. NULL when
 * nobody exports either. */
const cat_file *ex_half(const cat_session *s, const cat_host *h);
/* Where f, the half of ex_half, turns out to be none: the other. NULL: there is none. */
const cat_file *ex_other_half(const cat_session *s, const cat_host *h, const cat_file *f);

/* Perfetto-ready JSON of a file, while the catalog lives. VP_EUNSUPPORTED for a format that no row
 * has an exporter for; else what the exporter says. */
int ex_json(rd_stream **out, const catalog *c, const cat_file *f);

#endif

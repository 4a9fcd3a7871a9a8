/* Which file of a host is exported, and by whom, by its format's row (read/detect/formats.h).
 * Included by the server's routes; the files are the catalog's. */
#ifndef VP_EXPORT_EXPORTERS_H
#define VP_EXPORT_EXPORTERS_H

#include "trace/model/catalog.h"

/* The half of a host's profile that shows most of it: its JSON as it is, unless that may miss
 * events that the other half has. NULL when no exporter takes either. */
const cat_file *ex_half(const cat_session *s, const cat_host *h);
/* Where f, the half of ex_half, turns out to be none: the one that says the same. NULL: none. */
const cat_file *ex_other_half(const cat_session *s, const cat_host *h, const cat_file *f);
/* Perfetto-ready JSON of a file, while the catalog lives. VP_EUNSUPPORTED for a format that no row
 * has an exporter for; else what the exporter says. */
int ex_json(rd_stream **out, const catalog *c, const cat_file *f);

#endif

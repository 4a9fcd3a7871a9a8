/* Selects the file of a host to export, and the exporter for its format (read/detect/formats.h).
 * The catalog owns the files. */
#ifndef VP_EXPORT_EXPORTERS_H
#define VP_EXPORT_EXPORTERS_H

#include "trace/export/shared/pick.h"
#include "trace/model/catalog/catalog.h"

/* Output formats of a timeline. */
typedef enum ex_form { EX_JSON, EX_PFTRACE, EX_FORMS } ex_form;

/* The half of a host's profile that is exported: the first one, which reports use too. The JSON of
 * jaxlib lacks async ops, memory, flows, and everything after its millionth event. NULL if no
 * exporter supports either half. */
const cat_file *ex_half(ex_form form, const cat_session *s, const cat_host *h);
/* The other half, for when f, the half of ex_half, turns out to be unreadable. NULL: none. */
const cat_file *ex_other_half(ex_form form, const cat_session *s, const cat_host *h,
                              const cat_file *f);

/* Opens a file for Perfetto; the catalog must outlive it. VP_EUNSUPPORTED if no exporter supports
 * the format; else the error of the exporter. */
int ex_open(rd_stream **out, ex_form form, const catalog *c, const cat_file *f, ex_pick *pick);
/* The same for a host: its half, or the other one if that is unreadable; *file is the one used.
 * VP_EUNSUPPORTED if neither can be exported. */
int ex_open_host(rd_stream **out, const cat_file **file, ex_form form, const catalog *c,
                 const cat_session *s, const cat_host *h, ex_pick *pick);

#endif

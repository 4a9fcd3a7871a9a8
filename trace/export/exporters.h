/* Selects the file of a host to export, and the exporter for its format (read/detect/formats.h).
 * The catalog owns the files. */
#ifndef VP_EXPORT_EXPORTERS_H
#define VP_EXPORT_EXPORTERS_H

#include "trace/export/shared/pick.h"
#include "trace/model/catalog/catalog.h"

/* What a timeline is exported as. */
typedef enum ex_form { EX_JSON, EX_PFTRACE, EX_FORMS } ex_form;

/* The half of a host's profile that is exported: the first, which reports are made of, too.
 * jaxlib's JSON lacks async ops, memory, flows, and what is behind its millionth event. NULL when
 * nobody exports either in this form. */
const cat_file *ex_half(ex_form form, const cat_session *s, const cat_host *h);
/* Where f, the half of ex_half, turns out to be none: the other. NULL: there is none. */
const cat_file *ex_other_half(ex_form form, const cat_session *s, const cat_host *h,
                              const cat_file *f);

/* A file as Perfetto takes it, while the catalog lives. VP_EUNSUPPORTED for a format that no row
 * has an exporter for; else what the exporter says. */
int ex_open(rd_stream **out, ex_form form, const catalog *c, const cat_file *f, ex_pick *pick);
/* The same of a host: its half, or the other where that turns out to be none; *file is the one.
 * VP_EUNSUPPORTED where neither is exported so. */
int ex_open_host(rd_stream **out, const cat_file **file, ex_form form, const catalog *c,
                 const cat_session *s, const cat_host *h, ex_pick *pick);

#endif

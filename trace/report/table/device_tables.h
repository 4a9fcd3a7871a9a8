/* Tables with one row per device. Ownership: see tbl.h. */
#ifndef VP_REPORT_DEVICE_TABLES_H
#define VP_REPORT_DEVICE_TABLES_H

#include "trace/report/table/tbl.h"

void tbl_launches(tbl *t, const vp_report *r, const vp_view *v);

/* Which columns there are depends on what the devices have; t.columns are those of the struct, so
 * it stays where it was filled. */
typedef struct device_table {
    tbl t;
    tbl_column columns[TBL_COLUMNS_MAX];
} device_table;

/* What ops could be rid of, by kind. False: nothing, on the devices that the view shows. Ops that
 * share the code of an equal one (duplicate_ps) are not among them: equal layers are not needless
 * work. */
bool tbl_hygiene(device_table *out, const vp_report *r, const vp_view *v);
/* Causes of idle time; false: none that is known, on those devices. */
bool tbl_idle_causes(device_table *out, const vp_report *r, const vp_view *v);

#endif

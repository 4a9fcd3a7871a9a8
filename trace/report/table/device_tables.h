/* Tables with one row per device. Ownership: see tbl.h. */
#ifndef VP_REPORT_DEVICE_TABLES_H
#define VP_REPORT_DEVICE_TABLES_H

#include "trace/report/table/tbl.h"

void tbl_launches(tbl *t, const vp_report *r, const vp_view *v);

/* The columns depend on the data of the devices. t.columns points into the struct, so the struct
 * must not be moved after it is filled. */
typedef struct device_table {
    tbl t;
    tbl_column columns[TBL_COLUMNS_MAX];
} device_table;

/* Avoidable work of ops, by kind. Returns false if the devices of the view have none. Ops with the
 * same code as another op (duplicate_ps) are not counted: equal layers are not needless work. */
bool tbl_hygiene(device_table *out, const vp_report *r, const vp_view *v);
/* Causes of idle time; false: no known cause on those devices. */
bool tbl_idle_causes(device_table *out, const vp_report *r, const vp_view *v);

#endif

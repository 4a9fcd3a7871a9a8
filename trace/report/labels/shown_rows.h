/* Devices and rows that a view shows. Only rep_rows owns memory. */
#ifndef VP_REPORT_SHOWN_ROWS_H
#define VP_REPORT_SHOWN_ROWS_H

#include "include/view_profile.h"

/* The view, or the default if it is NULL. */
vp_view rep_view(const vp_view *v);

bool rep_device_matches(const vp_report *r, const vp_view *v, size_t device);
/* The same for a device index; values without a device match unless a device is requested. */
bool rep_shows_device(const vp_report *r, const vp_view *v, uint32_t device);
bool rep_shows_host(const vp_view *v, const char *host);
/* 0, or VP_ENOTFOUND with the available names if the requested device or host does not match any.
 */
int rep_check_filters(const vp_report *r, const vp_view *v);
/* Marks in full[device_count] the devices that get an op table: the requested ones; else up to two
 * per kind, or only the busiest of more. *matching: number of devices that pass the filters. */
void rep_pick_devices(bool *full, size_t *matching, const vp_report *r, const vp_view *v);

/* Op table of one device. Shown rows and others add up to all rows of the device. */
typedef struct rep_rows {
    uint32_t *index; /* indices into r->ops, in the view's order */
    size_t shown, matching;
    int64_t all_self_ps; /* the denominator of self_share_of_ops */
    int64_t shown_self_ps;
    int64_t others_self_ps, others_total_ps, others_calls; /* of the rows not shown */
    size_t others;
    size_t hidden; /* of the others: those below 0.5 % of all_self_ps */
    int64_t hidden_self_ps;
    int64_t max_self_ps, max_total_ps, max_call_ps; /* over the shown rows, for units and bars */
} rep_rows;

/* Trailing rows below 0.5% are hidden if the rows before them have 95% of the self time, unless the
 * view requests all rows, filters them, or sorts by calls or max. A filter removes rows: shown and
 * others then cover only matching rows. */
int rep_rows_of(rep_rows *out, const vp_report *r, const vp_view *v, size_t device);
/* The same with at most this many rows, regardless of the view; 0: VP_TOP_MAX. */
int rep_rows_most(rep_rows *out, const vp_report *r, const vp_view *v, size_t device, size_t most);
void rep_rows_free(rep_rows *rows);

/* Rows of a view in its order over all its devices: *n indices into r->ops, freed by the caller
 * with vp_free. v->top applies per device, so that the rows of every device add up. VP_ENOTFOUND if
 * v->device or v->host matches none. */
int rep_select(uint32_t **rows, size_t *n, size_t *matching, const vp_report *r, const vp_view *v);

#endif

/* Which devices and rows a view shows. Nothing here owns memory except rep_rows. */
#ifndef VP_REPORT_SHOWN_ROWS_H
#define VP_REPORT_SHOWN_ROWS_H

#include "include/view_profile.h"

/* The view, or the default where it is NULL. */
vp_view rep_view(const vp_view *v);

bool rep_device_matches(const vp_report *r, const vp_view *v, size_t device);
/* The same; figures that are of no device show unless one was asked for. */
bool rep_shows_device(const vp_report *r, const vp_view *v, uint32_t device);
bool rep_shows_host(const vp_view *v, const char *host);
/* 0, or VP_ENOTFOUND naming what there is when a device or host was asked for and none matches. */
int rep_check_filters(const vp_report *r, const vp_view *v);
/* Marks in full[device_count] the devices that get an op table: those asked for; else up to two a
 * kind, of more only the busiest. *matching counts the devices that the filters let through. */
void rep_pick_devices(bool *full, size_t *matching, const vp_report *r, const vp_view *v);

/* The op table of one device. Shown + others = all rows of the device, exactly. */
typedef struct rep_rows {
    uint32_t *index; /* indices into r->ops, in the view's order */
    size_t shown, matching;
    int64_t all_self_ps; /* the denominator of self_share_of_ops */
    int64_t shown_self_ps;
    int64_t others_self_ps, others_total_ps, others_calls; /* of the rows not shown */
    size_t others;
    size_t hidden; /* of the others: those below 0.5 % of all_self_ps */
    int64_t hidden_self_ps;
    int64_t max_self_ps, max_total_ps, max_call_ps; /* over the shown rows: for units and bars */
} rep_rows;

/* Trailing rows below 0.5 % are not shown once the rows before them hold 95 % of the self time,
 * unless the view asks for all rows, filters them or sorts by calls or max. A filter drops rows
 * altogether: shown and others are then of those that match. */
int rep_rows_of(rep_rows *out, const vp_report *r, const vp_view *v, size_t device);
/* The same with at most so many rows, whatever the view asks for; 0: VP_TOP_MAX. */
int rep_rows_most(rep_rows *out, const vp_report *r, const vp_view *v, size_t device, size_t most);
void rep_rows_free(rep_rows *rows);

/* The rows a view shows, in its order over all its devices: indices into r->ops; *n of them;
 * vp_free. v->top counts per device, so that every device's share of the list closes.
 * VP_ENOTFOUND: v->device or v->host matches none. */
int rep_select(uint32_t **rows, size_t *n, size_t *matching, const vp_report *r, const vp_view *v);

#endif

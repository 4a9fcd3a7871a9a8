/* Collectives, transfers and the balance of devices on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/table/comm_tables.h"
#include "trace/report/labels/numbers.h"

#define COLLECTIVES_MAX 40u
#define TRANSFERS_MAX 60u

/* ---- Collectives ---- */

bool html_has_collectives(const page *p)
{
    tbl t;
    tbl_collectives(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_collectives(page *p)
{
    tbl t;
    tbl_collectives(&t, p->r, &p->v);
    t.most = COLLECTIVES_MAX;
    return html_table_section(p, "collectives", &t);
}

/* ---- Transfers ---- */

bool html_has_transfers(const page *p)
{
    tbl t;
    tbl_transfers(&t, p->r, &p->v);
    return tbl_any(&t);
}

int html_transfers(page *p)
{
    tbl t;
    tbl_transfers(&t, p->r, &p->v);
    t.most = TRANSFERS_MAX;
    return html_table_section(p, "transfers", &t);
}

/* ---- Balance ---- */

bool html_has_balance(const page *p)
{
    return p->r->balance.devices >= 2 && p->r->balance.mean_ps > 0;
}

static void device_fact(page *p, const char *name, uint32_t device, int64_t ps)
{
    const vp_report *r = p->r;
    if (device >= r->device_count)
        return;
    html_open_fact(p, name);
    html_text(p, r->devices[device].name);
    if (r->host_count > 1) {
        html_puts(p, " on ");
        html_text(p, r->devices[device].host);
    }
    if (ps >= 0) {
        html_puts(p, ", ");
        html_duration(p, ps, ps);
    }
    html_close_fact(p);
}

/* The device with the least wait at barriers is usually the one that the others wait for. */
static void barrier_facts(page *p)
{
    uint32_t most, least;
    if (!rep_barrier_waits(p->r, &most, &least))
        return;
    device_fact(p, "Longest barrier wait", most, p->r->devices[most].barrier_ps);
    device_fact(p, "Shortest barrier wait", least, p->r->devices[least].barrier_ps);
}

static void straggler_facts(page *p, const vp_balance *b)
{
    if (b->matched <= 0)
        return;
    html_count_fact(p, "Matched collective calls", b->matched);
    html_duration_fact(p, "Waits for the last device", b->wait_ps);
    device_fact(p, "Straggler device", b->straggler, VP_UNKNOWN);
    if (b->straggler < p->r->device_count && b->straggler_last >= 0) {
        html_open_fact(p, "Last in");
        vp_buf_printf(p->b, "%lld of %lld calls", (long long)b->straggler_last,
                      (long long)b->matched);
        html_close_fact(p);
    }
    if (b->straggler_host) {
        html_open_fact(p, "Straggler host");
        html_text(p, b->straggler_host);
        vp_buf_printf(p->b, ", %lld calls", (long long)b->straggler_host_last);
        html_close_fact(p);
    }
}

int html_balance(page *p)
{
    const vp_balance *b = &p->r->balance;
    html_section(p, "balance", "Device balance");
    html_puts(p, "<dl class=\"facts\">\n");
    html_open_fact(p, "Devices with the same modules");
    vp_buf_printf(p->b, "%zu", b->devices);
    html_close_fact(p);
    html_open_fact(p, "Busiest, above the mean");
    rep_put_percent(p->b, b->max_ps - b->mean_ps, b->mean_ps);
    html_close_fact(p);
    device_fact(p, "Busiest", b->busiest, b->max_ps);
    device_fact(p, "Least busy", b->idlest, b->min_ps);
    html_duration_fact(p, "Mean compute time", b->mean_ps);
    straggler_facts(p, b);
    barrier_facts(p);
    html_puts(p, "</dl>\n");
    if (p->r->host_count > 1)
        html_puts(p, b->aligned
                         ? "<p class=\"note\">Host clocks are aligned by the ends of matched "
                           "collectives.</p>\n"
                         : "<p class=\"note\">Host clocks could not be aligned, so the order "
                           "across hosts is unknown.</p>\n");
    html_section_end(p);
    return p->b->status;
}

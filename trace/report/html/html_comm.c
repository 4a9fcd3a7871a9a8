/* Collectives, transfers and the balance of devices on the page. */
#include "trace/report/html/html_parts.h"
#include "trace/report/html/html_sections.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/words.h"

#define COLLECTIVES_MAX 40u
#define TRANSFERS_MAX 60u

/* ---- Collectives ---- */

bool html_has_collectives(const page *p)
{
    for (size_t i = 0; i < p->r->collective_count; i++)
        if (html_shows(p, p->r->collectives[i].device))
            return true;
    return false;
}

static void collectives_head(page *p, const char *unit)
{
    html_table(p, "list", "Collectives");
    html_head(p, "op", "Collective", NULL, "Its name, and the scope that it stands in");
    html_head(p, "text", "Kind", NULL, NULL);
    if (p->r->device_count > 1)
        html_head(p, "text", "Device", NULL, NULL);
    html_head(p, "", "Among", NULL, "Participants of one call");
    html_head(p, "", "Calls", NULL, NULL);
    html_head(p, "", "Bytes", NULL, "Payload of one participant, over all calls");
    html_head(p, "", "Total", unit, "Sum of durations");
    html_head(p, "", "Exposed", unit, "Time that nothing else covers");
    html_head(p, "", "Hidden", unit, "Time that other work covers");
    html_head(p, "", "of window", NULL, "Exposed time as a share of the device’s window");
    html_head(p, "", "algbw", "GB/s", "Bytes over total time");
    html_head(p, "", "busbw", "GB/s", "algbw times the factor of the wires");
    html_head(p, "", "Factor", NULL,
              "2(n−1)/n for all-reduce, (n−1)/n for all-gather, reduce-scatter and all-to-all");
    html_head(p, "", "Waits", unit, "For the last participant, over matched calls");
    html_rows(p);
}

static void collective_row(page *p, const vp_collective *c, vp_unit unit)
{
    const vp_report *r = p->r;
    int64_t hidden = c->union_ps < c->exposed_ps ? VP_UNKNOWN : c->union_ps - c->exposed_ps;
    html_puts(p, "<tr>");
    html_name_cell(p, c->name, c->scope);
    html_text_cell(p, c->kind);
    if (r->device_count > 1)
        html_device_cell(p, c->device);
    html_count_cell(p, c->group_size);
    html_count_cell(p, c->count);
    html_bytes_cell(p, c->bytes);
    html_ps_cell(p, c->total_ps, unit);
    html_ps_cell(p, c->exposed_ps, unit);
    html_ps_cell(p, hidden, unit);
    html_percent_cell(p, c->exposed_ps,
                      c->device < r->device_count ? r->devices[c->device].breakdown.window_ps : 0);
    html_double_cell(p, rep_algorithm_gb_per_s(c), 2);
    html_double_cell(p, rep_bus_gb_per_s(c), 2);
    html_double_cell(p, rep_bus_factor(c), 3);
    html_ps_cell(p, c->wait_ps, unit);
    html_puts(p, "</tr>\n");
}

int html_collectives(page *p)
{
    const vp_report *r = p->r;
    size_t matching = 0;
    int64_t scale = 0;
    for (size_t i = 0; i < r->collective_count; i++)
        scale = r->collectives[i].total_ps > scale ? r->collectives[i].total_ps : scale;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_section(p, "collectives", "Collectives");
    collectives_head(p, rep_unit_sign(unit));
    for (size_t i = 0; i < r->collective_count; i++)
        if (html_shows(p, r->collectives[i].device) && matching++ < COLLECTIVES_MAX)
            collective_row(p, &r->collectives[i], unit);
    html_table_end(p, matching > COLLECTIVES_MAX ? matching - COLLECTIVES_MAX : 0);
    html_section_end(p);
    return p->b->status;
}

/* ---- Transfers ---- */

bool html_has_transfers(const page *p)
{
    for (size_t i = 0; i < p->r->transfer_count; i++)
        if (html_shows(p, p->r->transfers[i].device))
            return true;
    return false;
}

static void transfers_head(page *p, const char *unit)
{
    html_table(p, "list", "Transfers");
    html_head(p, "op", "Direction", NULL, NULL);
    html_head(p, "text", "Device", NULL, NULL);
    html_head(p, "", "Count", NULL, "An async start and its done are one");
    html_head(p, "", "Bytes", NULL, NULL);
    html_head(p, "", "In flight", unit, "Union of the transfers");
    html_head(p, "", "GB/s", NULL, "Bytes over the time in flight");
    html_head(p, "", "Op time", unit, "Sum of its ops’ durations");
    html_head(p, "", "Exposed", unit, "Time that no compute or communication covers");
    html_head(p, "", "of window", NULL, "Exposed time as a share of the device’s window");
    html_head(p, "", "Exposed", "count", NULL);
    html_head(p, "", "Pageable", NULL, "Copies from or to pageable memory");
    html_head(p, "", "Longest", unit, NULL);
    html_head(p, "", "its bytes", NULL, NULL);
    html_head(p, "", "its start", NULL, NULL);
    html_rows(p);
}

static void transfer_row(page *p, const vp_transfer *t, vp_unit unit)
{
    const vp_report *r = p->r;
    html_puts(p, "<tr>");
    html_name_cell(p, rep_direction_text(t->direction),
                   t->host_only ? "measured on the host" : NULL);
    html_device_cell(p, t->device);
    html_count_cell(p, t->count);
    html_bytes_cell(p, t->bytes);
    html_ps_cell(p, t->busy_ps, unit);
    html_double_cell(p, rep_transfer_gb_per_s(t), 2);
    html_ps_cell(p, t->total_ps, unit);
    html_ps_cell(p, t->exposed_ps, unit);
    html_percent_cell(p, t->exposed_ps,
                      t->device < r->device_count ? r->devices[t->device].breakdown.window_ps : 0);
    html_count_cell(p, t->exposed_count);
    html_count_cell(p, t->pageable_count);
    html_ps_cell(p, t->largest_dur_ps, unit);
    html_bytes_cell(p, t->largest_bytes);
    html_place_cell(p, t->device, NULL, t->largest_start_ps, t->largest_dur_ps);
    html_puts(p, "</tr>\n");
}

int html_transfers(page *p)
{
    const vp_report *r = p->r;
    size_t matching = 0;
    int64_t scale = 0;
    for (size_t i = 0; i < r->transfer_count; i++)
        scale = r->transfers[i].total_ps > scale ? r->transfers[i].total_ps : scale;
    vp_unit unit = rep_unit_for(p->v.unit, scale);
    html_section(p, "transfers", "Transfers");
    transfers_head(p, rep_unit_sign(unit));
    for (size_t i = 0; i < r->transfer_count; i++)
        if (html_shows(p, r->transfers[i].device) && matching++ < TRANSFERS_MAX)
            transfer_row(p, &r->transfers[i], unit);
    html_table_end(p, matching > TRANSFERS_MAX ? matching - TRANSFERS_MAX : 0);
    html_section_end(p);
    return p->b->status;
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

/* Who waits least at barriers tends to be the one that the others wait for. */
static void barrier_facts(page *p)
{
    uint32_t most, least;
    if (!rep_barrier_waits(p->r, &most, &least))
        return;
    device_fact(p, "Waits longest at barriers", most, p->r->devices[most].barrier_ps);
    device_fact(p, "Waits least at barriers", least, p->r->devices[least].barrier_ps);
}

static void straggler_facts(page *p, const vp_balance *b)
{
    if (b->matched <= 0)
        return;
    html_count_fact(p, "Matched collective calls", b->matched);
    html_duration_fact(p, "Waits for the last one", b->wait_ps);
    device_fact(p, "Last most often", b->straggler, VP_UNKNOWN);
    if (b->straggler < p->r->device_count && b->straggler_last >= 0) {
        html_open_fact(p, "How often");
        vp_buf_printf(p->b, "%lld of %lld calls", (long long)b->straggler_last,
                      (long long)b->matched);
        html_close_fact(p);
    }
    if (b->straggler_host) {
        html_open_fact(p, "Host last most often");
        html_text(p, b->straggler_host);
        vp_buf_printf(p->b, ", %lld calls", (long long)b->straggler_host_last);
        html_close_fact(p);
    }
}

int html_balance(page *p)
{
    const vp_balance *b = &p->r->balance;
    html_section(p, "balance", "Balance of the devices");
    html_puts(p, "<dl class=\"facts\">\n");
    html_open_fact(p, "Devices with the same work");
    vp_buf_printf(p->b, "%zu", b->devices);
    html_close_fact(p);
    html_open_fact(p, "Busiest above the mean");
    rep_put_percent(p->b, b->max_ps - b->mean_ps, b->mean_ps);
    html_close_fact(p);
    device_fact(p, "Busiest", b->busiest, b->max_ps);
    device_fact(p, "Least busy", b->idlest, b->min_ps);
    html_duration_fact(p, "Mean compute", b->mean_ps);
    straggler_facts(p, b);
    barrier_facts(p);
    html_puts(p, "</dl>\n");
    if (p->r->host_count > 1)
        html_puts(p, b->aligned
                         ? "<p class=\"note\">Clocks of the hosts are aligned by the ends of "
                           "matched collectives.</p>\n"
                         : "<p class=\"note\">Clocks of the hosts could not be compared: "
                           "order across hosts is unknown.</p>\n");
    html_section_end(p);
    return p->b->status;
}

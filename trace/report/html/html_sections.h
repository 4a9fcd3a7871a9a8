/* Sections of a report page. Each has a function that tells whether it has content, and one that
 * writes it. */
#ifndef VP_REPORT_HTML_SECTIONS_H
#define VP_REPORT_HTML_SECTIONS_H

#include "trace/report/html/html_parts.h"

typedef struct html_part {
    const char *id, *title; /* anchor, entry of the table of contents */
    bool (*has)(const page *p);
    int (*put)(page *p);
    unsigned tabs; /* that show it */
} html_part;

bool html_has_findings(const page *p);
int html_findings(page *p);
/* Findings with a potential saving of bytes, for pages that show only memory. */
bool html_has_spared(const page *p);
int html_spared(page *p);
bool html_has_devices(const page *p);
int html_devices(page *p);
bool html_has_mfu(const page *p);
int html_mfu(page *p);
bool html_has_steps(const page *p);
int html_steps(page *p);
void html_controls(page *p);
int html_ops(page *p, size_t device);
/* The flame graph within the section of the scopes; all_ps is the sum of the roots. */
int html_flame(page *p, int64_t all_ps, vp_unit unit);
bool html_has_scopes(const page *p);
bool html_has_paths(const page *p); /* for host zones, whose page has only one part */
int html_scopes(page *p);
bool html_has_folded(const page *p);
int html_folded(page *p);
bool html_has_modules(const page *p);
int html_modules(page *p);
bool html_has_idle(const page *p);
int html_idle(page *p);
bool html_has_launch(const page *p);
int html_launch(page *p);
bool html_has_collectives(const page *p);
int html_collectives(page *p);
bool html_has_transfers(const page *p);
int html_transfers(page *p);
bool html_has_balance(const page *p);
int html_balance(page *p);
bool html_has_compile(const page *p);
int html_compile(page *p);
bool html_has_hygiene(const page *p);
int html_hygiene(page *p);
bool html_has_host_ops(const page *p);
int html_host_ops(page *p);
bool html_has_threads(const page *p);
int html_threads(page *p);
bool html_has_args(const page *p);
int html_args(page *p);
bool html_has_counters(const page *p);
int html_counters(page *p);
bool html_has_meta(const page *p);
int html_meta(page *p);
bool html_has_plans(const page *p);
int html_plans(page *p);
bool html_has_memory(const page *p);
int html_memory(page *p);
int html_quality(page *p);
bool html_has_files(const page *p);
int html_files(page *p);

#endif

/* Any bytes as a report: what is accepted writes itself, is read back as the same, and merges and
 * compares with itself without complaint but that it is the same twice. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/analyze.h"
#include "trace/analyze/compare/compare.h"
#include "trace/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static void write_all(vp_buf *json, const vp_report *r)
{
    vp_buf other;
    vp_buf_init(json, 64u << 20);
    need(rep_json(json, r, NULL) == 0);
    vp_buf_init(&other, 64u << 20);
    need(rep_text_full(&other, r, NULL) == 0);
    need(rep_csv(&other, r, NULL) == 0);
    need(rep_html(&other, r, NULL, NULL) == 0);
    vp_buf_free(&other);
}

static void compare(const vp_report *r)
{
    vp_comparison *c = NULL;
    vp_buf b;
    if (compare_make(&c, r, r) < 0)
        return;
    vp_buf_init(&b, 64u << 20);
    need(rep_compare_json(&b, c) == 0);
    need(rep_compare_text(&b, c, NULL) == 0);
    vp_buf_free(&b);
    compare_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vp_report *r = NULL, *again = NULL, *one = NULL;
    vp_buf first, second;
    if (rep_read(&r, (vp_str){(const char *)data, n}) < 0)
        return 0;
    write_all(&first, r);
    if (rep_read(&again, vp_buf_view(&first)) == 0) { /* of a report of op tables alone: no */
        write_all(&second, again);
        need(vp_str_eq(vp_buf_view(&first), vp_buf_view(&second)));
        vp_buf_free(&second);
    }
    need(report_merge(&one, (const vp_report *const[]){r}, 1) == 0);
    compare(r);
    vp_buf_free(&first);
    analyze_free(r);
    analyze_free(again);
    analyze_free(one);
    return 0;
}

#include "trace/report/data/csv_cells.h"

#include <math.h>

#include "trace/base/limits.h"
#include "trace/base/log.h"

void rep_csv_text(vp_buf *b, const char *z)
{
    vp_buf safe;
    if (!z)
        return;
    vp_buf_init(&safe, VP_REPORT_BYTES_MAX);
    vp_put_escaped(&safe, vp_str_of(z));
    vp_buf_putc(b, '"');
    if (*z && strchr("=+-@", *z))
        vp_buf_putc(b, '\'');
    for (size_t i = 0; i < safe.n; i++) {
        if (safe.p[i] == '"')
            vp_buf_putc(b, '"');
        vp_buf_putc(b, safe.p[i]);
    }
    vp_buf_putc(b, '"');
    vp_buf_free_piece(b, &safe);
}

void rep_csv_next_text(vp_buf *b, const char *z)
{
    vp_buf_putc(b, ',');
    rep_csv_text(b, z);
}

void rep_csv_next_i64(vp_buf *b, int64_t v, int64_t unknown)
{
    vp_buf_putc(b, ',');
    if (v != unknown)
        vp_buf_i64(b, v);
}

void rep_csv_next_double(vp_buf *b, double v)
{
    vp_buf_putc(b, ',');
    if (isfinite(v))
        vp_buf_printf(b, "%.9g", v);
}

/* What a device's ops could be rid of, as columns that text and page share. Ops that share the code
 * of an equal one (duplicate_ps) are not among them: equal layers are not needless work. Only
 * trace/report/ includes this. */
#ifndef VP_REPORT_WASTES_H
#define VP_REPORT_WASTES_H

#include <stdbool.h>
#include <stdint.h>

#include "include/view_profile.h"
#include "trace/base/buf.h"

enum { REP_WASTES = 7 };

typedef struct rep_waste {
    const char *name, *what;
    int64_t ps;
} rep_waste;

void rep_wastes(rep_waste out[REP_WASTES], const vp_hygiene *h);
/* Which of them some device that the view shows has; whether any. */
bool rep_used_wastes(bool used[REP_WASTES], const vp_report *r, const vp_view *v);
/* "63.604 ms, 96.78%, …" on the ops of shown devices that share code; nothing where none does. */
void rep_put_shared_code(vp_buf *b, const vp_report *r, const vp_view *v);

#endif

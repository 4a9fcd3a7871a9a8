/* The Perfetto UIs that a hand-off page can open: a web UI, a local UI, both or none. */
#ifndef VP_ROUTES_HANDOFF_UI_H
#define VP_ROUTES_HANDOFF_UI_H

#include "server/routes/site/site.h"
#include "trace/export/link.h"

typedef struct handoff_ui {
    const char *web; /* "https://ui.perfetto.dev"; NULL: not used */
    char local[40];  /* "http://127.0.0.1:9002/ui"; "": none, or not reachable for this client */
    uint16_t port;   /* port of the local UI; 0: none is served */
    const char *version; /* version of the local UI */
} handoff_ui;

void handoff_ui_of(handoff_ui *u, const http_req *rq);
/* The UI that is tried first. */
const char *handoff_ui_first(const handoff_ui *u);
/* Writes attributes for handoff.js: the link of the first UI, and of the second if there are two.
 */
void handoff_ui_put_data(vp_buf *b, const handoff_ui *u, const ex_view *v);
/* Writes the value of "To". */
void handoff_ui_put_name(vp_buf *b, const handoff_ui *u);
/* Writes why there is no button. */
void handoff_ui_put_none(vp_buf *b, const handoff_ui *u);

#endif

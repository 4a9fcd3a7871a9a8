/* Which Perfetto UIs a hand-off page may open: one of the web, one of this machine, either or
 * none. */
#ifndef VP_ROUTES_HANDOFF_UI_H
#define VP_ROUTES_HANDOFF_UI_H

#include "server/routes/site/site.h"
#include "trace/export/link.h"

typedef struct handoff_ui {
    const char *web;     /* "https://ui.perfetto.dev"; NULL: none is to be used */
    char local[40];      /* "http://127.0.0.1:9002/ui"; "": none, or this client cannot reach it */
    uint16_t port;       /* of `local`; 0: none is served, whoever asks */
    const char *version; /* of what is served there */
} handoff_ui;

void handoff_ui_of(handoff_ui *u, const http_req *rq);
/* The first that is tried. */
const char *handoff_ui_first(const handoff_ui *u);
/* Attributes for handoff.js: the link of that one, and where there are two, that of the other. */
void handoff_ui_put_data(vp_buf *b, const handoff_ui *u, const ex_view *v);
/* What stands behind "To". */
void handoff_ui_put_name(vp_buf *b, const handoff_ui *u);
/* Why there is no button. */
void handoff_ui_put_none(vp_buf *b, const handoff_ui *u);

#endif

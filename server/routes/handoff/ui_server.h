/* Serves a local Perfetto UI on its own loopback port. Its code is third-party and must not access
 * our API: another port is another origin, which the guard of the site rejects. A trace reaches it
 * only through the window that the hand-off page opened. It is served below /ui/ and registers no
 * service worker there. */
#ifndef VP_ROUTES_UI_SERVER_H
#define VP_ROUTES_UI_SERVER_H

#include <stdint.h>

typedef struct ui_server ui_server;

/* Serves the build in `dir` on the port after that of the site, or on any free port. Fails like
 * ui_build_open and http_start. */
int ui_server_start(ui_server **out, const char *dir, int site_port);
void ui_server_stop(ui_server *u);
uint16_t ui_server_port(const ui_server *u);
const char *ui_server_version(const ui_server *u);

#endif

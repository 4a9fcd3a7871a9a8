/* A Perfetto UI of this machine, served on a loopback port of its own. Its code is not ours, so it
 * must not be able to ask our API: another port is another origin, which the guard of the site's
 * server knows as foreign. A trace reaches it through the window that the hand-off page opened, and
 * in no other way. It is served below /ui/, where it registers no service worker. */
#ifndef VP_ROUTES_UI_SERVER_H
#define VP_ROUTES_UI_SERVER_H

#include <stdint.h>

typedef struct ui_server ui_server;

/* Serves the build in `dir` on the port behind that which http_options asks for the site, or on any
 * where that is taken. Fails as ui_build_open and http_start. */
int ui_server_start(ui_server **out, const char *dir, int site_port);
void ui_server_stop(ui_server *u);
uint16_t ui_server_port(const ui_server *u);
const char *ui_server_version(const ui_server *u);

#endif

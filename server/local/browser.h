/* Opens the user's browser, by argv and never through a shell. In an SSH session there is no local
 * browser; browser_ssh_line returns the command that makes a tunnel instead. */
#ifndef VP_LOCAL_BROWSER_H
#define VP_LOCAL_BROWSER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

/* True in an SSH session (SSH_CONNECTION is set), unless $BROWSER is set, as remote editors do to
 * forward URLs. */
bool browser_is_remote(void);
/* Appends "ssh -N -L PORT:localhost:PORT USER@HOST", to be run on the user's machine; second:
 * another port to forward, 0 for none. */
int browser_ssh_line(vp_buf *b, uint16_t port, uint16_t second);
/* A page of a viewer on loopback, as the parts of its URL. */
typedef enum browser_view {
    BROWSER_LIST,
    BROWSER_SESSION,
    BROWSER_PERFETTO,
    BROWSER_TENSORBOARD
} browser_view;
typedef struct browser_page {
    char host[46]; /* an address literal of loopback */
    uint16_t port;
    char prefix[128]; /* "" or "/name": see http.h */
    browser_view view;
    char id[160]; /* of a run; "" for the list */
} browser_page;
/* Appends the path of a run's page below the root of the site: "perfetto/ID". */
int browser_path(vp_buf *b, browser_view view, const char *id);
/* Appends the URL of the page. The parts are untrusted; VP_EREFUSED if they do not form a page of a
 * viewer. */
int browser_url(vp_buf *b, const browser_page *page);
/* Starts $BROWSER (a ':'-separated list of commands, "%s" is replaced by the URL) or xdg-open,
 * detached from the terminal, without waiting for it. VP_ENOTFOUND: none can be started. */
int browser_open(const char *url);

#endif

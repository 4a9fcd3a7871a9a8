/* The user's browser: opened by argv, never through a shell; over ssh there is none here, so the
 * line that makes a tunnel is what helps. */
#ifndef VP_LOCAL_BROWSER_H
#define VP_LOCAL_BROWSER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"

/* True when whoever started us sits at another machine (SSH_CONNECTION is set), unless $BROWSER
 * names a way to that machine's browser, as remote editors do. */
bool browser_is_remote(void);
/* Appends "ssh -N -L PORT:localhost:PORT USER@HOST", to be run on the user's machine; with a second
 * port, unless that is 0. */
int browser_ssh_line(vp_buf *b, uint16_t port, uint16_t second);
/* A page of a viewer that serves on loopback, by what it consists of. */
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
    char id[160]; /* of a session; "" for the list */
} browser_page;
/* Where the page of a session stands below the root of the site: "perfetto/ID". */
int browser_path(vp_buf *b, browser_view view, const char *id);
/* Appends its address. Every byte of the page may be hostile; VP_EREFUSED: no page of a viewer has
 * such parts. */
int browser_url(vp_buf *b, const browser_page *page);
/* Starts $BROWSER (a ':'-separated list of commands, "%s" stands for the URL) or xdg-open, detached
 * from our terminal. VP_ENOTFOUND: none can be started. Does not wait. */
int browser_open(const char *url);

#endif

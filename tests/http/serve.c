/* The server for tests/http: a site from plain arguments, without the command line's defaults.
 *
 *   serve DIR [port N] [host ADDR] [token T] [allow-host H]… [allow-origin O]… [unguarded 1]
 *             [perfetto DIR] [offline 1] [capture PROGRAM]
 *
 * Prints its URL, serves until standard input ends, and says how many descriptors are open then
 * ("fds N") before it stops. The line "fds" on standard input asks for the same, the line "routes"
 * for the table of routes: "METHODS FLAGS PATTERN" each, and an empty line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/local/outside_capture.h"
#include "server/routes/routes.h"
#include "server/routes/site_start.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"

#define MANY 8

static int open_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void print_routes(void)
{
    for (const http_route *r = site_routes(); r->pattern; r++)
        printf("%u %u %s\n", r->methods, r->flags, r->pattern);
    printf("\n");
}

typedef struct words {
    const char *list[MANY + 1];
    size_t n;
} words;

static void add(words *w, const char *word)
{
    if (w->n < MANY)
        w->list[w->n++] = word;
}

/* What is said of the site itself; false for the rest. */
static bool take_plain(site_options *o, const char *name, const char *value)
{
    if (!strcmp(name, "port"))
        o->http.port = (int)strtol(value, NULL, 10);
    else if (!strcmp(name, "host"))
        o->http.host = value;
    else if (!strcmp(name, "token"))
        o->http.token = value;
    else if (!strcmp(name, "perfetto"))
        o->perfetto_dir = value;
    else if (!strcmp(name, "offline"))
        o->perfetto_ui = NULL;
    else if (!strcmp(name, "unguarded"))
        o->tensorboard_unguarded = true;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    words hosts = {.n = 0}, origins = {.n = 0};
    site_options o = SITE_OPTIONS_INIT;
    char line[64];
    static char place[VP_PATH_MAX];
    const char *program = NULL;
    site *s;
    if (argc < 2)
        return 2;
    o.profile_dir = argv[1];
    o.http.port = 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "capture"))
            program = argv[i + 1];
        else if (!take_plain(&o, argv[i], argv[i + 1]))
            add(!strcmp(argv[i], "allow-host") ? &hosts : &origins, argv[i + 1]);
    }
    o.http.allow_hosts = hosts.list;
    o.http.allow_origins = origins.list;
    if (program && !(o.no_captures = outside_capture_place(place, argv[1])) &&
        outside_capture_start(place, program) == 0)
        o.captures = place;
    http_more_descriptors();
    if (site_start(&s, &o) < 0) {
        fprintf(stderr, "%s\n", vp_error_last()->message);
        return 5;
    }
    store_wait(s->store, -1); /* so that what a test asks for is listed */
    printf("%s\n", http_server_url(s->http));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "routes\n"))
            print_routes();
        else
            printf("fds %d\n", open_descriptors());
        fflush(stdout);
    }
    site_stop(s);
    outside_capture_end();
    printf("stopped\n");
    return 0;
}

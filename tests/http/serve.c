/* The server for tests/http: a site from plain arguments, without the command line's defaults.
 *
 *   serve DIR [port N] [host ADDR] [token T] [allow-host H]… [allow-origin O]… [unguarded 1]
 *
 * Prints its URL, serves until standard input ends, and says how many descriptors are open then
 * ("fds N") before it stops. The line "fds" on standard input asks for the same, the line "routes"
 * for the table of routes: "METHODS FLAGS PATTERN" each, and an empty line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/routes/routes.h"
#include "server/routes/site.h"
#include "trace/base/err.h"

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

int main(int argc, char **argv)
{
    const char *hosts[MANY + 1] = {NULL}, *origins[MANY + 1] = {NULL};
    size_t host_count = 0, origin_count = 0;
    site_options o = SITE_OPTIONS_INIT;
    char line[64];
    site *s;
    if (argc < 2)
        return 2;
    o.profile_dir = argv[1];
    o.http.port = 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "port"))
            o.http.port = (int)strtol(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "host"))
            o.http.host = argv[i + 1];
        else if (!strcmp(argv[i], "token"))
            o.http.token = argv[i + 1];
        else if (!strcmp(argv[i], "unguarded"))
            o.tensorboard_unguarded = true;
        else if (!strcmp(argv[i], "allow-host") && host_count < MANY)
            hosts[host_count++] = argv[i + 1];
        else if (!strcmp(argv[i], "allow-origin") && origin_count < MANY)
            origins[origin_count++] = argv[i + 1];
    }
    o.http.allow_hosts = hosts;
    o.http.allow_origins = origins;
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
    printf("stopped\n");
    return 0;
}

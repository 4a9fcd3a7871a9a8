/* Serves the newest profile of a directory and opens it in the browser, until Ctrl-C:
 *
 *     cc open_latest.c $(pkg-config --cflags --libs view_profile) -o open_latest
 *     ./open_latest ~/logs
 *
 * The default directory is $VIEW_PROFILE_DIR, then $XAX_PROFILE_DIR. */
#include <stdio.h>
#include <view_profile.h>

int main(int argc, char **argv)
{
    int rc = open_latest_profile(argc > 1 ? argv[1] : NULL);
    if (rc < 0) {
        const vp_error *e = vp_error_last();
        fprintf(stderr, "open_latest: %s%s%s\n", e->path, *e->path ? ": " : "", e->message);
        return 1;
    }
    return 0;
}

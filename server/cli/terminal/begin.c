#include "server/cli/terminal/begin.h"

#include <jansson.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>

#include "trace/base/mem.h"

void cli_begin(void)
{
    /* libarchive converts member names by the locale, and must not depend on the user's. */
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    /* `view_profile … | head` ends quietly, even where the parent ignores SIGPIPE. */
    (void)signal(SIGPIPE, SIG_DFL);
    /* Blocks from this size on (128 KiB) are mapped, and go back to the system when they are freed.
     * glibc raises the threshold with every large block that is freed, unless it is set: then
     * columns and buffers go back at once (62 → 49 MiB for a report of 10^6 events). */
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
    /* At most two arenas: else each thread that ever worked leaves one behind, a quarter of a MB.
     */
    (void)mallopt(M_ARENA_MAX, 2);
    /* Memory of JSON that is read counts against the limit like our own. Only a program may replace
     * jansson's functions. */
    json_set_alloc_funcs(vp_malloc, vp_free);
}

/* view_profile: finds the command, runs it, ends with its exit code. */
#include <jansson.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>

#include "server/cli/help/help.h"
#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* Runs the command whose bit it is. */
static int run(const cli_options *o)
{
#define RUN(name, run) [CLI_##name##_AT] = cli_run_##run,
    static int (*const runs[CLI_COMMAND_COUNT])(const cli_options *) = {CLI_COMMANDS(RUN)};
    return runs[__builtin_ctz(o->command->bit)](o);
}

/* A profile that is read must not be replaced by what is made of it. */
static int check_output(const cli_options *o)
{
    for (size_t i = 0; o->out && i < o->operand_count; i++)
        if (cli_same_file(o->out, o->operands[i])) {
            vp_log(VP_LOG_ERROR, "-o %.300s: that is what is read; name another file", o->out);
            return CLI_USAGE;
        }
    return CLI_OK;
}

static int print_version(void)
{
    vp_buf b;
    cli_stdout(&b);
    vp_buf_printf(&b, "view_profile %s\n", VP_VERSION);
    return cli_finish(&b);
}

int main(int argc, char **argv)
{
    cli_options o;
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
    int rc = cli_parse(&o, argc, argv);
    if (rc)
        return rc;
    vp_log_set_level(o.quiet ? VP_LOG_ERROR : o.verbose ? VP_LOG_DEBUG : VP_LOG_INFO);
    if (o.help)
        return cli_print_help(o.named ? o.command : NULL);
    if (o.version)
        return print_version();
    if (o.print_findings || o.print_man || o.print_completion)
        return cli_run_docs(&o);
    rc = check_output(&o);
    return rc ? rc : run(&o);
}

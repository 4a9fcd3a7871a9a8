/* view_profile: finds the command, runs it, ends with its exit code. */
#include <stdio.h>

#include "server/cli/export/original_flags.h"
#include "server/cli/help/help.h"
#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/begin.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/base/log.h"
#include "trace/base/limits.h"

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

static int serve_nothing(const cli_options *o)
{
    char dir[VP_PATH_MAX];
    return cli_original_flags(o, dir);
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
    cli_begin();
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
    if (o.command->bit == CLI_SERVE && cli_serves_nothing(&o))
        return serve_nothing(&o);
    rc = check_output(&o);
    return rc ? rc : run(&o);
}

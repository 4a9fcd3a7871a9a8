/* main(): parses the command line, runs the command and returns its exit code. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/export/original_flags.h"
#include "server/cli/help/help.h"
#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/terminal/begin.h"
#include "server/cli/terminal/standard_out.h"
#include "server/watch/watch_deliver.h"
#include "trace/base/log.h"
#include "trace/base/limits.h"

static int run_command(const cli_options *o)
{
#define RUN(name, run) [CLI_##name##_AT] = cli_run_##run,
    static int (*const runs[CLI_COMMAND_COUNT])(const cli_options *) = {CLI_COMMANDS(RUN)};
    return runs[__builtin_ctz(o->command->bit)](o);
}

/* Rejects -o FILE if FILE is one of the inputs. */
static int check_output(const cli_options *o)
{
    for (size_t i = 0; o->out && i < o->operand_count; i++)
        if (cli_same_file(o->out, o->operands[i])) {
            vp_log(VP_LOG_ERROR, "-o %.300s: this is the input; choose another file", o->out);
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
    char self[VP_PATH_MAX], dir[VP_PATH_MAX];
    cli_begin();
    if (argc == 3 && !strcmp(argv[1], WATCH_DELIVER))
        return watch_deliver(argv[2]) < 0 ? CLI_UNREADABLE : CLI_OK;
    int rc = cli_parse(&o, argc, argv);
    if (rc)
        return rc;
    vp_log_set_level(o.quiet ? VP_LOG_ERROR : o.verbose ? VP_LOG_DEBUG : VP_LOG_INFO);
    if (o.help)
        return cli_print_help(o.named ? o.command : NULL);
    if (o.version)
        return print_version();
    if (o.print_findings || o.print_reference || o.print_schema || o.print_man ||
        o.print_completion)
        return cli_run_docs(&o);
    if (o.command->bit == CLI_SERVE && cli_serves_nothing(&o))
        return cli_original_flags(&o, dir);
    rc = check_output(&o);
    if (rc)
        return rc;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    o.program = self; /* for commands that start view_profile again as a child process */
    return run_command(&o);
}

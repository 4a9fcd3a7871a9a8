#include "server/cli/help/help.h"

#include <stdio.h>
#include <string.h>

#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/language/table.h"
#include "server/cli/terminal/standard_out.h"
#include "server/cli/terminal/wrap.h"
#include "trace/base/log.h"

#define HELP_WIDTH 80
#define COLUMN 25 /* column of the explanations */

/* A term and its explanation, on one line if the term fits its column. */
static void put_help_entry(vp_buf *b, vp_str term, const char *text)
{
    vp_buf wrapped;
    vp_buf_init(&wrapped, 16384);
    cli_wrap(&wrapped, vp_str_of(text), COLUMN, HELP_WIDTH);
    vp_str rest = vp_buf_view(&wrapped);
    vp_buf_str(b, term);
    if (term.n + 2 <= COLUMN) {
        vp_buf_pad(b, ' ', COLUMN - term.n);
        rest = vp_str_skip(rest, COLUMN);
    } else {
        vp_buf_putc(b, '\n');
    }
    vp_buf_str(b, rest);
    vp_buf_free(&wrapped);
}

/* " -o, --output FILE" with its explanation and choices. */
static void option_entry(vp_buf *b, const cli_option *row)
{
    vp_buf term, text;
    size_t words = row->type == CLI_WORD ? cli_word_count(row->value) : 0;
    vp_buf_init(&term, 256);
    vp_buf_init(&text, 1024);
    if (row->letter)
        vp_buf_printf(&term, "  -%c, --%s", row->letter, row->name);
    else
        vp_buf_printf(&term, "      --%s", row->name);
    if (row->value)
        vp_buf_printf(&term, " %s", words ? "WORD" : row->value);
    vp_buf_puts(&text, row->help);
    for (size_t i = 0; i < words; i++) {
        vp_buf_puts(&text, i == 0 ? ": " : i + 1 == words ? " or " : ", ");
        vp_buf_str(&text, cli_word(row->value, i));
    }
    if (row->initial)
        vp_buf_printf(&text, " (default %s)", row->initial);
    put_help_entry(b, vp_buf_view(&term), vp_buf_cstr(&text));
    vp_buf_free(&term);
    vp_buf_free(&text);
}

static void put_help_options(vp_buf *b, const char *title, unsigned bit, bool common)
{
    bool any = false;
    for (const cli_option *row = cli_option_table; row->name; row++) {
        bool is_common = (row->commands & CLI_READERS) == CLI_READERS;
        if (!row->help || !(row->commands & bit) || is_common != common)
            continue;
        if (!any)
            vp_buf_printf(b, "\n%s:\n", title);
        any = true;
        option_entry(b, row);
    }
}

static void put_help_examples(vp_buf *b, const char *lines)
{
    vp_str in = vp_str_of(lines), line, command;
    vp_buf_puts(b, "\nExamples:\n");
    while (in.n) {
        (void)vp_take_until(&in, '\n', in.n, &line);
        (void)vp_take_until(&line, '\t', line.n, &command);
        vp_buf_printf(b, "  %.*s\n      %.*s\n", VP_STR_ARG(command), VP_STR_ARG(line));
    }
}

static void command_help(vp_buf *b, const cli_command *c)
{
    vp_buf_printf(b, "Usage: view_profile %s [OPTIONS] %s\n\n", c->name, c->operands);
    cli_wrap(b, vp_str_of(c->description), 0, HELP_WIDTH);
    put_help_options(b, "Options", c->bit, false);
    put_help_options(b, "Common options", c->bit, true);
    put_help_examples(b, c->examples);
}

static const char *const first_commands[] = {
    "view_profile ~/logs\tserve a log directory and open the browser",
    "view_profile top ~/logs\tthe slowest ops of the latest run",
    "view_profile findings ~/logs\twhy it is slow and what to change",
    NULL,
};

static void overall_help(vp_buf *b)
{
    vp_buf_puts(b, "Usage: view_profile [COMMAND] [OPTIONS] [PATH] [RUN]\n\n");
    cli_wrap(b, vp_str_of(cli_about), 0, HELP_WIDTH);
    vp_buf_puts(b, "\nCommands:\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        char term[40];
        int n = snprintf(term, sizeof term, "  %s", c->name);
        put_help_entry(b, (vp_str){term, (size_t)n}, c->summary);
    }
    vp_buf_puts(b, "\nExamples:\n");
    for (const char *const *line = first_commands; *line; line++) {
        vp_str text = vp_str_of(*line), command;
        (void)vp_take_until(&text, '\t', text.n, &command);
        vp_buf_printf(b, "  %-29.*s %.*s\n", VP_STR_ARG(command), VP_STR_ARG(text));
    }
    put_help_options(b, "Common options", CLI_SERVE, true);
    vp_buf_puts(b, "\nExit codes:\n");
    for (const char *const *e = cli_exit_codes; *e; e++) {
        const char *code = *e;
        vp_buf_printf(b, "  %c  %s\n", *code, code + 2);
    }
    vp_buf_puts(b, "\nFor the options and examples of a command, see view_profile help COMMAND;\n"
                   "for those without a command, view_profile help serve.\n");
}

int cli_print_help(const cli_command *c)
{
    vp_buf b;
    cli_stdout(&b);
    if (c)
        command_help(&b, c);
    else
        overall_help(&b);
    return cli_finish(&b);
}

static const char *help_command_at(void *ctx, size_t i)
{
    (void)ctx;
    return cli_commands[i].name;
}

int cli_run_help(const cli_options *o)
{
    const cli_command *c;
    const char *near;
    if (!o->operand_count)
        return cli_print_help(NULL);
    c = cli_command_named(o->operands[0]);
    if (c)
        return cli_print_help(c);
    near = cli_nearest(vp_str_of(o->operands[0]), help_command_at, NULL);
    if (near)
        vp_log(VP_LOG_ERROR, "unknown command %.200s; did you mean %s? See view_profile --help",
               o->operands[0], near);
    else
        vp_log(VP_LOG_ERROR, "unknown command %.200s; see view_profile --help", o->operands[0]);
    return CLI_USAGE;
}

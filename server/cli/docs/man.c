#include "server/cli/docs/man.h"

#include <stdio.h>
#include <string.h>

#include "server/cli/language/arguments.h"
#include "server/cli/language/cli_options.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/language/table.h"
#include "server/cli/terminal/standard_out.h"
#include "server/cli/terminal/wrap.h"
#include "trace/base/log.h"

#define MARKDOWN_WIDTH 100

/* Escapes Markdown characters in plain text. */
static void put_escaped_markdown(vp_buf *b, const char *text)
{
    for (; *text; text++) {
        if (strchr("*<>[]\\`|", *text))
            vp_buf_putc(b, '\\');
        vp_buf_putc(b, *text);
    }
}

static void put_paragraphs(vp_buf *b, const char *text)
{
    vp_buf plain;
    vp_buf_init(&plain, 65536);
    put_escaped_markdown(&plain, text);
    cli_wrap(b, vp_buf_view(&plain), 0, MARKDOWN_WIDTH);
    vp_buf_free(&plain);
}

/* A term of a definition list and its definition, capitalized and with a full stop. */
static void put_man_definition(vp_buf *b, const char *term, const char *text)
{
    vp_buf_printf(b, "\n%s\n:   ", term);
    vp_buf_putc(b, *text >= 'a' && *text <= 'z' ? (char)(*text - 32) : *text);
    put_escaped_markdown(b, text + 1);
}

static void man_option(vp_buf *b, const cli_option *row)
{
    char term[160];
    int n = 0;
    if (row->letter)
        n = snprintf(term, sizeof term, "**-%c**, ", row->letter);
    n += snprintf(term + n, sizeof term - (size_t)n, "**\\--%s**", row->name);
    if (row->type == CLI_WORD)
        n += snprintf(term + n, sizeof term - (size_t)n, " WORD");
    else if (row->value)
        n += snprintf(term + n, sizeof term - (size_t)n, " *%s*", row->value);
    put_man_definition(b, term, row->help);
    if (row->type == CLI_WORD) {
        vp_buf_puts(b, ": ");
        for (size_t i = 0; i < cli_word_count(row->value); i++) {
            vp_str w = cli_word(row->value, i);
            vp_buf_printf(b, "%s**%.*s**", i ? ", " : "", VP_STR_ARG(w));
        }
    }
    vp_buf_putc(b, '.');
    if (row->initial)
        vp_buf_printf(b, " Default: %s.", row->initial);
    vp_buf_putc(b, '\n');
}

static void man_examples(vp_buf *b, const char *lines)
{
    vp_str in = vp_str_of(lines), line, command;
    vp_buf_puts(b, "\n# EXAMPLES\n");
    while (in.n) {
        char term[200], text[200];
        (void)vp_take_until(&in, '\n', in.n, &line);
        (void)vp_take_until(&line, '\t', line.n, &command);
        snprintf(term, sizeof term, "`%.*s`", VP_STR_ARG(command));
        snprintf(text, sizeof text, "%.*s.\n", VP_STR_ARG(line));
        put_man_definition(b, term, text);
    }
}

static void man_exit_codes(vp_buf *b)
{
    vp_buf_puts(b, "\n# EXIT STATUS\n");
    for (const char *const *e = cli_exit_codes; *e; e++) {
        char term[8];
        const char *code = *e;
        snprintf(term, sizeof term, "**%c**", *code);
        put_man_definition(b, term, code + 2);
        vp_buf_puts(b, ".\n");
    }
}

static void man_environment(vp_buf *b, const char *const *lines)
{
    vp_buf_puts(b, "\n# ENVIRONMENT\n");
    for (const char *const *e = lines; *e; e++) {
        char term[40];
        vp_str text = vp_str_of(*e), name;
        (void)vp_take_until(&text, '\t', text.n, &name);
        snprintf(term, sizeof term, "**%.*s**", VP_STR_ARG(name));
        put_man_definition(b, term, text.p);
        vp_buf_puts(b, ".\n");
    }
}

static void man_command(vp_buf *b, const cli_command *c)
{
    vp_buf_printf(b, "%% VIEW_PROFILE-");
    for (const char *p = c->name; *p; p++)
        vp_buf_putc(b, (char)(*p - 32));
    vp_buf_printf(b, "(1) view_profile %s | User commands\n\n# NAME\n\nview_profile-%s - ",
                  VP_VERSION, c->name);
    put_escaped_markdown(b, c->summary);
    vp_buf_printf(b, "\n\n# SYNOPSIS\n\n**view_profile %s** \\[*OPTIONS*\\] ", c->name);
    put_escaped_markdown(b, c->operands);
    vp_buf_puts(b, "\n\n# DESCRIPTION\n\n");
    put_paragraphs(b, c->description);
    vp_buf_puts(b, "\n# OPTIONS\n");
    for (const cli_option *row = cli_option_table; row->name; row++)
        if (row->help && (row->commands & c->bit))
            man_option(b, row);
    man_examples(b, c->examples);
    if (cli_environment_of(c))
        man_environment(b, cli_environment_of(c));
    man_exit_codes(b);
    vp_buf_puts(b, "\n# SEE ALSO\n\n**view_profile**(1)\n");
}

static void man_overall(vp_buf *b)
{
    vp_buf_printf(b, "%% VIEW_PROFILE(1) view_profile %s | User commands\n\n# NAME\n\n",
                  VP_VERSION);
    vp_buf_puts(b,
                "view_profile - show which parts of a machine-learning program take the most time\n"
                "\n"
                "# SYNOPSIS\n"
                "\n"
                "**view_profile** \\[*COMMAND*\\] \\[*OPTIONS*\\] \\[PATH\\] \\[RUN\\]\n"
                "\n"
                "# DESCRIPTION\n"
                "\n");
    put_paragraphs(b, cli_about);
    vp_buf_puts(b, "\n# COMMANDS\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        char term[60];
        snprintf(term, sizeof term, "**view_profile-%s**(1)", c->name);
        put_man_definition(b, term, c->summary);
        vp_buf_puts(b, ".\n");
    }
    man_exit_codes(b);
    man_environment(b, cli_environment);
}

int cli_print_man(const char *command)
{
    const cli_command *c = cli_command_named(command);
    vp_buf b;
    if (!c && strcmp(command, "view_profile") != 0) {
        vp_log(VP_LOG_ERROR, "--print-man %.100s: unknown command", command);
        return CLI_USAGE;
    }
    cli_stdout(&b);
    if (c)
        man_command(&b, c);
    else
        man_overall(&b);
    return cli_finish(&b);
}

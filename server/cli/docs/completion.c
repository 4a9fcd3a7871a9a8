#include "server/cli/docs/completion.h"

#include <string.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/language/table.h"
#include "server/cli/terminal/standard_out.h"
#include "trace/base/log.h"

static void bash_words(vp_buf *b, const char *words)
{
    for (; *words; words++)
        vp_buf_putc(b, *words == '|' ? ' ' : *words);
}

/* Values that are files or directories are completed as paths. */
static bool is_path_option(const cli_option *row)
{
    return row->type == CLI_TEXT && (!strcmp(row->value, "DIR") || !strcmp(row->value, "FILE"));
}

static void bash_command(vp_buf *b, const cli_command *c)
{
    vp_buf_printf(b, "    %s)\n        case $prev in\n", c->name);
    for (const cli_option *row = cli_option_table; row->name; row++) {
        if (!row->help || !(row->commands & c->bit) || row->type == CLI_FLAG)
            continue;
        if (row->letter)
            vp_buf_printf(b, "        --%s|-%c) ", row->name, row->letter);
        else
            vp_buf_printf(b, "        --%s) ", row->name);
        if (row->type == CLI_WORD) {
            vp_buf_puts(b, "words='");
            bash_words(b, row->value);
            vp_buf_puts(b, "' ;;\n");
        } else {
            vp_buf_puts(b, is_path_option(row) ? "files=1 ;;\n" : "return ;;\n");
        }
    }
    vp_buf_puts(b, "        *) words='");
    for (const cli_option *row = cli_option_table; row->name; row++)
        if (row->help && (row->commands & c->bit))
            vp_buf_printf(b, "--%s ", row->name);
    vp_buf_puts(b, "' ;;\n        esac ;;\n");
}

static void print_bash_completion(vp_buf *b)
{
    vp_buf_puts(
        b, "# bash completion of view_profile; made by view_profile help --print-completion bash\n"
           "_view_profile() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local command=serve words='' files='' i\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in ");
    for (const cli_command *c = cli_commands; c->name; c++)
        vp_buf_printf(b, "%s%s", c == cli_commands ? "" : "|", c->name);
    vp_buf_puts(b, ") command=${COMP_WORDS[i]}; break ;; esac\n    done\n    case $command in\n");
    for (const cli_command *c = cli_commands; c->name; c++)
        bash_command(b, c);
    vp_buf_puts(b, "    esac\n    [[ $COMP_CWORD -eq 1 && $cur != -* ]] && words='");
    for (const cli_command *c = cli_commands; c->name; c++)
        vp_buf_printf(b, "%s ", c->name);
    vp_buf_puts(b, "'\n"
                   "    [[ $cur == -* || $prev == --* || $COMP_CWORD -eq 1 ]] &&\n"
                   "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                   "    [[ $files || $cur != -* ]] && compopt -o default\n"
                   "}\n"
                   "complete -F _view_profile view_profile\n");
}

/* Escapes single quotes and the separators of zsh in a description. */
static void zsh_text(vp_buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            vp_buf_puts(b, "'\\'");
        if (strchr("[]:", *text))
            vp_buf_putc(b, '\\');
        vp_buf_putc(b, *text);
    }
}

static void zsh_option(vp_buf *b, const cli_option *row)
{
    vp_buf_printf(b, " \\\n            '%s--%s%s[", row->type == CLI_WORDS ? "*" : "", row->name,
                  row->type == CLI_FLAG ? "" : "=");
    zsh_text(b, row->help);
    vp_buf_putc(b, ']');
    if (row->type == CLI_WORD) {
        vp_buf_puts(b, ":word:(");
        bash_words(b, row->value);
        vp_buf_putc(b, ')');
    } else if (row->type != CLI_FLAG) {
        vp_buf_printf(b, ":%s:%s", is_path_option(row) ? row->value : "value",
                      is_path_option(row) ? "_files" : " ");
    }
    vp_buf_putc(b, '\'');
}

static void print_zsh_completion(vp_buf *b)
{
    vp_buf_puts(
        b, "#compdef view_profile\n"
           "# zsh completion of view_profile; made by view_profile help --print-completion zsh\n"
           "_view_profile() {\n"
           "    local -a commands=(\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        vp_buf_printf(b, "        '%s:", c->name);
        zsh_text(b, c->summary);
        vp_buf_puts(b, "'\n");
    }
    vp_buf_puts(b, "    )\n"
                   "    (( CURRENT == 2 )) && [[ $words[2] != -* ]] && _describe command commands\n"
                   "    local command=serve\n"
                   "    [[ -n ${commands[(r)$words[2]:*]} ]] && command=$words[2]\n"
                   "    case $command in\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        vp_buf_printf(b, "    %s)\n        _arguments", c->name);
        for (const cli_option *row = cli_option_table; row->name; row++)
            if (row->help && (row->commands & c->bit))
                zsh_option(b, row);
        vp_buf_puts(b, c->bit == CLI_HELP ? " ;;\n" : " \\\n            '*:path:_files' ;;\n");
    }
    vp_buf_puts(b, "    esac\n}\n_view_profile \"$@\"\n");
}

int cli_print_completion(const char *shell)
{
    vp_buf b;
    bool is_bash = !strcmp(shell, "bash");
    if (!is_bash && strcmp(shell, "zsh") != 0) {
        vp_log(VP_LOG_ERROR, "--print-completion %.100s: must be bash or zsh", shell);
        return CLI_USAGE;
    }
    cli_stdout(&b);
    if (is_bash)
        print_bash_completion(&b);
    else
        print_zsh_completion(&b);
    return cli_finish(&b);
}

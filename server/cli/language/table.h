/* The tables of commands and options. They drive parsing, --help, the man pages and the
 * completions. */
#ifndef VP_CLI_TABLE_H
#define VP_CLI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"

/* Maximum number of rows in the table of options. */
#define CLI_OPTIONS_MAX 128

struct cli_command {
    const char *name;
    unsigned bit;
    const char *operands; /* as in the usage line */
    size_t operand_max, operand_min;
    const char *summary;     /* one line, no capital, no full stop */
    const char *description; /* paragraphs, '\n' between them */
    const char *examples;    /* lines of "COMMAND LINE\tDESCRIPTION" */
};

/* CLI_STEP: "7" or "train:7", into step and step_series. */
typedef enum cli_type { CLI_FLAG, CLI_NUMBER, CLI_TEXT, CLI_WORD, CLI_WORDS, CLI_STEP } cli_type;

typedef struct cli_option {
    const char *name;  /* without "--" */
    char letter;       /* "-o"; 0: none */
    const char *value; /* placeholder of the value: "DIR"; for CLI_WORD the choices: "a|b|c" */
    cli_type type;
    unsigned commands;
    size_t offset;       /* in cli_options */
    int64_t min, max;    /* CLI_NUMBER */
    const char *initial; /* as typed; NULL: zero */
    const char *help;    /* one sentence, no full stop; NULL: hidden */
} cli_option;

extern const cli_command cli_commands[];    /* ends with a NULL name; the first is the default */
extern const cli_option cli_option_table[]; /* ends with a NULL name */

extern const char *const cli_about;         /* purpose of the program */
extern const char *const cli_environment[]; /* "NAME\tDESCRIPTION", NULL-terminated */
/* The variables of one command; NULL: none. */
const char *const *cli_environment_of(const cli_command *c);
extern const char *const cli_exit_codes[]; /* "0\tsuccess", NULL-terminated */

const cli_command *cli_command_named(const char *name); /* NULL: no such command */

#endif

/* Generates man pages as Markdown for pandoc from the option table. docs/man contains the output,
 * and a test compares them. */
#ifndef VP_CLI_MAN_H
#define VP_CLI_MAN_H

/* Prints a man page to stdout; returns an exit code. */
int cli_print_man(const char *command);

#endif

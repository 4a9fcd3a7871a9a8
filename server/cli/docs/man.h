/* Man pages, as Markdown for pandoc, from the same table as --help. What they print lies in
 * docs/man and a test compares it. */
#ifndef VP_CLI_MAN_H
#define VP_CLI_MAN_H

/* To stdout; returns an exit code. */
int cli_print_man(const char *command);

#endif

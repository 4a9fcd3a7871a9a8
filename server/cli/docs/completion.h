/* Shell completions from the same table as --help. What they print lies in docs/completion and a
 * test compares it. */
#ifndef VP_CLI_COMPLETION_H
#define VP_CLI_COMPLETION_H

/* "bash" or "zsh", to stdout; returns an exit code. */
int cli_print_completion(const char *shell);

#endif

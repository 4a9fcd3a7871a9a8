/* Generates shell completions from the option table. docs/completion contains the output, and a
 * test compares them. */
#ifndef VP_CLI_COMPLETION_H
#define VP_CLI_COMPLETION_H

/* Prints the completion for "bash" or "zsh" to stdout; returns an exit code. */
int cli_print_completion(const char *shell);

#endif

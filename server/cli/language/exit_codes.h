/* Exit codes, documented in docs/reference/cli.md#exit-codes. cli_exit_codes (table.h) has their
 * descriptions. */
#ifndef VP_CLI_EXIT_CODES_H
#define VP_CLI_EXIT_CODES_H

enum {
    CLI_OK = 0,
    CLI_GATE = 1,
    CLI_USAGE = 2,
    CLI_UNREADABLE = 3,
    CLI_NOT_FOUND = 4,
    CLI_CANNOT_SERVE = 5,
    CLI_CAPTURE_FAILED = 6,
    CLI_INTERRUPTED = 130
};

#endif

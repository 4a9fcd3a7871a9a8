/* Where a command's document goes: stdout, or a file that appears whole or not at all. And the line
 * that says why there is none. */
#ifndef VP_CLI_STANDARD_OUT_H
#define VP_CLI_STANDARD_OUT_H

#include "trace/base/buf.h"
#include "trace/base/limits.h"

/* A failure (vp_error_last) as one line on stderr; returns its exit code. */
int cli_fail(int rc);
/* A stream onto stdout. */
void cli_stdout(vp_buf *b);
/* Flushes and frees; returns an exit code. Failures to write are reported. */
int cli_finish(vp_buf *b);
/* A file that appears whole or not at all; NULL or "-" is stdout. Pipes and devices are written to,
 * never replaced. */
typedef struct cli_file {
    vp_buf buf;
    int fd;
    const char *path;                                 /* NULL: stdout */
    char target[VP_PATH_MAX], temp[VP_PATH_MAX + 32]; /* temp "": path is written to as it is */
} cli_file;
int cli_file_open(cli_file *f, const char *path);
/* Whether both are there and are one regular file. */
bool cli_same_file(const char *a, const char *b);
/* With rc < 0 (what the writer returned) the file is dropped. Returns rc or the first failure. */
int cli_file_close(cli_file *f, int rc);

#endif

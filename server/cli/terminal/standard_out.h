/* Writes the document of a command to stdout, or to a file that appears complete or not at all,
 * and prints the last error. */
#ifndef VP_CLI_STANDARD_OUT_H
#define VP_CLI_STANDARD_OUT_H

#include "trace/base/buf.h"
#include "trace/base/limits.h"

/* Prints the last error (vp_error_last) to stderr; returns its exit code. */
int cli_fail(int rc);
/* A stream onto stdout. */
void cli_stdout(vp_buf *b);
/* Flushes and frees; returns an exit code. Failures to write are reported. */
int cli_finish(vp_buf *b);
/* A file that appears complete or not at all; NULL or "-" is stdout. Pipes and devices are written
 * to, never replaced. */
typedef struct cli_file {
    vp_buf buf;
    int fd;
    const char *path;                                 /* NULL: stdout */
    char target[VP_PATH_MAX], temp[VP_PATH_MAX + 32]; /* temp "": path is written to directly */
} cli_file;
int cli_file_open(cli_file *f, const char *path);
/* True if both exist and are the same regular file. */
bool cli_same_file(const char *a, const char *b);
/* rc: result of the writer; if it is negative, the file is discarded. Returns rc or the first
 * error. */
int cli_file_close(cli_file *f, int rc);

#endif

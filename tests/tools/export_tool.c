/* For the golden tests in Python: runs one stream of the export module over a file.
 *   export_tool clean  FILE|-   cleaned JSON on stdout, one line of counts on stderr
 *   export_tool whole  FILE     Perfetto-ready JSON on stdout
 *   export_tool xspace FILE     JSON made from an XSpace on stdout
 *   export_tool pftrace FILE    a .pftrace made from an XSpace on stdout
 *   export_tool pftrace-json FILE  a .pftrace made from Trace Event JSON on stdout
 * With several files the output of each goes to FILE.made, and stdout has one exit code per line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/export/export.h"

static int copy_stream(int to, rd_stream *s)
{
    char *p;
    size_t n;
    int rc;
    while ((rc = s->next(s, &p, &n)) > 0)
        if (vp_fs_write_all(to, p, n) < 0)
            return -1;
    return rc;
}

static int open_clean(rd_stream **out, char *path)
{
    rd_stream *in;
    int rc;
    if (strcmp(path, "-") == 0)
        rc = rd_stream_pipe(&in, dup(STDIN_FILENO));
    else
        rc = rd_stream_fd(&in, open(path, O_RDONLY | O_CLOEXEC));
    return rc < 0 ? rc : ex_json_clean(out, in);
}

static int open_again(void *ctx, rd_stream **out)
{
    return rd_stream_fd(out, open(ctx, O_RDONLY | O_CLOEXEC));
}

static int open_whole(rd_stream **out, char *path)
{
    return ex_json_whole(out, &(ex_input){open_again, path}, NULL);
}

static int open_pftrace_json(rd_stream **out, char *path)
{
    return ex_pftrace_from_json(out, &(ex_input){open_again, path}, NULL);
}

static int open_xspace(rd_stream **out, const char *path, bool json)
{
    rd_source *in;
    int rc = rd_source_fd(&in, open(path, O_RDONLY | O_CLOEXEC));
    if (rc < 0)
        return rc;
    return json ? ex_json_from_xspace(out, in, NULL) : ex_pftrace_from_xspace(out, in, NULL);
}

static void print_counts(const rd_stream *s)
{
    ex_clean_counts c;
    ex_json_clean_counts(s, &c);
    fprintf(stderr,
            "{\"events\":%llu,\"empty\":%llu,\"refused\":%llu,\"keys\":%llu,\"strings\":%llu,"
            "\"numbers\":%llu,\"commas\":%llu,\"damage\":%d}\n",
            (unsigned long long)c.events, (unsigned long long)c.empty,
            (unsigned long long)c.refused, (unsigned long long)c.keys,
            (unsigned long long)c.strings, (unsigned long long)c.numbers,
            (unsigned long long)c.commas, s->damage.code);
}

static int open_json(rd_stream **out, char *path)
{
    return open_xspace(out, path, true);
}

static int open_pftrace(rd_stream **out, char *path)
{
    return open_xspace(out, path, false);
}

static const struct mode {
    const char *name;
    int (*open)(rd_stream **out, char *path);
} modes[] = {{"clean", open_clean},
             {"whole", open_whole},
             {"xspace", open_json},
             {"pftrace", open_pftrace},
             {"pftrace-json", open_pftrace_json}};

static const struct mode *find_mode(int argc, char **argv)
{
    for (size_t i = 0; argc >= 3 && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return &modes[i];
    return NULL;
}

/* Returns the exit code for this file. */
static int export_file(const struct mode *mode, char *path, int to)
{
    rd_stream *s = NULL;
    int rc = mode->open(&s, path);
    if (rc >= 0)
        rc = copy_stream(to, s);
    if (rc >= 0 && mode->open == open_clean)
        print_counts(s);
    else if (rc >= 0)
        fprintf(stderr, "{\"damage\":%d}\n", s->damage.code);
    if (rc < 0)
        fprintf(stderr, "export_tool: %s\n", vp_error_last()->message);
    rd_stream_close(&s);
    return rc < 0 ? 3 : 0;
}

static int export_files(const struct mode *mode, char **paths)
{
    for (; *paths; paths++) {
        char made[4096];
        snprintf(made, sizeof made, "%s.made", *paths);
        int to = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (to < 0)
            return 2;
        printf("%d\n", export_file(mode, *paths, to));
        close(to);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct mode *mode = find_mode(argc, argv);
    if (!mode) {
        fprintf(stderr, "usage: export_tool clean|whole|xspace|pftrace|pftrace-json FILE…\n");
        return 2;
    }
    return argc == 3 ? export_file(mode, argv[2], STDOUT_FILENO) : export_files(mode, argv + 2);
}

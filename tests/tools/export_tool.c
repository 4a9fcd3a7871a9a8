/* For the golden tests in Python: runs one stream of the export room over a file.
 *   export_tool clean  FILE|-   cleaned JSON on stdout, one line of counts on stderr
 *   export_tool xspace FILE     JSON made from an XSpace on stdout */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/export/export.h"

static int copy(rd_stream *s)
{
    char *p;
    size_t n;
    int rc;
    while ((rc = s->next(s, &p, &n)) > 0)
        if (vp_fs_write_all(STDOUT_FILENO, p, n) < 0)
            return -1;
    return rc;
}

static int open_clean(rd_stream **out, const char *path)
{
    rd_stream *in;
    int rc;
    if (strcmp(path, "-") == 0)
        rc = rd_stream_pipe(&in, dup(STDIN_FILENO));
    else
        rc = rd_stream_fd(&in, open(path, O_RDONLY | O_CLOEXEC));
    return rc < 0 ? rc : ex_json_clean(out, in);
}

static int open_xspace(rd_stream **out, const char *path)
{
    rd_source *in;
    int rc = rd_source_fd(&in, open(path, O_RDONLY | O_CLOEXEC));
    return rc < 0 ? rc : ex_json_from_xspace(out, in);
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

int main(int argc, char **argv)
{
    rd_stream *s = NULL;
    bool clean = argc == 3 && strcmp(argv[1], "clean") == 0;
    if (argc != 3 || (!clean && strcmp(argv[1], "xspace") != 0)) {
        fprintf(stderr, "usage: export_tool clean|xspace FILE\n");
        return 2;
    }
    int rc = clean ? open_clean(&s, argv[2]) : open_xspace(&s, argv[2]);
    if (rc >= 0)
        rc = copy(s);
    if (rc >= 0 && clean)
        print_counts(s);
    else if (rc >= 0)
        fprintf(stderr, "{\"damage\":%d}\n", s->damage.code);
    if (rc < 0)
        fprintf(stderr, "export_tool: %s\n", vp_error_last()->message);
    rd_stream_close(&s);
    return rc < 0 ? 3 : 0;
}

/* Any bytes as an archive: the index keeps its promises (clean names, unique, within the limits),
 * and every member can be read to an end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/base/limits.h"
#include "trace/read/archive/archive.h"

static void need(bool ok)
{
    if (!ok)
        abort();
}

static void check_name(const char *name)
{
    size_t n = strlen(name);
    need(n > 0 && n <= VP_MEMBER_NAME_MAX && name[0] != '/' && name[n - 1] != '/');
    need(!strchr(name, '\\') && !strstr(name, "//"));
    need(strcmp(name, "..") && strncmp(name, "../", 3) && strncmp(name, "./", 2));
    need(!strstr(name, "/../") && (n < 3 || strcmp(name + n - 3, "/..")));
}

static void read_member(int fd, const ar_member *m)
{
    rd_stream *s = NULL;
    char *p;
    size_t n;
    int64_t all = 0;
    int rc = ar_member_open(&s, fd, m->index);
    need(rc == 0 || rc == VP_ECORRUPT || rc == VP_ELIMIT);
    if (rc < 0)
        return;
    while ((rc = s->next(s, &p, &n)) > 0 && all < (16 << 20)) {
        if (all == 0)
            need(memcmp(p, m->head, m->head_n < n ? m->head_n : n) == 0);
        all += (int64_t)n;
    }
    need(rc >= 0);
    if (rc == 0 && s->damage.code == 0 && m->size >= 0)
        need(all == m->size);
    s->close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    ar_index *ix = NULL;
    int fd = memfd_create("archive", MFD_CLOEXEC);
    need(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    int rc = ar_index_make(&ix, fd, NULL, NULL);
    need(rc == 0 || rc == VP_ECORRUPT || rc == VP_ELIMIT);
    for (size_t i = 0; ix && i < ix->member_count; i++) {
        check_name(ix->members[i].name);
        for (size_t k = 0; k < i && i < 50; k++)
            need(strcmp(ix->members[k].name, ix->members[i].name) != 0);
        if (i < 8)
            read_member(fd, &ix->members[i]);
    }
    ar_index_free(ix);
    close(fd);
    return 0;
}

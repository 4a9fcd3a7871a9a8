/* Writes the files of a killed process's recording: its .vpcap is the same image that the writer
 * reads at the end of any recording. The file of a living process is left alone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/pool/recorder.h"
#include "trace/capture/session/session.h"

#define OUTPUTS (VP_OUT_XPLANE | VP_OUT_TRACE_JSON)

static int map_vpcap_image(char **out, size_t *n, int *fd, const char *path)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &st) < 0)
        return vp_fail_at(vp_fail(errno == ENOENT ? VP_ENOTFOUND : VP_EIO, "%s", strerror(errno)),
                          path, -1, -1);
    if (!S_ISREG(st.st_mode))
        return vp_fail_at(vp_fail(VP_EREFUSED, "not a regular file"), path, -1, -1);
    if (st.st_size > VP_RECORDING_MAX)
        return vp_fail_at(vp_fail(VP_ELIMIT, "the recording is larger than 16 GiB"), path, -1, -1);
    *out = vp_malloc((size_t)st.st_size + 1);
    if (!*out)
        return vp_fail(VP_ENOMEM, "out of memory: a recording");
    return vp_fs_pread(*fd, *out, (size_t)st.st_size, 0, n);
}

/* True if this process is alive and has mapped the file, so it may still record. If the file comes
 * from another machine or container, an unrelated process may have its process id, but has not
 * mapped the file. */
static bool is_live(pid_t pid, int fd)
{
    char name[64], line[4096], inode[32];
    struct stat st;
    bool mapped = false;
    if (pid <= 0 || kill(pid, 0) < 0 || fstat(fd, &st) < 0)
        return false;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    snprintf(inode, sizeof inode, " %llu ", (unsigned long long)st.st_ino);
    FILE *f = fopen(name, "re");
    while (f && !mapped && fgets(line, sizeof line, f))
        mapped = strstr(line, inode) && strstr(line, ".vpcap");
    if (f)
        fclose(f);
    return mapped;
}

/* The directory for the files: that of the .vpcap, or the run's name below a profile directory. */
static int make_recovered_dir(char out[VP_PATH_MAX], const char *path, const char *dir,
                              vp_str session)
{
    const char *slash = strrchr(path, '/');
    int n;
    bool plain = session.n && session.p[0] != '.' && !memchr(session.p, '/', session.n);
    if (dir)
        n = snprintf(out, VP_PATH_MAX, "%s/plugins/profile/%.*s", dir, plain ? (int)session.n : 9,
                     plain ? session.p : "recovered");
    else
        n = snprintf(out, VP_PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                     slash ? path : ".");
    if (n <= 0 || (size_t)n >= VP_PATH_MAX)
        return vp_fail(VP_EARG, "the directory's name is too long");
    return dir ? cap_make_dirs(out) : 0;
}

static int refuse_existing(int fd, vp_str host)
{
    static const char *const endings[] = {".xplane.pb", ".trace.json.gz"};
    char name[256];
    for (size_t i = 0; i < 2; i++) {
        cap_host_file(name, sizeof name, host, endings[i]);
        if (faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return vp_fail(VP_EREFUSED, "%s exists already", name);
    }
    return 0;
}

static void count_recovered(vp_result *r, const vpcap *v)
{
    const vpcap_info *info = vpcap_info_of(v);
    r->threads = vpcap_threads(v);
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_thread t = vpcap_thread_at(v, i);
        r->zones += t.written;
        r->dropped_full += t.dropped_full;
        r->dropped_signal += t.dropped_signal;
        r->dropped_depth += t.dropped_depth;
        r->unmatched_ends += t.unmatched_ends;
        r->overwritten += t.overwritten;
        r->left += t.left;
    }
    r->start_unix_ns = info->start_unix_ns;
    r->duration_ns = info->end_ps / 1000;
    r->truncated = !info->finished || info->truncated;
}

static int write_profile(vp_result *r, const vpcap *v, const char *path, const char *dir)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    const vpcap_info *info = vpcap_info_of(v);
    VP_TRY(make_recovered_dir(r->run_dir, path, dir, info->session));
    fd = open(r->run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return cap_file_fail("open the directory", r->run_dir, errno);
    int rc = refuse_existing(fd, info->host);
    if (rc == 0)
        rc = cap_write(&r->bytes_written, fd, v, NULL, OUTPUTS);
    return rc < 0 ? vp_fail_at(rc, r->run_dir, -1, -1) : 0;
}

int vp_recover(const char *path, const char *dir, vp_result *result)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    VP_CLEANUP(vp_free_ptr) char *image = NULL;
    vp_result r = VP_RESULT_INIT;
    vpcap *v = NULL;
    size_t n = 0;
    VP_TRY(cap_check_result(result));
    if (!path)
        return vp_fail(VP_EARG, "vp_recover needs a path");
    VP_TRY(map_vpcap_image(&image, &n, &fd, path));
    int rc = vpcap_open(&v, image, n);
    if (rc < 0)
        return vp_fail_at(rc, path, -1, vp_error_last()->offset);
    if (!vpcap_info_of(v)->finished && is_live((pid_t)vpcap_info_of(v)->pid, fd))
        rc = vp_fail_at(vp_fail(VP_EBUSY, "process %lld still records into it",
                                (long long)vpcap_info_of(v)->pid),
                        path, -1, -1);
    if (rc == 0) {
        count_recovered(&r, v);
        rc = r.zones || vpcap_open_zones(v, NULL, NULL)
                 ? write_profile(&r, v, path, dir)
                 : vp_fail_at(vp_fail(VP_EEMPTY, "nothing was recorded"), path, -1, -1);
    }
    vpcap_free(v);
    if (rc == 0 && result)
        *result = r;
    return rc;
}

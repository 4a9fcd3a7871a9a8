#include "server/local/tb_listener.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/local/outside.h"
#include "server/local/proc_lookup.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"

/* In bytes: a table of 10,000 sockets has 1.5 MB, and the kernel truncates arguments at 128 KiB. */
#define TABLE_MAX (8u << 20)
#define ARGS_BYTES_MAX (128u << 10)
#define LISTENING "0A"

/* Files in /proc have no size. */
static int slurp_proc_file(vp_buf *b, const char *path)
{
    char piece[16 << 10];
    VP_CLEANUP(vp_fs_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return vp_fail(VP_ENOTFOUND, "read error");
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0)
            return vp_fail(VP_ENOTFOUND, "read error");
        if (n == 0)
            return 0;
        VP_TRY(vp_buf_put(b, piece, (size_t)n));
    }
}

/* ---- The socket ------------------------------------------------------------------------------ */

static vp_str take_proc_word(vp_str *line)
{
    vp_str word = VP_STR_NONE;
    while (line->n && *line->p == ' ')
        *line = vp_str_skip(*line, 1);
    (void)vp_take_until(line, ' ', SIZE_MAX, &word);
    return word;
}

/* True if a connection to 127.0.0.1 reaches this address: 127.0.0.1, any, or the same as IPv6.
 * Addresses are 32-bit hexadecimal words in native byte order. */
static bool is_reachable_address(vp_str address)
{
    static const char *const good[] = {"0100007F", "00000000", "00000000000000000000000000000000",
                                       "0000000000000000FFFF00000100007F",
                                       "0000000000000000FFFF000000000000"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (vp_str_eq(address, vp_str_of(good[i])))
            return true;
    return false;
}

int tb_listener_parse(tb_listener *out, vp_str table, int port)
{
    char wanted[8];
    vp_str line, address;
    snprintf(wanted, sizeof wanted, "%04X", (unsigned)port & 0xffffu);
    while (table.n && vp_take_until(&table, '\n', SIZE_MAX, &line)) {
        uint64_t uid, inode;
        (void)take_proc_word(&line); /* number */
        vp_str local = take_proc_word(&line);
        (void)take_proc_word(&line); /* remote */
        vp_str state = take_proc_word(&line);
        (void)take_proc_word(&line); /* queues */
        (void)take_proc_word(&line); /* timer */
        (void)take_proc_word(&line); /* retransmissions */
        vp_str owner = take_proc_word(&line);
        (void)take_proc_word(&line); /* timeout */
        if (!vp_take_until(&local, ':', SIZE_MAX, &address) || !is_reachable_address(address) ||
            !vp_str_eq(local, vp_str_of(wanted)) || !vp_str_eq(state, VP_STR(LISTENING)))
            continue;
        if (!vp_str_to_u64(owner, &uid) || !vp_str_to_u64(take_proc_word(&line), &inode))
            continue;
        *out = (tb_listener){.uid = (uid_t)uid, .inode = inode};
        return 0;
    }
    return vp_fail(VP_ENOTFOUND, "no server on port %d", port);
}

int tb_listener_find(tb_listener *out, int port)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    int rc = VP_ENOTFOUND;
    for (size_t i = 0; i < 2 && rc < 0; i++) {
        VP_CLEANUP(vp_buf_free) vp_buf b;
        vp_buf_init(&b, TABLE_MAX);
        rc = slurp_proc_file(&b, tables[i]);
        if (rc == 0)
            rc = tb_listener_parse(out, vp_buf_view(&b), port);
    }
    return rc;
}

/* ---- The process ----------------------------------------------------------------------------- */

pid_t tb_listener_pid(const tb_listener *l)
{
    if (outside_runs(OUTSIDE_LOOKUP))
        return outside_pid(l->inode);
    return proc_socket_pid(l->inode);
}

/* ---- Its log directory ----------------------------------------------------------------------- */

static bool is_xprof(vp_str arg)
{
    size_t slash = vp_str_rfind_char(arg, '/');
    return vp_str_eq(slash < arg.n ? vp_str_skip(arg, slash + 1) : arg, VP_STR("xprof"));
}

bool tb_logdir_of(vp_str *out, vp_str args)
{
    vp_str arg, operand = VP_STR_NONE;
    bool value = false, after_xprof = false;
    while (args.n && vp_take_until(&args, '\0', SIZE_MAX, &arg)) {
        if (value || vp_str_starts(arg, VP_STR("--logdir="))) {
            *out = value ? arg : vp_str_skip(arg, sizeof "--logdir=" - 1);
            return out->n > 0;
        }
        value = vp_str_eq(arg, VP_STR("--logdir")) || vp_str_eq(arg, VP_STR("-l"));
        if (after_xprof && !vp_str_eq(arg, VP_STR("server"))) {
            operand = vp_str_starts(arg, VP_STR("-")) ? VP_STR_NONE : arg;
            after_xprof = false;
        }
        after_xprof = after_xprof || is_xprof(arg);
    }
    *out = operand;
    return operand.n > 0;
}

static int working_directory_of(char *out, size_t cap, pid_t pid)
{
    if (outside_runs(OUTSIDE_LOOKUP))
        return outside_directory(out, cap, pid);
    return proc_directory(out, cap, pid);
}

int tb_listener_logdir(char *out, pid_t pid, const char *said)
{
    VP_CLEANUP(vp_buf_free) vp_buf args;
    char path[64], cwd[VP_PATH_MAX] = "";
    vp_str dir = vp_str_of(said);
    vp_buf_init(&args, ARGS_BYTES_MAX);
    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
    if (!dir.n &&
        (!pid || slurp_proc_file(&args, path) < 0 || !tb_logdir_of(&dir, vp_buf_view(&args))))
        return vp_fail(VP_ENOTFOUND, "unknown log directory");
    if (dir.p[0] != '/') {
        if (!pid || working_directory_of(cwd, sizeof cwd, pid) < 0)
            return vp_fail(VP_ENOTFOUND, "unknown log directory");
    }
    int n = snprintf(out, VP_PATH_MAX, "%s%s%.*s", cwd, cwd[0] ? "/" : "", VP_STR_ARG(dir));
    return n < (int)VP_PATH_MAX ? 0 : vp_fail(VP_ENOTFOUND, "the log directory's path is too long");
}

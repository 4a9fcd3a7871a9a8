#include "server/cli/serve/serve_token.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/cli/language/cli_options.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/log.h"

#define TOKEN_ENV "VIEW_PROFILE_TOKEN"

static int take_token_line(vp_str in, const char *from, char *token)
{
    vp_str line;
    bool fits = vp_take_until(&in, '\n', SERVE_TOKEN_MAX, &line);
    line = fits ? vp_str_trim(line) : VP_STR_NONE;
    if (!line.n) {
        vp_fail(VP_EARG, "must contain a token of 1 to %d characters in its first line",
                SERVE_TOKEN_MAX);
        return vp_fail_at(VP_EARG, from, -1, -1);
    }
    memcpy(token, line.p, line.n);
    token[line.n] = 0;
    return 0;
}

static int read_token(const char *path, char *token)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char text[SERVE_TOKEN_MAX + 2];
    struct stat st;
    size_t n;
    bool is_dir;
    VP_TRY(vp_fs_open_user(path, &fd, &is_dir, NULL));
    int rc = is_dir ? vp_fail(VP_EARG, "is a directory, not a token file")
                    : vp_fs_pread(fd, text, sizeof text, 0, &n);
    if (rc < 0)
        return vp_fail_at(rc, path, -1, -1);
    if (!fstat(fd, &st) && (st.st_mode & 077))
        vp_log(VP_LOG_WARN, "%s: other users can read this token; run chmod 600", path);
    return take_token_line((vp_str){text, n}, path, token);
}

int serve_token(char *token, const cli_options *o)
{
    const char *env = getenv(TOKEN_ENV);
    token[0] = 0;
    if (o->token_file)
        VP_TRY(read_token(o->token_file, token));
    else if (env)
        VP_TRY(take_token_line(vp_str_of(env), "$" TOKEN_ENV, token));
    unsetenv(TOKEN_ENV); /* TensorBoard and a browser must not inherit the token */
    return 0;
}

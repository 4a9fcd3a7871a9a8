#include "server/mcp/mcp_calls.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/mcp/mcp_text.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

#define WORDS_MAX 40u
#define OUTPUT_MAX (512u << 20)
#define ALLOWED_MS 600000

typedef struct words {
    const char *v[WORDS_MAX + 1];
    size_t n;
    char own[12][448]; /* values without marks, and numbers */
    size_t own_n;
} words;

static void add_command_word(words *w, const char *word)
{
    if (w->n < WORDS_MAX)
        w->v[w->n++] = word;
}

/* A run is identified by its key in the profile directory. Anything that could be a path outside of
 * it, an address, an option or standard input is rejected. */
static int check_key(const char *name, const char *key, const char *root)
{
    char real[PATH_MAX];
    size_t n = strlen(root);
    bool odd = key[0] == '-' || key[0] == '/' || strstr(key, "://") || !strcmp(key, "..") ||
               !strncmp(key, "../", 3) || strstr(key, "/../") ||
               vp_str_ends(vp_str_of(key), VP_STR("/.."));
    if (!odd &&
        realpath(key, real)) /* relative to the profile directory, which is the current one */
        odd = strncmp(real, root, n) != 0 || (n > 1 && real[n] && real[n] != '/');
    return odd ? vp_fail(VP_EARG, "%s: no such run in the profile directory; see list_sessions",
                         name)
               : 0;
}

static const char *argument_text(words *w, json_t *v)
{
    if (w->own_n == sizeof w->own / sizeof w->own[0])
        return "";
    char *own = w->own[w->own_n++];
    if (json_is_integer(v)) {
        (void)snprintf(own, sizeof w->own[0], "%lld", (long long)json_integer_value(v));
        return own;
    }
    vp_str s = mcp_without_marks(vp_str_of(json_string_value(v)));
    (void)snprintf(own, sizeof w->own[0], "%.*s", VP_STR_ARG(s));
    return own;
}

static void add_option(words *w, const char *option, const char *value)
{
    add_command_word(w, option);
    add_command_word(w, value);
}

static int command_words_of(words *w, const mcp_tool *t, json_t *args, const mcp_options *o)
{
    const char *operands[4];
    size_t n = 0;
    for (size_t i = 0; t->command[i]; i++)
        add_command_word(w, t->command[i]);
    add_option(w, "--format", "json");
    add_option(w, t->writes ? "--out" : "--profile-dir", o->profile_dir);
    for (const mcp_arg *a = t->args; a->name; a++) {
        json_t *v = json_object_get(args, a->name);
        if (!v || (a->option && !a->option[0]))
            continue;
        const char *value = argument_text(w, v);
        if (a->option && value[0] == '-')
            return vp_fail(VP_EARG, "%s: must not start with -", a->name);
        if (a->option)
            add_option(w, a->option, value);
        else if (!t->writes)
            VP_TRY(check_key(a->name, value, o->profile_dir));
        if (!a->option)
            operands[n++] = value;
    }
    if (n)
        add_command_word(w, "--");
    for (size_t i = 0; i < n; i++)
        add_command_word(w, operands[i]);
    return 0;
}

int mcp_call_start(mcp_call *c, const mcp_tool *t, json_t *args, const mcp_options *o)
{
    words w = {.n = 0};
    add_command_word(&w, o->program);
    VP_TRY(command_words_of(&w, t, args, o));
    w.v[w.n] = NULL;
    VP_TRY(watch_child_start(&c->child, w.v, true, NULL, ALLOWED_MS));
    watch_child_most(&c->child, OUTPUT_MAX);
    vp_buf_init(&c->command, 64u << 10);
    vp_buf_puts(&c->command, "view_profile");
    size_t format = 1;
    while (t->command[format - 1])
        format++;
    for (size_t i = 1; i < w.n; i++) {
        if (i == format) /* the command line for a person prints text */
            i += 2;
        vp_buf_putc(&c->command, ' ');
        mcp_put_word(&c->command, w.v[i]);
    }
    c->used = true;
    c->tool = t;
    c->args = json_incref(args);
    return 0;
}

bool mcp_call_look(mcp_call *c)
{
    watch_child_read(&c->child);
    if (c->cancelled || vp_now_ms() > c->child.term_at_ms)
        watch_child_end(&c->child, vp_now_ms());
    return watch_child_reap(&c->child);
}

json_t *mcp_call_result(mcp_call *c)
{
    vp_str text = vp_buf_view(&c->child.lines);
    json_error_t e;
    if (c->tool->writes) { /* the last line is the result */
        size_t end = text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n;
        size_t at = vp_str_rfind_char(vp_str_head(text, end), '\n');
        text = vp_str_skip(text, at < end ? at + 1 : 0);
    }
    json_t *doc = c->child.code ? NULL : json_loadb(text.p ? text.p : "", text.n, 0, &e);
    if (!doc)
        vp_fail(VP_EIO, "%s", c->child.said[0] ? c->child.said : "failed without a message");
    return doc;
}

void mcp_call_free(mcp_call *c)
{
    json_decref(c->id);
    json_decref(c->args);
    watch_child_free(&c->child);
    vp_buf_free(&c->command);
    *c = (mcp_call){.used = false};
}

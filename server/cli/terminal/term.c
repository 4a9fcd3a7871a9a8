#include "server/cli/terminal/term.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/cli/language/cli_options.h"
#include "trace/base/human.h"
#include "trace/base/time.h"

#define WIDTH_MIN 40
#define WIDTH_MAX 1000
/* Columns of a pipe or a file: wide, so that names are not shortened and can be searched. */
#define WIDTH_PIPED 1000
/* Shorter work shows no progress; afterwards this is the minimum interval between updates. */
#define FIRST_AFTER_NS INT64_C(400000000)
#define EVERY_NS INT64_C(100000000)

int cli_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t v;
    if (!columns || !vp_str_to_i64(vp_str_of(columns), &v))
        v = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (v <= 0)
        v = WIDTH_PIPED;
    return (int)(v < WIDTH_MIN ? WIDTH_MIN : v > WIDTH_MAX ? WIDTH_MAX : v);
}

bool cli_color(const cli_options *o)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (o->color != CLI_COLOR_AUTO)
        return o->color == CLI_COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0 &&
           (!o->out || !strcmp(o->out, "-"));
}

/* Unknown terminals may print the target of a link as text, so they get no links. */
bool cli_links(const cli_options *o)
{
    static const char *const names[] = {"KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION",
                                        "DOMTERM", "WEZTERM_PANE"};
    static const char *const programs[] = {"iTerm.app", "WezTerm", "vscode", "ghostty"};
    static const char *const terms[] = {"kitty", "alacritty", "foot", "ghostty"};
    const char *vte = getenv("VTE_VERSION"), *program = getenv("TERM_PROGRAM");
    const char *term = getenv("TERM");
    bool known = vte && strtol(vte, NULL, 10) >= 5000;
    if (!cli_color(o) || !isatty(STDOUT_FILENO))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known || getenv(names[i]);
    for (size_t i = 0; program && i < sizeof programs / sizeof *programs; i++)
        known = known || !strcmp(program, programs[i]);
    for (size_t i = 0; term && i < sizeof terms / sizeof *terms; i++)
        known = known || strstr(term, terms[i]);
    return known;
}

void cli_progress_begin(cli_progress *p, const cli_options *o, const char *what)
{
    p->what = what;
    p->on = !o->quiet && isatty(STDERR_FILENO);
    p->drawn = false;
    p->start_ns = vp_now_ns();
    p->last_ns = p->start_ns + FIRST_AFTER_NS - EVERY_NS;
}

static bool is_progress_due(cli_progress *p, int64_t now)
{
    int64_t last = p->last_ns;
    if (!p->on || now - last < EVERY_NS || !atomic_compare_exchange_strong(&p->last_ns, &last, now))
        return false;
    p->drawn = true;
    return true;
}

static void draw_progress_line(const char *line, int n)
{
    (void)!write(STDERR_FILENO, line, (size_t)n);
}

int cli_progress_bytes(void *ctx, int64_t done, int64_t total)
{
    cli_progress *p = ctx;
    char line[160], text[VP_HUMAN_BYTES];
    int64_t now = vp_now_ns();
    if (!is_progress_due(p, now))
        return 0;
    double rate = (double)done / ((double)(now - p->start_ns) / 1e9);
    int n = snprintf(line, sizeof line, "\r\033[K%s %s", p->what, vp_bytes_text(text, done));
    if (total > 0 && done <= total)
        n += snprintf(line + n, sizeof line - (size_t)n, " of %s, %d%%", vp_bytes_text(text, total),
                      (int)(100.0 * (double)done / (double)total));
    n += snprintf(line + n, sizeof line - (size_t)n, ", %s/s", vp_bytes_text(text, (int64_t)rate));
    if (total > 0 && done > 0 && done <= total)
        n += snprintf(line + n, sizeof line - (size_t)n, ", %.0f s left",
                      (double)(total - done) / rate);
    draw_progress_line(line, n);
    return 0;
}

int cli_progress_entries(void *ctx, int64_t done, int64_t total)
{
    cli_progress *p = ctx;
    char line[120];
    (void)total;
    if (is_progress_due(p, vp_now_ns()))
        draw_progress_line(
            line, snprintf(line, sizeof line, "\r\033[K%s %lld files", p->what, (long long)done));
    return 0;
}

void cli_progress_text(cli_progress *p, const char *text)
{
    char line[200];
    if (is_progress_due(p, vp_now_ns()))
        draw_progress_line(line, snprintf(line, sizeof line, "\r\033[K%.180s", text));
}

void cli_progress_clear(cli_progress *p)
{
    if (p->drawn)
        draw_progress_line("\r\033[K", 4);
    p->drawn = false;
}

void cli_progress_end(cli_progress *p)
{
    cli_progress_clear(p);
    p->on = false;
}

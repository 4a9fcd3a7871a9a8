#include "server/cli/language/arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/language/commands.h"
#include "server/cli/language/exit_codes.h"
#include "server/cli/language/table.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* The state of a pass over argv. */
typedef struct parser {
    cli_options *o;
    int argc, i;
    char **argv;
    bool given[CLI_OPTIONS_MAX]; /* by row of cli_option_table */
    bool only_operands;
} parser;

size_t cli_word_count(const char *words)
{
    size_t n = 1;
    for (; *words; words++)
        n += *words == '|';
    return n;
}

vp_str cli_word(const char *words, size_t i)
{
    vp_str in = vp_str_of(words), word = VP_STR_NONE;
    do
        (void)vp_take_until(&in, '|', in.n, &word);
    while (i--);
    return word;
}

/* Prints a usage error with a reference to the help. Returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) static int fail_usage(const parser *p, const char *fmt, ...)
{
    vp_buf b;
    va_list ap;
    char text[512];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    vp_buf_init(&b, 4096);
    vp_buf_puts(&b, text);
    vp_buf_printf(&b, "; see view_profile %s --help", p->o->command->name);
    vp_log(VP_LOG_ERROR, "%s", vp_buf_cstr(&b));
    vp_buf_free(&b);
    return CLI_USAGE;
}

/* ---- Suggestions ---- */

#define WORD_MAX 40

/* Edit distance (insert, delete, replace, swap of neighbors) of two words; SIZE_MAX if too long. */
static size_t edit_distance(vp_str a, vp_str b)
{
    size_t row[3][WORD_MAX + 1];
    if (a.n > WORD_MAX || b.n > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= b.n; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t best = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[a.n % 3][b.n];
}

const char *cli_nearest(vp_str word, const char *(*candidate)(void *, size_t), void *ctx)
{
    const char *best = NULL, *c;
    size_t best_distance = word.n / 3 + 1; /* one edit per three letters is accepted */
    for (size_t i = 0; (c = candidate(ctx, i)); i++) {
        size_t d = edit_distance(word, vp_str_of(c));
        /* Prefix of a longer word: --prof for --profile-dir. */
        if (word.n >= 2 && vp_str_starts(vp_str_of(c), word))
            d = 1;
        if (d < best_distance || (d == best_distance && !best)) {
            best = c;
            best_distance = d;
        }
    }
    return best;
}

static const char *option_candidate(void *ctx, size_t i)
{
    const parser *p = ctx;
    for (const cli_option *row = cli_option_table; row->name; row++)
        if (row->help && (row->commands & p->o->command->bit) && !i--)
            return row->name;
    return NULL;
}

/* ---- Values ---- */

static int store_number(parser *p, const cli_option *row, vp_str value)
{
    int64_t v;
    if (!vp_str_to_i64(value, &v) || v < row->min || v > row->max)
        return fail_usage(p, "--%s %.*s: must be a whole number from %lld to %lld", row->name,
                          VP_STR_ARG(value), (long long)row->min, (long long)row->max);
    *(int64_t *)((char *)p->o + row->offset) = v;
    return 0;
}

/* A name may contain colons, so the last one ends it. */
static int store_step(parser *p, const cli_option *row, vp_str value)
{
    size_t colon = vp_str_rfind_char(value, ':');
    vp_str name = colon < value.n ? vp_str_head(value, colon) : VP_STR("");
    if (name.n >= sizeof p->o->step_series)
        return fail_usage(p, "--%s: the name is longer than %zu bytes", row->name,
                          sizeof p->o->step_series - 1);
    memcpy(p->o->step_series, name.p, name.n);
    p->o->step_series[name.n] = 0;
    return store_number(p, row, colon < value.n ? vp_str_skip(value, colon + 1) : value);
}

static int store_word(parser *p, const cli_option *row, vp_str value)
{
    size_t n = cli_word_count(row->value);
    char list[160];
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        if (vp_str_eq(cli_word(row->value, i), value)) {
            *(int64_t *)((char *)p->o + row->offset) = (int64_t)i;
            return 0;
        }
    for (size_t i = 0; i < n && used < sizeof list; i++) {
        vp_str w = cli_word(row->value, i);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s",
                                 i == 0       ? ""
                                 : i + 1 == n ? " or "
                                              : ", ",
                                 VP_STR_ARG(w));
    }
    return fail_usage(p, "--%s %.*s: must be %s", row->name, VP_STR_ARG(value), list);
}

static int store_item(parser *p, const cli_option *row, const char *value)
{
    cli_list *l = (cli_list *)((char *)p->o + row->offset);
    if (l->n == CLI_LIST_MAX)
        return fail_usage(p, "--%s: given more than %d times", row->name, CLI_LIST_MAX);
    l->items[l->n++] = value;
    return 0;
}

static int store_option_value(parser *p, const cli_option *row, const char *value)
{
    if (row->type != CLI_FLAG && !*value)
        return fail_usage(p, "--%s: empty value", row->name);
    switch (row->type) {
    case CLI_FLAG:
        *(bool *)((char *)p->o + row->offset) = true;
        return 0;
    case CLI_NUMBER:
        return store_number(p, row, vp_str_of(value));
    case CLI_WORD:
        return store_word(p, row, vp_str_of(value));
    case CLI_TEXT:
        *(const char **)((char *)p->o + row->offset) = value;
        return 0;
    case CLI_WORDS:
        return store_item(p, row, value);
    case CLI_STEP:
        return store_step(p, row, vp_str_of(value));
    }
    return 0;
}

static void set_initial(cli_options *o)
{
    parser p = {.o = o};
    o->top = o->port = o->step = -1;
    for (const cli_option *row = cli_option_table; row->name; row++)
        if (row->initial && (row->commands & o->command->bit))
            (void)store_option_value(&p, row, row->initial);
}

/* ---- Options ---- */

/* The row of "--NAME" or "-L" for these commands; hidden options belong to every command. */
static const cli_option *find_option(vp_str name, bool is_letter, unsigned commands)
{
    for (const cli_option *row = cli_option_table; row->name; row++)
        if ((row->commands & commands) &&
            (is_letter ? row->letter && name.n == 1 && name.p[0] == row->letter
                       : vp_str_eq(vp_str_of(row->name), name)))
            return row;
    return NULL;
}

/* Splits "--name=value", "--name", "-l", "-lVALUE". *value is NULL without one. */
static void split_option_word(const char *arg, vp_str *name, bool *is_letter, const char **value)
{
    const char *eq = strchr(arg, '=');
    *is_letter = arg[1] != '-';
    if (*is_letter) {
        *name = (vp_str){arg + 1, 1};
        *value = arg[2] ? arg + 2 : NULL;
    } else {
        *name = (vp_str){arg + 2, eq ? (size_t)(eq - arg - 2) : strlen(arg + 2)};
        *value = eq ? eq + 1 : NULL;
    }
}

static int fail_unknown_option(parser *p, const char *arg, vp_str name, bool is_letter)
{
    const char *near = is_letter ? NULL : cli_nearest(name, option_candidate, p);
    int shown = is_letter ? 2 : (int)(name.n + 2 > 200 ? 200 : name.n + 2);
    const cli_option *other = find_option(name, is_letter, CLI_EVERY);
    for (const cli_command *c = cli_commands; other && c->name; c++)
        if (other->help && (other->commands & c->bit))
            return fail_usage(p, "%.*s is an option of %s, not of %s", shown, arg, c->name,
                              p->o->command->name);
    if (near)
        return fail_usage(p, "unknown option %.*s (did you mean --%s?)", shown, arg, near);
    return fail_usage(p, "unknown option %.*s", shown, arg);
}

static int take_option(parser *p)
{
    const char *arg = p->argv[p->i], *value;
    vp_str name;
    bool is_letter;
    split_option_word(arg, &name, &is_letter, &value);
    const cli_option *row = find_option(name, is_letter, p->o->command->bit);
    if (!row)
        return fail_unknown_option(p, arg, name, is_letter);
    bool *given = &p->given[row - cli_option_table];
    if (*given && row->type != CLI_WORDS)
        return fail_usage(p, "--%s: given twice", row->name);
    *given = true;
    if (row->type == CLI_FLAG)
        return value ? fail_usage(p, "--%s: takes no value", row->name)
                     : store_option_value(p, row, "");
    if (!value) {
        if (p->i + 1 >= p->argc)
            return fail_usage(p, "--%s: missing value %s", row->name,
                              row->type == CLI_WORD ? "WORD" : row->value);
        value = p->argv[++p->i];
    }
    return store_option_value(p, row, value);
}

static int take_operand(parser *p)
{
    cli_options *o = p->o;
    if (o->operand_count >= o->command->operand_max)
        return fail_usage(p, "unexpected argument %.200s", p->argv[p->i]);
    o->operands = p->argv; /* operands are moved to the front, into positions already parsed */
    o->operands[o->operand_count++] = p->argv[p->i];
    if (o->command->bit == CLI_RECORD)
        p->only_operands = true; /* the rest belongs to the recorded program */
    return 0;
}

/* The command is the first argument that is neither an option nor its value, if it is the name of a
 * command. Returns its position, 0 if there is none. */
static int find_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        vp_str name;
        bool is_letter;
        if (argv[i][0] != '-' || !argv[i][1])
            return cli_command_named(argv[i]) ? i : 0;
        if (!strcmp(argv[i], "--"))
            return 0;
        split_option_word(argv[i], &name, &is_letter, &value);
        const cli_option *row = find_option(name, is_letter, CLI_EVERY);
        if (row && row->type != CLI_FLAG && !value)
            i++;
    }
    return 0;
}

/* Checks operands that the command itself interprets (reports, a command line, targets). */
static int settle_operands(parser *p)
{
    const cli_options *o = p->o;
    if (o->operand_count < o->command->operand_min)
        return fail_usage(p, "missing argument %s", o->command->operands);
    if (o->quiet && o->verbose)
        return fail_usage(p, "--quiet and --verbose cannot be combined");
    return 0;
}

static int settle_memory(parser *p)
{
    uint64_t bytes;
    if (!p->o->max_memory)
        return 0;
    if (!vp_str_to_size(vp_str_of(p->o->max_memory), INT64_MAX, &bytes) || bytes < 16u << 20)
        return fail_usage(p, "--max-memory %.40s: must be a size from 16M, such as 8G",
                          p->o->max_memory);
    vp_mem_set_ceiling((int64_t)bytes);
    return 0;
}

/* True if the path exists, and is not inside the directory `first`: there it names a run. */
static bool is_another_path(const char *first, const char *path)
{
    char outer[VP_PATH_MAX], inner[VP_PATH_MAX];
    struct stat st;
    if (strstr(path, "://"))
        return true;
    if (!realpath(path, inner) || !realpath(first, outer) || stat(outer, &st) < 0)
        return access(path, F_OK) == 0;
    size_t n = strlen(outer);
    return !S_ISDIR(st.st_mode) || strncmp(inner, outer, n) != 0 || inner[n] != '/';
}

/* Takes the operands after the first that are paths. */
static int settle_paths(parser *p, size_t *next)
{
    cli_options *o = p->o;
    size_t first = *next - 1;
    bool all = !(o->command->bit & CLI_OF_SESSION);
    while (*next < o->operand_count && (all || is_another_path(o->path, o->operands[*next])))
        ++*next;
    if (*next - first < 2)
        return 0;
    o->paths = o->operands + first;
    o->path_count = *next - first;
    for (size_t i = 0; i < o->path_count; i++)
        if (!strcmp(o->paths[i], "-") || strstr(o->paths[i], "://"))
            return fail_usage(p,
                              "%.200s: only files and directories of this machine can be given "
                              "together with other paths",
                              o->paths[i]);
    return 0;
}

/* Checks and combines options and operands. */
static int check_combinations(parser *p)
{
    const cli_options *o = p->o;
    if (o->quiet && o->verbose)
        return fail_usage(p, "--quiet and --verbose cannot be combined");
    if (o->bind_all && o->bind_host)
        return fail_usage(p, "--bind-all and --host cannot be combined");
    if (o->listen && (o->bind_all || o->bind_host || o->port >= 0))
        return fail_usage(p, "--listen cannot be combined with --port, --host or --bind-all");
    if (o->listen && (strncmp(o->listen, "unix:", 5) != 0 || !o->listen[5]))
        return fail_usage(p, "--listen %.200s: must be unix:PATH", o->listen);
    return 0;
}

static int settle_arguments(parser *p)
{
    cli_options *o = p->o;
    size_t next = 0;
    if (settle_memory(p))
        return CLI_USAGE;
    o->path = o->profile_dir;
    if (o->command->bit == CLI_HELP)
        return 0;
    if (o->command->bit & (CLI_OF_REPORTS | CLI_RECORD | CLI_CAPTURE | CLI_WATCH))
        return settle_operands(p);
    if (!o->path && next < o->operand_count) {
        o->path = o->operands[next++];
        if ((o->command->bit & CLI_OF_PATHS) && settle_paths(p, &next))
            return CLI_USAGE;
    }
    if (next < o->operand_count && !(o->command->bit & CLI_OF_SESSION) && o->path == o->profile_dir)
        return fail_usage(p, "--profile-dir and %.200s: the profile directory is given twice",
                          o->operands[next]);
    if (next < o->operand_count && o->session)
        return fail_usage(p, "--session and %.200s: the run is given twice", o->operands[next]);
    if (next < o->operand_count)
        o->session = o->operands[next++];
    if (next < o->operand_count)
        return fail_usage(p, "unexpected argument %.200s", o->operands[next]);
    return check_combinations(p);
}

int cli_parse(cli_options *o, int argc, char **argv)
{
    parser p = {.o = o, .argc = argc, .argv = argv};
    int at = find_command(argc, argv), rc = 0;
    *o =
        (cli_options){.command = at ? cli_command_named(argv[at]) : cli_commands, .named = at != 0};
    set_initial(o);
    for (p.i = 1; p.i < argc && !rc; p.i++) {
        const char *arg = argv[p.i];
        if (p.i == at)
            continue;
        if (!p.only_operands && !strcmp(arg, "--"))
            p.only_operands = true;
        else if (!p.only_operands && arg[0] == '-' && arg[1])
            rc = take_option(&p);
        else
            rc = take_operand(&p);
    }
    if (rc || o->help || o->version)
        return rc;
    return settle_arguments(&p);
}

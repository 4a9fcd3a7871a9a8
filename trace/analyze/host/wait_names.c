/* Waiting by its name: the words of a name or a category, told apart at what is no letter and where
 * a capital follows a small letter ("pthread_cond_wait", "std::mutex::lock", "WaitForSingleObject",
 * "epoll"). A word in the wrong company says something else: str.join, mutex_unlock, a task
 * that is polled. */
#include "trace/analyze/host/threads.h"

typedef enum word {
    NO_WORD,
    WAITS = 1 << 0, /* may wait for something to do */
    STOPS = 1 << 1, /* never waits for that */
    LOCKS = 1 << 2,
    JOINS = 1 << 3,  /* waits if it stands beside a thing that can be waited for, or alone */
    POLLS = 1 << 4,  /* waits if it does not stand beside such a thing */
    THINGS = 1 << 5, /* such a thing */
    UNDOES = 1 << 6, /* lets go, makes or asks: never waits */
} word;

#define WORD_MAX 16u

static const struct {
    /* '*' at its begin or end: with any begin or end. The first row that fits counts */
    const char *text;
    word is;
} words[] = {
    {"await", UNDOES},    {"unlock*", UNDOES},   {"unpark", UNDOES},   {"release*", UNDOES},
    {"init*", UNDOES},    {"destroy", UNDOES},   {"create*", UNDOES},  {"try*", UNDOES},
    {"wake*", UNDOES},    {"notify*", UNDOES},   {"wait*", WAITS},     {"*wait", WAITS},
    {"*sleep", STOPS},    {"barrier", STOPS},    {"recv*", WAITS},     {"park", WAITS},
    {"parked", WAITS},    {"blocked", WAITS},    {"*poll", POLLS},     {"lock", LOCKS},
    {"mutex", LOCKS},     {"rwlock", LOCKS},     {"spinlock", LOCKS},  {"futex", LOCKS},
    {"semaphore", LOCKS}, {"contention", LOCKS}, {"contended", LOCKS}, {"join", JOINS},
    {"thread*", THINGS},  {"pthread", THINGS},   {"worker*", THINGS},  {"task*", THINGS},
    {"future*", THINGS},  {"process", THINGS},   {"pool", THINGS},     {"child", THINGS},
};

static word meaning_of(vp_str w)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = words[i].text;
        vp_str row = vp_str_of(text);
        bool is = *text == '*'             ? vp_str_ends(w, vp_str_of(text + 1))
                  : text[row.n - 1] == '*' ? vp_str_starts(w, vp_str_head(row, row.n - 1))
                                           : vp_str_eq(w, row);
        if (is)
            return words[i].is;
    }
    return NO_WORD;
}

static bool is_word_letter(char c)
{
    return vp_lower(c) >= 'a' && vp_lower(c) <= 'z';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* The next word of *rest in small letters; empty behind the last. */
static vp_str next_wait_word(vp_str *rest, char *room)
{
    size_t n = 0, i = 0;
    while (i < rest->n && !is_word_letter(rest->p[i]))
        i++;
    for (size_t from = i; i < rest->n && is_word_letter(rest->p[i]); i++) {
        if (i > from && is_capital(rest->p[i]) && !is_capital(rest->p[i - 1]))
            break;
        if (n < WORD_MAX)
            room[n++] = vp_lower(rest->p[i]);
    }
    *rest = vp_str_skip(*rest, i);
    return (vp_str){room, n};
}

static wait_kind wait_kind_of_text(vp_str text)
{
    char room[WORD_MAX];
    unsigned seen = 0;
    size_t count = 0;
    vp_str rest = text;
    for (vp_str w = next_wait_word(&rest, room); w.n; w = next_wait_word(&rest, room), count++)
        seen |= (unsigned)meaning_of(w);
    if (seen & UNDOES)
        return WAIT_NONE;
    if (seen & LOCKS) /* Python's idle workers are in lock.acquire, too */
        return seen & WAITS || vp_str_find(text, VP_STR("lock.acquire")) < text.n ? WAIT_IDLE
                                                                                  : WAIT_LOCK;
    if (seen & STOPS || (seen & JOINS && (seen & THINGS || count == 1)))
        return WAIT_ANY;
    return seen & WAITS || (seen & POLLS && !(seen & THINGS)) ? WAIT_IDLE : WAIT_NONE;
}

wait_kind wait_kind_of(vp_str name, vp_str category)
{
    /* without the place in the source, which says nothing: "wait (/usr/lib/threading.py:327)" */
    wait_kind by_name = wait_kind_of_text(vp_str_head(name, vp_str_find(name, VP_STR(" ("))));
    return by_name ? by_name : wait_kind_of_text(category);
}

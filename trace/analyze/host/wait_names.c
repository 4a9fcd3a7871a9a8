/* Recognizes waiting by words of a name or a category, which are separated by non-letters and
 * before a capital after a small letter ("pthread_cond_wait", "std::mutex::lock",
 * "WaitForSingleObject", "epoll"). Next to certain other words, a word means something else:
 * str.join, mutex_unlock, a task that is polled. */
#include "trace/analyze/host/threads.h"

typedef enum word {
    NO_WORD,
    WAITS = 1 << 0, /* may wait for work */
    STOPS = 1 << 1, /* never waits for that */
    LOCKS = 1 << 2,
    JOINS = 1 << 3,  /* waits if it is next to an object that can be waited for, or alone */
    POLLS = 1 << 4,  /* waits if it is not next to such an object */
    THINGS = 1 << 5, /* such a thing */
    UNDOES = 1 << 6, /* releases, creates or queries: never waits */
} word;

#define WORD_MAX 16u

/* Sorted by the first letter. The first matching row is used. */
static const struct {
    vp_str text;
    bool begins; /* any end may follow */
    word is;
} words[] = {
    {VP_STR_INIT("await"), false, UNDOES},     {VP_STR_INIT("barrier"), false, STOPS},
    {VP_STR_INIT("blocked"), false, WAITS},    {VP_STR_INIT("create"), true, UNDOES},
    {VP_STR_INIT("contention"), false, LOCKS}, {VP_STR_INIT("contended"), false, LOCKS},
    {VP_STR_INIT("child"), false, THINGS},     {VP_STR_INIT("destroy"), false, UNDOES},
    {VP_STR_INIT("futex"), false, LOCKS},      {VP_STR_INIT("future"), true, THINGS},
    {VP_STR_INIT("init"), true, UNDOES},       {VP_STR_INIT("join"), false, JOINS},
    {VP_STR_INIT("lock"), false, LOCKS},       {VP_STR_INIT("mutex"), false, LOCKS},
    {VP_STR_INIT("notify"), true, UNDOES},     {VP_STR_INIT("park"), false, WAITS},
    {VP_STR_INIT("parked"), false, WAITS},     {VP_STR_INIT("pthread"), false, THINGS},
    {VP_STR_INIT("process"), false, THINGS},   {VP_STR_INIT("pool"), false, THINGS},
    {VP_STR_INIT("release"), true, UNDOES},    {VP_STR_INIT("recv"), true, WAITS},
    {VP_STR_INIT("rwlock"), false, LOCKS},     {VP_STR_INIT("spinlock"), false, LOCKS},
    {VP_STR_INIT("semaphore"), false, LOCKS},  {VP_STR_INIT("try"), true, UNDOES},
    {VP_STR_INIT("thread"), true, THINGS},     {VP_STR_INIT("task"), true, THINGS},
    {VP_STR_INIT("unlock"), true, UNDOES},     {VP_STR_INIT("unpark"), false, UNDOES},
    {VP_STR_INIT("wake"), true, UNDOES},       {VP_STR_INIT("wait"), true, WAITS},
    {VP_STR_INIT("worker"), true, THINGS},
};

/* Suffixes, which count unless the word negates them: "await", "trywait". */
static const struct {
    vp_str text;
    word is;
} ends[] = {
    {VP_STR_INIT("wait"), WAITS},
    {VP_STR_INIT("sleep"), STOPS},
    {VP_STR_INIT("poll"), POLLS},
};

static word meaning_of(vp_str w)
{
    word by_begin = NO_WORD;
    for (size_t i = 0; i < sizeof words / sizeof *words && *words[i].text.p <= *w.p; i++)
        if (*words[i].text.p == *w.p && vp_str_starts(w, words[i].text) &&
            (words[i].begins || w.n == words[i].text.n)) {
            by_begin = words[i].is;
            break;
        }
    for (size_t i = 0; by_begin != UNDOES && i < sizeof ends / sizeof *ends; i++)
        if (vp_str_ends(w, ends[i].text))
            return ends[i].is;
    return by_begin;
}

static bool is_word_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* The next word of *rest in lower case; empty after the last. */
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
    /* without the place in the source, which is not informative: "wait (/usr/lib/threading.py:327)"
     */
    wait_kind by_name = wait_kind_of_text(vp_str_head(name, vp_str_find(name, VP_STR(" ("))));
    return by_name ? by_name : wait_kind_of_text(category);
}

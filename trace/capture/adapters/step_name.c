#include "trace/capture/adapters/step_name.h"

#define DIGITS_MAX 18u /* fits in 63 bits */

static const char *const words[] = {"step", "iteration", "iter"};

/* Removes separators at the end, which may precede the number. */
static vp_str trim_separators(vp_str s)
{
    while (s.n && memchr(" \t#_:=-[(.", s.p[s.n - 1], 10))
        s.n--;
    return s;
}

static bool is_step_letter(char c)
{
    c = vp_lower(c);
    return c >= 'a' && c <= 'z';
}

bool step_word(vp_str name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        vp_str w = vp_str_of(words[i]);
        if (name.n < w.n)
            continue;
        vp_str end = vp_str_skip(name, name.n - w.n);
        /* "ProfilerStep" is a step, "footstep" is not: the word starts the name, follows a
         * non-letter, or starts with a capital. */
        bool begins = name.n == w.n || !is_step_letter(name.p[name.n - w.n - 1]) ||
                      (end.p[0] >= 'A' && end.p[0] <= 'Z');
        if (begins && vp_str_eq_nocase(end, w))
            return true;
    }
    return false;
}

/* The digits at the end of a name, or before a closing bracket at its end; empty: none. */
static vp_str digits_of(vp_str s)
{
    if (s.n && memchr(")]", s.p[s.n - 1], 2))
        s.n--;
    size_t n = 0;
    while (n < s.n && s.p[s.n - n - 1] >= '0' && s.p[s.n - n - 1] <= '9')
        n++;
    return vp_str_skip(s, s.n - n);
}

vp_str step_name(vp_str name)
{
    vp_str digits = digits_of(name);
    if (!digits.n)
        return name;
    vp_str word = trim_separators(vp_str_head(name, (size_t)(digits.p - name.p)));
    return step_word(word) ? word : name;
}

bool step_number(vp_str name, uint64_t *number)
{
    vp_str digits = digits_of(name);
    return digits.n && digits.n <= DIGITS_MAX && step_name(name).n < name.n &&
           vp_str_to_u64(digits, number);
}

/* Index of a name in the table; STEP_NAMES_MAX: the table is full. */
static size_t step_name_slot(step_rule *r, uint64_t hash)
{
    for (size_t i = 0; i < STEP_NAMES_MAX; i++) {
        uint64_t have = atomic_load(&r->names[i]);
        if (!have && atomic_compare_exchange_strong(&r->names[i], &have, hash))
            return i;
        if (have == hash)
            return i;
    }
    return STEP_NAMES_MAX;
}

bool step_of_range(step_rule *r, vp_str name, bool outermost, uint64_t *number)
{
    if (step_number(name, number)) {
        atomic_store_explicit(&r->numbered, true, memory_order_relaxed);
        return true;
    }
    if (!outermost || atomic_load_explicit(&r->numbered, memory_order_relaxed))
        return false;
    uint64_t hash = vp_hash(name.p, name.n, 1) | 1, none = 0;
    uint64_t chosen = atomic_load(&r->chosen);
    if (chosen && chosen != hash)
        return false;
    size_t at = step_name_slot(r, hash);
    if (at == STEP_NAMES_MAX)
        return false;
    *number = atomic_fetch_add(&r->counts[at], 1);
    if (!*number)
        return false;
    return atomic_compare_exchange_strong(&r->chosen, &none, hash) || none == hash;
}

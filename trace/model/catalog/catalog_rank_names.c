#include "trace/model/catalog/catalog_rank_names.h"

#include <stdio.h>

#include "trace/base/hash.h"
#include "trace/model/catalog/catalog_impl.h"

/* Longer numbers are times and identifiers. */
#define DIGITS_MAX 8u

/* Words that a number of a rank follows. Those of kinds of parallelism that are also other words
 * ("ep" is an epoch, too) count only after another rank. */
static const struct {
    char word[8];
    bool strong, follows;
} rank_words[] = {
    {"rank", true, false},    {"tp", false, false},   {"dp", false, false},   {"pp", false, false},
    {"worker", false, false}, {"node", false, false}, {"host", false, false}, {"gpu", false, false},
    {"ep", false, true},      {"cp", false, true},    {"sp", false, true},    {"dcp", false, true},
};
#define WORDS (sizeof rank_words / sizeof *rank_words)

typedef struct rank_word {
    size_t at, digits_at, end; /* of the word, of its number, and after it */
    size_t word;               /* index in rank_words */
    uint32_t number;
} rank_word;

static bool is_letter(char c)
{
    return vp_lower(c) >= 'a' && vp_lower(c) <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The word at this position, with its number. */
static bool rank_word_at(rank_word *out, vp_str path, size_t at, bool any_before)
{
    vp_str rest = vp_str_skip(path, at);
    for (size_t w = 0; w < WORDS; w++) {
        vp_str word = vp_str_of(rank_words[w].word);
        if (!vp_str_starts_nocase(rest, word) || (rank_words[w].follows && !any_before))
            continue;
        size_t i = word.n, first;
        i += i < rest.n && strchr("-_=.", rest.p[i]);
        first = i;
        uint32_t number = 0;
        for (; i < rest.n && is_digit(rest.p[i]) && i - first < DIGITS_MAX; i++)
            number = number * 10 + (uint32_t)(rest.p[i] - '0');
        if (i == first || (i < rest.n && (is_digit(rest.p[i]) || is_letter(rest.p[i]))))
            continue;
        *out = (rank_word){at, at + first, at + i, w, number};
        return true;
    }
    return false;
}

/* The next word from *at on; false at the end of the path. */
static bool next_rank_word(rank_word *out, vp_str path, size_t *at, bool any_before)
{
    for (size_t i = *at; i < path.n; i++) {
        if (i && is_letter(path.p[i - 1]))
            continue;
        if (!rank_word_at(out, path, i, any_before))
            continue;
        *at = out->end;
        return true;
    }
    return false;
}

static uint64_t hash_more(uint64_t hash, const char *p, size_t n)
{
    return vp_hash(p, n, hash);
}

/* "host_pid.TIME.pt.trace.json": the time, and without a rank also the process, differ between
 * ranks. Sets *stem to the part that is compared, and *end to the end of the part that is not. */
static bool kineto_name(vp_str name, vp_str *stem, size_t *end)
{
    vp_str digits;
    int64_t ns;
    if (!cat_worker_time(name, stem, &digits, &ns))
        return false;
    *end = (size_t)(digits.p + digits.n - name.p);
    return true;
}

uint64_t cat_form_without_numbers(vp_str path)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < path.n;) {
        size_t from = i;
        bool digits = is_digit(path.p[i]);
        while (i < path.n && is_digit(path.p[i]) == digits)
            i++;
        hash = hash_more(hash, digits ? "0" : path.p + from, digits ? 1 : i - from);
    }
    return hash | 1;
}

static void add_label(cat_rank_name *out, size_t *n, const rank_word *w)
{
    const char *word = rank_words[w->word].word;
    int more = snprintf(out->label + *n, sizeof out->label - *n, "%s%s%u", *n ? "-" : "", word,
                        (unsigned)w->number);
    *n = more > 0 && *n + (size_t)more < sizeof out->label ? *n + (size_t)more : *n;
    out->label[*n] = 0;
}

void cat_rank_name_of(cat_rank_name *out, vp_str path)
{
    static const char gz[] = ".gz";
    size_t at = 0, from = 0, label_n = 0, ranks = 0, words_in_name = 0, kineto_end = 0;
    rank_word w;
    if (vp_str_ends(path, VP_STR(gz)))
        path.n -= sizeof gz - 1;
    size_t slash = vp_str_rfind_char(path, '/'), name_at = slash == path.n ? 0 : slash + 1;
    vp_str stem;
    bool kineto = kineto_name(vp_str_skip(path, name_at), &stem, &kineto_end);
    *out = (cat_rank_name){
        .form = 1, .base = 1, .numbers = 1, .loose = cat_form_without_numbers(path)};
    size_t end = kineto ? name_at + stem.n : path.n;
    while (next_rank_word(&w, vp_str_head(path, end), &at, label_n > 0)) {
        out->form = hash_more(out->form, path.p + from, w.digits_at - from);
        if (w.at >= name_at) {
            size_t begin = from > name_at ? from : name_at;
            out->base = hash_more(out->base, path.p + begin, w.digits_at - begin);
            words_in_name++;
        }
        out->numbers = hash_more(out->numbers, (const char *)&w.number, sizeof w.number);
        out->strong |= rank_words[w.word].strong;
        if (rank_words[w.word].strong) {
            out->rank = w.number;
            out->has_rank = !ranks++;
        }
        add_label(out, &label_n, &w);
        from = w.end;
    }
    if (!label_n) {
        out->form = out->base = 0;
        return;
    }
    /* The rest; of a Kineto name without a rank only the directory, and never the time. */
    size_t rest = kineto && !words_in_name ? name_at : end;
    out->form = hash_more(out->form, path.p + from, rest > from ? rest - from : 0) | 1;
    size_t begin = from > name_at ? from : name_at;
    out->base = words_in_name ? hash_more(out->base, path.p + begin, end - begin) | 1 : 0;
}

int cat_rank_form(vp_buf *b, vp_str path)
{
    size_t at = 0, from = 0;
    rank_word w;
    bool any = false;
    while (next_rank_word(&w, path, &at, any)) {
        VP_TRY(vp_buf_str(b, (vp_str){path.p + from, w.digits_at - from}));
        VP_TRY(vp_buf_putc(b, 'N'));
        from = w.end;
        any = true;
    }
    return vp_buf_str(b, vp_str_skip(path, from));
}

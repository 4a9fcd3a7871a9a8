/* Every field of the JSON documents has what the schema and the reference page say about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/report/schema/documents.h"

static void check_sentence(const char *where, const char *key, const char *text)
{
    size_t words = 1;
    if (!text)
        fail_msg("%s.%s has no description", where, key);
    for (const char *p = text; *p; p++)
        words += *p == ' ';
    if (words > 25)
        fail_msg("%s.%s: a sentence of %zu words", where, key, words);
    if (text[strlen(text) - 1] != '.' || strstr(text, "..") || strchr(text, '|'))
        fail_msg("%s.%s: no sentence: %s", where, key, text);
}

static void check_words(const char *where, const rep_field *f)
{
    const rep_word_list *l = rep_words_of(f);
    size_t n = 0;
    if (!l)
        fail_msg("%s.%s: its words have no descriptions", where, f->key);
    while (f->words[n])
        n++;
    if (n != l->n)
        fail_msg("%s.%s: %zu words, %zu descriptions", where, f->key, n, l->n);
}

static void check_rows(const char *where, const rep_field *fields)
{
    for (const rep_field *f = fields; f->key; f++) {
        check_sentence(where, f->key, f->about);
        if (f->type == REP_WORD || f->type == REP_BY_WORD || f->type == REP_DELTAS)
            check_words(where, f);
        if (f->type == REP_NUMBER && !rep_field_unit(f))
            fail_msg("%s.%s has no unit", where, f->key);
        if (f->type == REP_OBJECT && f->size && !rep_field_null(f))
            fail_msg("%s.%s: what null means is missing", where, f->key);
        for (const rep_field *other = fields; other < f; other++)
            if (!strcmp(other->key, f->key))
                fail_msg("%s.%s is described twice", where, f->key);
    }
}

/* Objects of all documents share the headings of one page. */
static void check_name(rep_tables *all, const rep_field *fields)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->list[i] == fields)
            return;
        if (!strcmp(rep_table_name(all->list[i]), rep_table_name(fields)))
            fail_msg("two objects are called %s", rep_table_name(fields));
    }
    assert_true(all->n < sizeof all->list / sizeof *all->list);
    all->list[all->n++] = fields;
}

static void test_every_field_is_described(void **state)
{
    static rep_tables all, t;
    (void)state;
    for (const rep_document *d = rep_documents; d->name; d++) {
        check_sentence(d->name, "title", d->about);
        for (const rep_part *part = d->parts; part->fields; part++)
            check_rows(d->name, part->fields);
        rep_tables_of(&t, d);
        assert_in_range(t.n, 1, sizeof t.list / sizeof *t.list - 1);
        for (size_t i = 0; i < t.n; i++) {
            assert_non_null(rep_table_name(t.list[i]));
            check_sentence(d->name, rep_table_name(t.list[i]), rep_table_about(t.list[i]));
            check_rows(rep_table_name(t.list[i]), t.list[i]);
            check_name(&all, t.list[i]);
        }
    }
}

static void test_every_word_is_described(void **state)
{
    (void)state;
    for (const rep_word_list *l = rep_word_lists; l->words; l++) {
        for (size_t i = 0; i < l->n; i++)
            check_sentence(l->name, l->words[i] ? l->words[i] : "?", l->about[i]);
        assert_null(l->words[l->n]);
    }
}

static void test_schemas_are_written(void **state)
{
    vp_buf b;
    (void)state;
    for (const rep_document *d = rep_documents; d->name; d++) {
        vp_buf_init(&b, 1u << 20);
        assert_int_equal(rep_schema_json(&b, d->name), 0);
        assert_true(vp_str_find(vp_buf_view(&b), vp_str_of(d->schema)) < b.n);
        vp_buf_free(&b);
    }
    vp_buf_init(&b, 1u << 20);
    assert_int_equal(rep_schema_json(&b, "nothing"), VP_ENOTFOUND);
    assert_int_equal(b.n, 0);
    vp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_is_described),
        cmocka_unit_test(test_every_word_is_described),
        cmocka_unit_test(test_schemas_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

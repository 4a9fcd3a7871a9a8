/* docs/reference/report.md, from the field tables. */
#include "trace/report/schema/documents.h"

#include <string.h>

static const char head[] =
    "# The JSON report\n"
    "\n"
    "This page is written by `scripts/docs` from the field tables in `trace/report/data/`; edit "
    "those.\n"
    "[json.md](json.md) has the rules that all JSON of `view_profile` follows.\n"
    "\n"
    "`view_profile report --format json` writes the whole analysis of a run as one JSON object.\n"
    "`view_profile findings`, `compare` and `merge` read such a file in place of the profile.\n"
    "\n"
    "```console\n"
    "$ view_profile report --format json -o run.json profiles/\n"
    "$ view_profile findings run.json\n"
    "```\n"
    "\n"
    "The server answers the same documents at `/api/v1/session/ID/report` and\n"
    "`/api/v1/session/ID/findings`.\n"
    "\n"
    "## A schema only grows\n"
    "\n"
    "* The key `schema` names the document and its version, such as `view_profile.report/1`.\n"
    "* Within a version, a key keeps its name, type, unit and meaning, and no key is removed.\n"
    "* Later releases add keys and words. Readers must ignore keys that they do not know, and "
    "treat\n"
    "  words that they do not know as *other*.\n"
    "* Any other change gets a new version number.\n"
    "* Messages, titles and suggestions are written for people. Their wording may change.\n"
    "\n"
    "## Schemas\n"
    "\n"
    "Each document has a [JSON Schema](https://json-schema.org/draft/2020-12) in\n"
    "`share/view_profile/` of the installation. A schema accepts every document that its own or "
    "an\n"
    "earlier release wrote. `x-unit` is the unit of a value and `x-null` the meaning of null.\n"
    "\n"
    "With the Python package `jsonschema`:\n"
    "\n"
    "```python\n"
    "import json\n"
    "import jsonschema\n"
    "\n"
    "with open(\"run.json\") as report, open(\"report.schema.json\") as schema:\n"
    "    jsonschema.validate(json.load(report), json.load(schema))\n"
    "```\n"
    "\n"
    "## Reading the tables\n"
    "\n"
    "* The column *null if* is empty if the value is never null.\n"
    "* *not full*: the value is null if `analysis.depth` is `ops`, for example in the output of\n"
    "  `view_profile top`.\n"
    "* A *share* is a number from 0 to 1.\n"
    "* Names of devices may repeat; `device_index` is the position in `devices`.\n"
    "* Integers may exceed 2^53. Use a parser with 64-bit integers.\n"
    "\n"
    "## Examples\n"
    "\n"
    "The five ops with the most self time, in ms:\n"
    "\n"
    "```console\n"
    "$ jq -r '.ops[:5][] | [.name, .calls, .self_ps / 1e9] | @tsv' run.json\n"
    "```\n"
    "\n"
    "The share of idle time of each device, in Python:\n"
    "\n"
    "```python\n"
    "import json\n"
    "\n"
    "with open(\"run.json\") as f:\n"
    "    report = json.load(f)\n"
    "for device in report[\"devices\"]:\n"
    "    parts = device[\"breakdown\"]\n"
    "    print(device[\"name\"], parts[\"idle_ps\"] / parts[\"window_ps\"])\n"
    "```\n";

static void page_put_link(vp_buf *b, const char *name)
{
    vp_buf_printf(b, "[%s](#", name);
    for (; *name; name++)
        vp_buf_putc(b, *name == ' ' ? '-' : *name);
    vp_buf_putc(b, ')');
}

static void page_put_words(vp_buf *b, const rep_field *f)
{
    const rep_word_list *l = rep_words_of(f);
    if (l)
        page_put_link(b, l->name);
}

static void page_put_type(vp_buf *b, const rep_field *f)
{
    switch ((rep_field_type)f->type) {
    case REP_TEXT:
    case REP_DEVICE:
        vp_buf_puts(b, "string");
        break;
    case REP_COUNT:
    case REP_TIME:
    case REP_INTEGER:
    case REP_ID:
    case REP_ROUNDED:
        vp_buf_puts(b, "integer");
        break;
    case REP_NUMBER:
        vp_buf_puts(b, "number");
        break;
    case REP_BOOL:
        vp_buf_puts(b, "boolean");
        break;
    case REP_WORD:
        page_put_words(b, f);
        break;
    case REP_BY_WORD:
        vp_buf_puts(b, "object by ");
        page_put_words(b, f);
        break;
    case REP_DELTAS:
        page_put_link(b, rep_table_name(rep_delta_fields));
        vp_buf_puts(b, " by ");
        page_put_words(b, f);
        break;
    case REP_OBJECT:
        page_put_link(b, rep_table_name(f->fields));
        break;
    case REP_LIST:
    case REP_CHILDREN:
        vp_buf_puts(b, "array of ");
        page_put_link(b, rep_table_name(f->fields));
        break;
    case REP_BY_DEVICE:
        vp_buf_puts(b, "array of ");
        page_put_link(b, rep_table_name(f->fields));
        vp_buf_puts(b, " with `device`, `host`, `device_index`");
        break;
    case REP_COUNTS:
        vp_buf_puts(b, f->sparse ? "array of integers or null" : "array of integers");
        break;
    case REP_PAIRS:
        vp_buf_puts(b, "array of pairs of integers");
        break;
    case REP_TEXTS:
        vp_buf_puts(b, "array of strings");
        break;
    }
}

static void page_put_null(vp_buf *b, const rep_field *f)
{
    const char *null = rep_field_null(f);
    vp_buf_printf(b, "%s%s%s", null ? null : "", null && f->full ? "; " : "",
                  f->full ? "not full" : "");
    if (f->optional)
        vp_buf_puts(b, "key missing if none");
}

static void page_put_row(vp_buf *b, const rep_field *f)
{
    const char *unit = rep_field_unit(f);
    vp_buf_printf(b, "| `%s` | ", f->key);
    page_put_type(b, f);
    vp_buf_printf(b, " | %s | ", unit ? unit : "");
    page_put_null(b, f);
    vp_buf_printf(b, " | %s |\n", f->about);
    if (f->type != REP_DEVICE)
        return;
    vp_buf_puts(b, "| `host` | string |  | unknown | Host of that device. |\n");
    vp_buf_printf(b,
                  "| `device_index` | integer | index | %s | Position of that device in "
                  "`devices`. |\n",
                  f->needed ? "" : "unknown");
}

static void page_begin_table(vp_buf *b)
{
    vp_buf_puts(b, "\n| key | type | unit | null if | description |\n|---|---|---|---|---|\n");
}

static void page_put_document(vp_buf *b, const rep_document *d)
{
    bool whole = false;
    vp_buf_printf(b, "\n## %s\n\n%s\nThe schema is `%s.schema.json`.\n", d->schema, d->about,
                  d->name);
    page_begin_table(b);
    for (const rep_part *part = d->parts; part->fields; part++) {
        if (part->whole && !whole) {
            whole = true;
            vp_buf_puts(b, "\nThe output of `view_profile top` ends here. A whole report goes on "
                           "with:\n");
            page_begin_table(b);
        }
        for (const rep_field *f = part->fields; f->key; f++)
            page_put_row(b, f);
    }
}

static bool page_is_among(const rep_tables *t, const rep_field *fields)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i] == fields)
            return true;
    return false;
}

/* Each object once, even if it is part of several documents. */
static void page_put_objects(vp_buf *b)
{
    rep_tables done = {.n = 0}, t;
    vp_buf_puts(b, "\n## Objects\n");
    for (const rep_document *d = rep_documents; d->name; d++) {
        rep_tables_of(&t, d);
        for (size_t i = 0; i < t.n; i++) {
            if (page_is_among(&done, t.list[i]))
                continue;
            done.list[done.n++] = t.list[i];
            vp_buf_printf(b, "\n### %s\n\n%s\n", rep_table_name(t.list[i]),
                          rep_table_about(t.list[i]));
            page_begin_table(b);
            for (const rep_field *f = t.list[i]; f->key; f++)
                page_put_row(b, f);
        }
    }
}

static void page_put_word_lists(vp_buf *b)
{
    vp_buf_puts(b, "\n## Words\n");
    for (const rep_word_list *l = rep_word_lists; l->words; l++) {
        vp_buf_printf(b, "\n### %s\n\n| word | meaning |\n|---|---|\n", l->name);
        for (size_t i = 0; i < l->n; i++)
            vp_buf_printf(b, "| `%s` | %s |\n", l->words[i], l->about[i]);
    }
}

int rep_reference(vp_buf *b)
{
    vp_buf_puts(b, head);
    for (const rep_document *d = rep_documents; d->name; d++)
        page_put_document(b, d);
    page_put_objects(b);
    page_put_word_lists(b);
    return b->status;
}

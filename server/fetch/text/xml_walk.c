#include "server/fetch/text/xml_walk.h"

#include <time.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"

#define DEPTH_MAX 32u

/* The state of the parser. */
enum {
    IN_TEXT,
    IN_OPEN,     /* behind < */
    IN_NAME,     /* of a beginning */
    IN_TAG,      /* its attributes */
    IN_SINGLE,   /* 'value' */
    IN_DOUBLE,   /* "value" */
    IN_SLASH,    /* behind / of a tag */
    IN_END_NAME, /* of an end */
    IN_QUESTION, /* <? … ?> */
    IN_BANG,     /* behind <! */
    IN_COMMENT,  /* <!-- … --> */
    IN_CDATA,    /* <![CDATA[ … ]]> */
    IN_ENTITY,   /* behind & */
};

void xml_begin(xml_walk *x, xml_tell *tell, void *ctx)
{
    *x = (xml_walk){.tell = tell, .ctx = ctx};
}

static int fail_damaged_xml(void)
{
    return vp_fail(VP_ECORRUPT, "the listing of the server is not valid XML");
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void xml_put_text(xml_walk *x, char c)
{
    if (x->text_n < XML_TEXT_MAX)
        x->text[x->text_n++] = c;
    else
        x->is_cut = true;
}

static void xml_put_name(xml_walk *x, char c)
{
    if (c == ':')
        x->name_n = 0; /* the previous text was a namespace prefix */
    else if (x->name_n < XML_NAME_MAX)
        x->name[x->name_n++] = c;
}

static void xml_put_utf8(xml_walk *x, uint32_t u)
{
    if (u < 0x80) {
        xml_put_text(x, (char)u);
    } else if (u < 0x800) {
        xml_put_text(x, (char)(0xc0 | u >> 6));
        xml_put_text(x, (char)(0x80 | (u & 63)));
    } else {
        if (u < 0x10000) {
            xml_put_text(x, (char)(0xe0 | u >> 12));
        } else {
            xml_put_text(x, (char)(0xf0 | u >> 18));
            xml_put_text(x, (char)(0x80 | (u >> 12 & 63)));
        }
        xml_put_text(x, (char)(0x80 | (u >> 6 & 63)));
        xml_put_text(x, (char)(0x80 | (u & 63)));
    }
}

/* #10 or #xA */
static bool parse_char_reference(vp_str s, uint32_t *out)
{
    uint32_t v = 0;
    bool is_hex = s.n > 1 && vp_lower(s.p[1]) == 'x';
    s = vp_str_skip(s, is_hex ? 2 : 1);
    for (size_t i = 0; i < s.n; i++) {
        char c = vp_lower(s.p[i]);
        uint32_t digit = c >= '0' && c <= '9'             ? (uint32_t)(c - '0')
                         : is_hex && c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                                          : 99;
        if (digit == 99 || v > 0x10ffff)
            return false;
        v = v * (is_hex ? 16 : 10) + digit;
    }
    *out = v;
    return s.n && v && v <= 0x10ffff && (v & ~0x7ffu) != 0xd800;
}

static int end_entity(xml_walk *x)
{
    static const struct {
        vp_str name;
        char c;
    } five[] = {{VP_STR_INIT("lt"), '<'},
                {VP_STR_INIT("gt"), '>'},
                {VP_STR_INIT("amp"), '&'},
                {VP_STR_INIT("quot"), '"'},
                {VP_STR_INIT("apos"), '\''}};
    vp_str s = {x->run, x->run_n};
    uint32_t u;
    x->state = IN_TEXT;
    for (size_t i = 0; i < sizeof five / sizeof *five; i++)
        if (vp_str_eq(s, five[i].name)) {
            xml_put_text(x, five[i].c);
            return 0;
        }
    if (!s.n || s.p[0] != '#' || !parse_char_reference(s, &u))
        return fail_damaged_xml();
    xml_put_utf8(x, u);
    return 0;
}

static vp_str trimmed_xml_text(const xml_walk *x)
{
    vp_str s = {x->text, x->text_n};
    while (s.n && is_space(s.p[0]))
        s = vp_str_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

static int xml_tell_element(xml_walk *x, bool is_end)
{
    if (!x->name_n || (is_end && !x->depth))
        return fail_damaged_xml();
    if (is_end)
        x->depth--;
    else if (++x->depth > DEPTH_MAX)
        return fail_damaged_xml();
    x->had_root = true;
    if (is_end && x->is_cut)
        return vp_fail(VP_ELIMIT, "a text in the listing of the server is longer than %u bytes",
                       XML_TEXT_MAX);
    int rc = x->tell(x->ctx, is_end, (vp_str){x->name, x->name_n}, trimmed_xml_text(x));
    x->text_n = 0;
    x->is_cut = false;
    return rc;
}

static int begin_run(xml_walk *x, int state)
{
    x->state = state;
    x->run_n = 0;
    return 0;
}

static int in_text(xml_walk *x, char c)
{
    if (c == '<')
        return begin_run(x, IN_OPEN);
    if (c == '&')
        return begin_run(x, IN_ENTITY);
    if (!x->depth && !is_space(c) && (unsigned char)c < 0x80)
        return fail_damaged_xml(); /* except a byte order mark, no text is allowed outside */
    xml_put_text(x, c);
    return 0;
}

static int in_open(xml_walk *x, char c)
{
    x->name_n = 0;
    if (c == '/')
        x->state = IN_END_NAME;
    else if (c == '?')
        return begin_run(x, IN_QUESTION);
    else if (c == '!')
        return begin_run(x, IN_BANG);
    else if (is_space(c) || c == '>' || (!x->depth && x->had_root))
        return fail_damaged_xml();
    else {
        x->state = IN_NAME;
        x->text_n = 0; /* text between elements is skipped */
        x->is_cut = false;
        xml_put_name(x, c);
    }
    return 0;
}

/* The tag's name, and its rest. */
static int in_tag(xml_walk *x, char c)
{
    if (c == '>') {
        x->state = IN_TEXT;
        return xml_tell_element(x, false);
    }
    if (x->state == IN_TAG)
        xml_put_text(x, c);
    if (c == '/')
        x->state = IN_SLASH;
    else if (x->state == IN_TAG && (c == '"' || c == '\''))
        x->state = c == '"' ? IN_DOUBLE : IN_SINGLE;
    else if (is_space(c))
        x->state = IN_TAG;
    else if (x->state == IN_NAME)
        xml_put_name(x, c);
    return 0;
}

static int in_quotes(xml_walk *x, char c)
{
    xml_put_text(x, c);
    if (c == (x->state == IN_DOUBLE ? '"' : '\''))
        x->state = IN_TAG;
    return 0;
}

static int in_slash(xml_walk *x, char c)
{
    if (c != '>')
        return fail_damaged_xml();
    x->state = IN_TEXT;
    VP_TRY(xml_tell_element(x, false));
    return xml_tell_element(x, true);
}

static int in_end_name(xml_walk *x, char c)
{
    if (c == '>') {
        x->state = IN_TEXT;
        return xml_tell_element(x, true);
    }
    if (!is_space(c))
        xml_put_name(x, c);
    return 0;
}

/* The last bytes, up to the length of any terminator. */
static bool xml_ends_with(xml_walk *x, char c, vp_str end)
{
    if (x->run_n == 3) {
        x->run[0] = x->run[1];
        x->run[1] = x->run[2];
        x->run_n = 2;
    }
    x->run[x->run_n++] = c;
    return vp_str_ends((vp_str){x->run, x->run_n}, end);
}

static int in_bang(xml_walk *x, char c)
{
    vp_str comment = VP_STR("--"), data = VP_STR("[CDATA[");
    x->run[x->run_n++] = c;
    vp_str s = {x->run, x->run_n};
    if (vp_str_eq(s, comment))
        return begin_run(x, IN_COMMENT);
    if (vp_str_eq(s, data))
        return begin_run(x, IN_CDATA);
    return vp_str_starts(comment, s) || vp_str_starts(data, s) ? 0 : fail_damaged_xml();
}

static int in_cdata(xml_walk *x, char c)
{
    xml_put_text(x, c);
    if (!xml_ends_with(x, c, VP_STR("]]>")))
        return 0;
    x->text_n -= x->text_n >= 3 && !x->is_cut ? 3 : 0;
    return begin_run(x, IN_TEXT);
}

static int in_entity(xml_walk *x, char c)
{
    if (c == ';')
        return end_entity(x);
    if (x->run_n == sizeof x->run)
        return fail_damaged_xml();
    x->run[x->run_n++] = c;
    return 0;
}

/* A comment, or an instruction. */
static int in_aside(xml_walk *x, char c)
{
    if (xml_ends_with(x, c, x->state == IN_COMMENT ? VP_STR("-->") : VP_STR("?>")))
        x->state = IN_TEXT;
    return 0;
}

static int xml_step(xml_walk *x, char c)
{
    switch (x->state) {
    case IN_TEXT:
        return in_text(x, c);
    case IN_OPEN:
        return in_open(x, c);
    case IN_NAME:
    case IN_TAG:
        return in_tag(x, c);
    case IN_SINGLE:
    case IN_DOUBLE:
        return in_quotes(x, c);
    case IN_SLASH:
        return in_slash(x, c);
    case IN_END_NAME:
        return in_end_name(x, c);
    case IN_BANG:
        return in_bang(x, c);
    case IN_CDATA:
        return in_cdata(x, c);
    case IN_ENTITY:
        return in_entity(x, c);
    default:
        return in_aside(x, c);
    }
}

/* Appends a run of text at once, for speed: most of a listing is text. */
static size_t take_run(xml_walk *x, const char *p, size_t n)
{
    size_t room = XML_TEXT_MAX - x->text_n, i = 0;
    n = n < room ? n : room;
    if (x->state != IN_TEXT || !x->depth)
        return 0;
    while (i < n && p[i] != '<' && p[i] != '&')
        i++;
    memcpy(x->text + x->text_n, p, i);
    x->text_n += i;
    return i;
}

int xml_feed(xml_walk *x, vp_str piece)
{
    for (size_t i = 0; i < piece.n; i++) {
        i += take_run(x, piece.p + i, piece.n - i);
        if (i < piece.n)
            VP_TRY(xml_step(x, piece.p[i]));
    }
    return 0;
}

int xml_end(const xml_walk *x)
{
    return x->had_root && !x->depth && x->state == IN_TEXT
               ? 0
               : vp_fail(VP_ECORRUPT, "the listing of the server is cut off");
}

int64_t xml_time(vp_str s)
{
    static const char stops[] = "--T::";
    uint64_t v[6], ns = 0, unit = 1000000000;
    struct tm t = {0};
    for (size_t i = 0; i < 6; i++) {
        if (!vp_take_uint(&s, 9999, &v[i]) || (i < 5 && (!s.n || s.p[0] != stops[i])))
            return 0;
        s = vp_str_skip(s, i < 5);
    }
    if (s.n && s.p[0] == '.')
        for (s = vp_str_skip(s, 1); s.n && s.p[0] >= '0' && s.p[0] <= '9' && unit > 1;
             s = vp_str_skip(s, 1))
            ns += (uint64_t)(s.p[0] - '0') * (unit /= 10);
    t.tm_year = (int)v[0] - 1900;
    t.tm_mon = (int)v[1] - 1;
    t.tm_mday = (int)v[2];
    t.tm_hour = (int)v[3];
    t.tm_min = (int)v[4];
    t.tm_sec = (int)v[5];
    time_t unix_s = timegm(&t);
    return unix_s > 0 && unix_s < (int64_t)9e9 ? unix_s * 1000000000 + (int64_t)ns : 0;
}

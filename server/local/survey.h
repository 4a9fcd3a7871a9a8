/* The checks of `view_profile doctor`: one line per check, with advice if it is not ok. Read-only;
 * no process keeps running; takes a few seconds at most. */
#ifndef VP_LOCAL_SURVEY_H
#define VP_LOCAL_SURVEY_H

#include <stddef.h>

typedef enum survey_state {
    SURVEY_OK,
    SURVEY_OPTIONAL, /* an optional part is missing */
    SURVEY_FAILED    /* serve cannot work without it */
} survey_state;

typedef struct survey_line {
    const char *name; /* set by the caller */
    survey_state state;
    char detail[512]; /* one line; may hold raw bytes of paths */
    char advice[512]; /* what to do; "" for SURVEY_OK */
} survey_line;

/* Each check fills in its line; detail and advice are "" before. */
typedef void survey_fn(survey_line *out);
survey_fn survey_temp, survey_browser, survey_own_port, survey_tensorboard_port, survey_openat2,
    survey_landlock, survey_inotify;

/* Finds the path of a library in a child process, so that its initializers do not run in this
 * process. "" if not found. */
typedef void survey_find_fn(char *path, size_t cap);
void survey_aside(char *path, size_t cap, survey_find_fn *find);

/* Sets state, detail and advice. */
void survey_say(survey_line *out, survey_state state, const char *advice, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif

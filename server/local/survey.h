/* What this machine offers to the viewer: one line a question, with an advice where the answer is
 * no. For `view_profile doctor`. Asks and changes nothing, starts nothing that stays; a few seconds
 * at most. */
#ifndef VP_LOCAL_SURVEY_H
#define VP_LOCAL_SURVEY_H

#include <stddef.h>

typedef enum survey_state {
    SURVEY_OK,
    SURVEY_OPTIONAL, /* something is missing that the rest does without */
    SURVEY_FAILED    /* nothing can be served without it */
} survey_state;

typedef struct survey_line {
    const char *name; /* set by the caller */
    survey_state state;
    char detail[512]; /* one line; may hold raw bytes of paths */
    char advice[512]; /* what to do; "" for SURVEY_OK */
} survey_line;

/* Fill in what was found; detail and advice come as "". */
typedef void survey_fn(survey_line *out);
survey_fn survey_temp, survey_browser, survey_own_port, survey_tensorboard_port, survey_openat2,
    survey_landlock, survey_inotify;

/* Asks for a library's path in a process of its own, because what a library does when it is loaded
 * must not happen in ours. "" where there is none. */
typedef void survey_find_fn(char *path, size_t cap);
void survey_aside(char *path, size_t cap, survey_find_fn *find);

/* Sets state, detail and advice. */
void survey_say(survey_line *out, survey_state state, const char *advice, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif

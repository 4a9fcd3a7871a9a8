/* The programs that are installed with view_profile and that it starts: in libexec/view_profile, or
 * where all of them were built. Everyone may include this header. */
#ifndef VP_BASE_OWN_PROGRAM_H
#define VP_BASE_OWN_PROGRAM_H

/* Where the one of this name lies: beside the running program, or installed; out has VP_PATH_MAX
 * bytes. VP_EUNSUPPORTED: nowhere. */
int vp_own_program(char *out, const char *name);

#endif

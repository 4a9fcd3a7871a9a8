/* Finds the executables that belong to view_profile and that it starts: in libexec/view_profile, or
 * in the build directory. */
#ifndef VP_BASE_OWN_PROGRAM_H
#define VP_BASE_OWN_PROGRAM_H

/* Writes the path of the program with this name to out (VP_PATH_MAX bytes): next to the running
 * program, or installed. VP_EUNSUPPORTED: not found. */
int vp_own_program(char *out, const char *name);

#endif

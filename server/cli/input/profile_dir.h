/* Finds the profile directory of a command without PATH. */
#ifndef VP_CLI_PROFILE_DIR_H
#define VP_CLI_PROFILE_DIR_H

/* The newest of ./profiles/x/, ./profiles/x/y/ and ./x/profiles/y/, else "."; vp_free. NULL: no
 * memory. */
char *cli_default_dir(void);

#endif

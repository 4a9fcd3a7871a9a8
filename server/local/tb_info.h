/* Reads the files in $TMPDIR/.tensorboard-info in which running TensorBoards describe themselves.
 */
#ifndef VP_LOCAL_TB_INFO_H
#define VP_LOCAL_TB_INFO_H

#include "server/local/tb_probe.h"

#define TB_INFOS_MAX 16u

/* Fills at most TB_INFOS_MAX entries and returns their number. */
size_t tb_info_list(tb_place *out);
/* Parses the content of one file; false if malformed. */
bool tb_info_parse(tb_place *out, vp_str json);

#endif

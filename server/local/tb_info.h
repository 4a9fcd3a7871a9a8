/* What running TensorBoards tell about themselves: each writes a file into
 * $TMPDIR/.tensorboard-info, for its notebooks to find it. Only server/local includes this. */
#ifndef VP_LOCAL_TB_INFO_H
#define VP_LOCAL_TB_INFO_H

#include "server/local/tb_probe.h"

#define TB_INFOS_MAX 16u

/* Fills at most TB_INFOS_MAX and returns how many. */
size_t tb_info_list(tb_place *out);
/* One file's content. false: it makes no sense. */
bool tb_info_parse(tb_place *out, vp_str json);

#endif

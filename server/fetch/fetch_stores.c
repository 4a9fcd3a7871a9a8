/* Handles FETCH_STORES: lists the available credentials, without their values and without any
 * request. The name of an entry is the cloud, possibly with the problem; its WHY is the source.
 * Without it, credentials would be requested from the machine's metadata service. */
#include <stdio.h>

#include "server/fetch/credentials/aws_credentials.h"
#include "server/fetch/credentials/azure_credentials.h"
#include "server/fetch/credentials/gcs_credentials.h"
#include "server/fetch/question/fetch_answer.h"
#include "trace/base/err.h"
#include "trace/base/pb.h"

int fetch_answer_stores(fetch_ask *a)
{
    const char *other, *aws = aws_credentials_source(&other);
    char s3[160] = "s3://";
    if (other)
        snprintf(s3, sizeof s3, "s3:// (the profile needs %s; see docs/stores.md)", other);
    const struct {
        const char *scheme, *from;
    } stores[] = {
        {s3, aws}, {"gs://", gcs_credentials_source()}, {"az://", azure_credentials_source()}};
    VP_CLEANUP(vp_buf_free) vp_buf all;
    vp_buf_init(&all, 4096);
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        VP_CLEANUP(vp_buf_free) vp_buf one;
        vp_buf_init(&one, 512);
        vp_pb_put_len(&one, FETCH_ENTRY_NAME, vp_str_of(stores[i].scheme));
        if (stores[i].from)
            vp_pb_put_len(&one, FETCH_ENTRY_WHY, vp_str_of(stores[i].from));
        vp_pb_put_len(&all, FETCH_ENTRIES_ONE, vp_buf_view(&one));
    }
    VP_TRY(all.status);
    return fetch_put(a->stream, FETCH_ENTRIES, vp_buf_view(&all));
}

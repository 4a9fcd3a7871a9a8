#include "trace/capture/write/writer_isal.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/system/library.h"

#ifdef VP_HAVE_ISAL

#include <dlfcn.h>
#include <isa-l/igzip_lib.h>

typedef struct stream {
    struct isal_zstream z;
    void *library;
    int (*deflate)(struct isal_zstream *z);
    uint8_t work[ISAL_DEF_LVL1_DEFAULT];
} stream;

static bool load_isal(stream *s)
{
    void (*init)(struct isal_zstream * z);
    const vp_symbol table[] = {{&init, "isal_deflate_init", false},
                               {&s->deflate, "isal_deflate", false}};
    s->library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!s->library || vp_take_symbols(s->library, table, 2))
        return false;
    init(&s->z);
    s->z.level = 1;
    s->z.level_buf = s->work;
    s->z.level_buf_size = sizeof s->work;
    s->z.gzip_flag = IGZIP_GZIP;
    return true;
}

int wi_open(void **out)
{
    stream *s = vp_calloc(1, sizeof *s);
    *out = NULL;
    VP_NEED(s);
    if (load_isal(s))
        *out = s;
    else
        wi_free(s);
    return 0;
}

void wi_free(void *p)
{
    stream *s = p;
    if (s && s->library)
        dlclose(s->library);
    vp_free(s);
}

int wi_run(void *p, wz_io *io, bool last)
{
    stream *s = p;
    s->z.next_in = (uint8_t *)io->in;
    s->z.avail_in = (uint32_t)io->in_n;
    s->z.next_out = io->out;
    s->z.avail_out = (uint32_t)io->out_n;
    s->z.end_of_stream = last;
    int rc = s->deflate(&s->z);
    *io = (wz_io){s->z.next_in, s->z.avail_in, s->z.next_out, s->z.avail_out};
    if (rc != COMP_OK)
        return vp_fail(VP_EIO, "ISA-L cannot compress (%d)", rc);
    return s->z.internal_state.state == ZSTATE_END;
}

#else

int wi_open(void **out)
{
    *out = NULL;
    return 0;
}

void wi_free(void *p)
{
    (void)p;
}

int wi_run(void *p, wz_io *io, bool last)
{
    (void)p;
    (void)io;
    (void)last;
    return VP_EIO;
}

#endif

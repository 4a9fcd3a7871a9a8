#include "trace/model/packed_text.h"

#include <pthread.h>
#include <stdbool.h>
#include <zlib.h>

#define TEXTS 1024u /* numbers of a block */
#define BLOCKS 8u
#define END '\x1f'

bool vp_unpack(const unsigned char *gz, size_t gz_n, void *raw, size_t raw_n)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)gz,
                  .avail_in = (uInt)gz_n,
                  .next_out = raw,
                  .avail_out = (uInt)raw_n + 1}; /* the end is seen with room left only */
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return false;
    bool whole = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == raw_n;
    inflateEnd(&z);
    return whole;
}

static void unpack_block(const vp_packed_block *b)
{
    size_t text = 0;
    if (!vp_unpack(b->gz, b->gz_n, b->raw, b->raw_n))
        return;
    for (size_t i = 0; i < b->raw_n && text < b->count; i++)
        if (b->raw[i] == END) {
            b->raw[i] = '\0';
            if (++text < b->count)
                b->at[text] = (uint16_t)(i + 1);
        }
}

const char *vp_unpacked(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool unpacked[BLOCKS];
    uintptr_t number = (uintptr_t)text;
    if (!number || number >= BLOCKS * TEXTS)
        return text;
    const vp_packed_block *b = &vp_packed_blocks[number / TEXTS];
    pthread_mutex_lock(&lock);
    if (!unpacked[number / TEXTS])
        unpack_block(b);
    unpacked[number / TEXTS] = true;
    pthread_mutex_unlock(&lock);
    return b->raw + b->at[number % TEXTS - 1];
}

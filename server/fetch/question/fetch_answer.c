#include "server/fetch/question/fetch_answer.h"

#include <errno.h>
#include <sys/socket.h>

bool fetch_abandoned(const fetch_ask *a)
{
    char c;
    ssize_t n = recv(a->stream, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno == ECONNRESET); /* reset: it left frames unread */
}

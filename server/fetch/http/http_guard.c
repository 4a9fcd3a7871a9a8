#include "server/fetch/http/http_guard.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static http_nearness of_v4(uint32_t a)
{
    if (a >> 24 == 127 || a >> 24 == 0)
        return HTTP_THIS_MACHINE;
    /* 169.254.0.0/16, and 100.100.100.200, the metadata service of one cloud. */
    return a >> 16 == 0xa9fe || a == 0x646464c8 ? HTTP_LINK_LOCAL : HTTP_ELSEWHERE;
}

static http_nearness of_v6(const struct in6_addr *a)
{
    /* fd00:ec2::254 is the metadata service of EC2. */
    static const unsigned char ec2[16] = {0xfd, 0, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};
    if (IN6_IS_ADDR_V4MAPPED(a) || IN6_IS_ADDR_V4COMPAT(a)) {
        uint32_t v4;
        if (IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a))
            return HTTP_THIS_MACHINE;
        memcpy(&v4, a->s6_addr + 12, sizeof v4);
        return of_v4(ntohl(v4));
    }
    if (IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a))
        return HTTP_THIS_MACHINE;
    return IN6_IS_ADDR_LINKLOCAL(a) || memcmp(a, ec2, sizeof ec2) == 0 ? HTTP_LINK_LOCAL
                                                                       : HTTP_ELSEWHERE;
}

http_nearness http_nearness_of(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return of_v4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, address, sizeof in);
        return of_v6(&in.sin6_addr);
    }
    return HTTP_LINK_LOCAL; /* no other address is ever right */
}

http_nearness http_nearness_of_text(const char *address)
{
    char plain[INET6_ADDRSTRLEN + 2];
    struct in_addr v4;
    struct in6_addr v6;
    snprintf(plain, sizeof plain, "%s", address + (address[0] == '['));
    plain[strcspn(plain, "]%")] = '\0';
    if (inet_pton(AF_INET, plain, &v4) == 1)
        return of_v4(ntohl(v4.s_addr));
    return inet_pton(AF_INET6, plain, &v6) == 1 ? of_v6(&v6) : HTTP_ELSEWHERE;
}

http_nearness http_nearness_of_name(const char *host)
{
    http_nearness nearest = http_nearness_of_text(host);
    struct addrinfo *all = NULL, hints = {.ai_socktype = SOCK_STREAM};
    if (nearest || host[0] == '[' || getaddrinfo(host, NULL, &hints, &all))
        return nearest;
    for (const struct addrinfo *a = all; a; a = a->ai_next) {
        http_nearness n = http_nearness_of(a->ai_addr);
        nearest = n > nearest ? n : nearest;
    }
    freeaddrinfo(all);
    return nearest;
}

bool http_is_this_machine(const char *host)
{
    size_t n = strlen(host);
    return strcasecmp(host, "localhost") == 0 ||
           (n > 10 && strcasecmp(host + n - 10, ".localhost") == 0) ||
           http_nearness_of_text(host) != HTTP_ELSEWHERE;
}

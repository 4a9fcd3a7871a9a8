/* Loads libmicrohttpd when a server starts. If it were linked, it and its TLS libraries would add
 * 3 ms to every start of the program. Files that include this header call the functions below
 * through http_lib; a function that is missing in the list causes a link error. */
#ifndef VP_NET_REQUEST_LIBMICROHTTPD_H
#define VP_NET_REQUEST_LIBMICROHTTPD_H

#include <microhttpd.h>

#define HTTP_LIB_CALLS(X)                                                                          \
    X(MHD_add_response_header)                                                                     \
    X(MHD_create_response_from_buffer_with_free_callback)                                          \
    X(MHD_create_response_from_callback)                                                           \
    X(MHD_create_response_from_fd_at_offset64)                                                     \
    X(MHD_destroy_response)                                                                        \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_get_connection_values_n)                                                                 \
    X(MHD_get_daemon_info)                                                                         \
    X(MHD_get_reason_phrase_for)                                                                   \
    X(MHD_get_response_header)                                                                     \
    X(MHD_get_response_headers)                                                                    \
    X(MHD_get_timeout)                                                                             \
    X(MHD_get_version)                                                                             \
    X(MHD_queue_response)                                                                          \
    X(MHD_quiesce_daemon)                                                                          \
    X(MHD_resume_connection)                                                                       \
    X(MHD_run)                                                                                     \
    X(MHD_set_response_options)                                                                    \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(MHD_suspend_connection)

/* Set by http_lib_load, constant afterwards. */
extern struct http_lib {
#define HTTP_LIB_SLOT(name) __typeof__(name) *name;
    HTTP_LIB_CALLS(HTTP_LIB_SLOT)
#undef HTTP_LIB_SLOT
} http_lib;

/* Must be called before the first of these calls; thread-safe. VP_EUNSUPPORTED: libmicrohttpd is
 * not installed. */
int http_lib_load(void);

#define MHD_add_response_header http_lib.MHD_add_response_header
#define MHD_create_response_from_buffer_with_free_callback                                         \
    http_lib.MHD_create_response_from_buffer_with_free_callback
#define MHD_create_response_from_callback http_lib.MHD_create_response_from_callback
#define MHD_create_response_from_fd_at_offset64 http_lib.MHD_create_response_from_fd_at_offset64
#define MHD_destroy_response http_lib.MHD_destroy_response
#define MHD_get_connection_info http_lib.MHD_get_connection_info
#define MHD_get_connection_values_n http_lib.MHD_get_connection_values_n
#define MHD_get_daemon_info http_lib.MHD_get_daemon_info
#define MHD_get_reason_phrase_for http_lib.MHD_get_reason_phrase_for
#define MHD_get_response_header http_lib.MHD_get_response_header
#define MHD_get_response_headers http_lib.MHD_get_response_headers
#define MHD_get_timeout http_lib.MHD_get_timeout
#define MHD_get_version http_lib.MHD_get_version
#define MHD_queue_response http_lib.MHD_queue_response
#define MHD_quiesce_daemon http_lib.MHD_quiesce_daemon
#define MHD_resume_connection http_lib.MHD_resume_connection
#define MHD_run http_lib.MHD_run
#define MHD_set_response_options http_lib.MHD_set_response_options
#define MHD_start_daemon http_lib.MHD_start_daemon
#define MHD_stop_daemon http_lib.MHD_stop_daemon
#define MHD_suspend_connection http_lib.MHD_suspend_connection

#endif

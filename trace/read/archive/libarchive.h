/* libarchive, loaded when the first archive is opened: linked, it and its ten dependencies take 3
 * ms of every start of the program. Macros redirect the functions below to ar_lib in files that
 * include this header. A function that is missing in the list causes a link error. */
#ifndef VP_READ_LIBARCHIVE_H
#define VP_READ_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#define AR_LIB_CALLS(X)                                                                            \
    X(archive_entry_clear)                                                                         \
    X(archive_entry_filetype)                                                                      \
    X(archive_entry_free)                                                                          \
    X(archive_entry_hardlink)                                                                      \
    X(archive_entry_is_encrypted)                                                                  \
    X(archive_entry_mtime)                                                                         \
    X(archive_entry_mtime_is_set)                                                                  \
    X(archive_entry_mtime_nsec)                                                                    \
    X(archive_entry_new)                                                                           \
    X(archive_entry_pathname)                                                                      \
    X(archive_entry_pathname_utf8)                                                                 \
    X(archive_entry_set_filetype)                                                                  \
    X(archive_entry_set_mtime)                                                                     \
    X(archive_entry_set_pathname)                                                                  \
    X(archive_entry_set_perm)                                                                      \
    X(archive_entry_set_size)                                                                      \
    X(archive_entry_size)                                                                          \
    X(archive_entry_size_is_set)                                                                   \
    X(archive_error_string)                                                                        \
    X(archive_filter_bytes)                                                                        \
    X(archive_read_data_block)                                                                     \
    X(archive_read_free)                                                                           \
    X(archive_read_new)                                                                            \
    X(archive_read_next_header)                                                                    \
    X(archive_read_open1)                                                                          \
    X(archive_read_set_callback_data)                                                              \
    X(archive_read_set_format_option)                                                              \
    X(archive_read_set_read_callback)                                                              \
    X(archive_read_set_seek_callback)                                                              \
    X(archive_read_set_skip_callback)                                                              \
    X(archive_read_support_filter_zstd)                                                            \
    X(archive_read_support_format_tar)                                                             \
    X(archive_read_support_format_zip_seekable)                                                    \
    X(archive_read_support_format_zip_streamable)                                                  \
    X(archive_set_error)                                                                           \
    X(archive_write_close)                                                                         \
    X(archive_write_data)                                                                          \
    X(archive_write_free)                                                                          \
    X(archive_write_header)                                                                        \
    X(archive_write_new)                                                                           \
    X(archive_write_open)                                                                          \
    X(archive_write_set_bytes_per_block)                                                           \
    X(archive_write_set_format_gnutar)

/* Set by ar_lib_load, and constant afterwards. */
extern struct ar_lib {
#define AR_LIB_SLOT(name) __typeof__(name) *name;
    AR_LIB_CALLS(AR_LIB_SLOT)
#undef AR_LIB_SLOT
} ar_lib;

/* Call before the first of these functions, on any thread. VP_EUNSUPPORTED: libarchive is not
 * installed. */
int ar_lib_load(void);

#define archive_entry_clear ar_lib.archive_entry_clear
#define archive_entry_filetype ar_lib.archive_entry_filetype
#define archive_entry_free ar_lib.archive_entry_free
#define archive_entry_hardlink ar_lib.archive_entry_hardlink
#define archive_entry_is_encrypted ar_lib.archive_entry_is_encrypted
#define archive_entry_mtime ar_lib.archive_entry_mtime
#define archive_entry_mtime_is_set ar_lib.archive_entry_mtime_is_set
#define archive_entry_mtime_nsec ar_lib.archive_entry_mtime_nsec
#define archive_entry_new ar_lib.archive_entry_new
#define archive_entry_pathname ar_lib.archive_entry_pathname
#define archive_entry_pathname_utf8 ar_lib.archive_entry_pathname_utf8
#define archive_entry_set_filetype ar_lib.archive_entry_set_filetype
#define archive_entry_set_mtime ar_lib.archive_entry_set_mtime
#define archive_entry_set_pathname ar_lib.archive_entry_set_pathname
#define archive_entry_set_perm ar_lib.archive_entry_set_perm
#define archive_entry_set_size ar_lib.archive_entry_set_size
#define archive_entry_size ar_lib.archive_entry_size
#define archive_entry_size_is_set ar_lib.archive_entry_size_is_set
#define archive_error_string ar_lib.archive_error_string
#define archive_filter_bytes ar_lib.archive_filter_bytes
#define archive_read_data_block ar_lib.archive_read_data_block
#define archive_read_free ar_lib.archive_read_free
#define archive_read_new ar_lib.archive_read_new
#define archive_read_next_header ar_lib.archive_read_next_header
#define archive_read_open1 ar_lib.archive_read_open1
#define archive_read_set_callback_data ar_lib.archive_read_set_callback_data
#define archive_read_set_format_option ar_lib.archive_read_set_format_option
#define archive_read_set_read_callback ar_lib.archive_read_set_read_callback
#define archive_read_set_seek_callback ar_lib.archive_read_set_seek_callback
#define archive_read_set_skip_callback ar_lib.archive_read_set_skip_callback
#define archive_read_support_filter_zstd ar_lib.archive_read_support_filter_zstd
#define archive_read_support_format_tar ar_lib.archive_read_support_format_tar
#define archive_read_support_format_zip_seekable ar_lib.archive_read_support_format_zip_seekable
#define archive_read_support_format_zip_streamable ar_lib.archive_read_support_format_zip_streamable
#define archive_set_error ar_lib.archive_set_error
#define archive_write_close ar_lib.archive_write_close
#define archive_write_data ar_lib.archive_write_data
#define archive_write_free ar_lib.archive_write_free
#define archive_write_header ar_lib.archive_write_header
#define archive_write_new ar_lib.archive_write_new
#define archive_write_open ar_lib.archive_write_open
#define archive_write_set_bytes_per_block ar_lib.archive_write_set_bytes_per_block
#define archive_write_set_format_gnutar ar_lib.archive_write_set_format_gnutar

#endif

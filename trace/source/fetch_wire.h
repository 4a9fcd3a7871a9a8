/* Protocol between this program and view_profile-fetch, the only process that communicates with
 * other machines (libcurl, credentials). The fetcher never parses profiles. This module is the
 * client; server/fetch is the server.
 *
 * Each request has its own stream socket. The client sends one end of it over the fetcher's control
 * socket, with the request, a protobuf message (FETCH_ASK_*), and descriptors that the response may
 * need. The response is a sequence of frames on the stream, until FETCH_DONE or FETCH_FAILED. The
 * client closes the stream to cancel; the server stops when it can no longer write. A frame
 * consists of kind and length, each uint32 in native byte order, and the bytes. */
#ifndef VP_SOURCE_FETCH_WIRE_H
#define VP_SOURCE_FETCH_WIRE_H

#include <stdint.h>

/* Maximum bytes of a request, and of a frame's payload. */
#define FETCH_ASK_MAX (32u << 10)
#define FETCH_FRAME_MAX (1u << 20)
/* Bytes of a version (ETag), with a NUL. */
#define FETCH_ETAG_MAX 256u
/* Descriptors that may accompany a request, besides the stream. */
#define FETCH_FILES_MAX 2u

/* X(name, function of server/fetch that handles it) */
#define FETCH_QUESTIONS(X)                                                                         \
    X(LIST, list)   /* ENTRIES…, DONE: lists what is beneath url */                              \
    X(HEAD, head)   /* INFO, DONE: properties of one object or file */                             \
    X(READ, read)   /* INFO, DATA…, DONE: bytes of one object; into the file, if one is passed:  \
                       INFO, PROGRESS…, DONE */                                                  \
    X(WRITE, write) /* the client sends DATA… and END; then DONE */                              \
    X(STORES, stores)   /* ENTRIES, DONE: for doctor; NAME: "s3://", WHY: source of credentials */ \
    X(CAPTURE, capture) /* PROGRESS…, INFO, DONE: profile of one process into the file passed */ \
    X(LOOK, look)       /* INFO, DONE: Monitor of one process */                                   \
    X(KINETO, kineto)   /* PROGRESS…, DONE: sends a request to a dynolog daemon */               \
    X(REMOVE, remove)   /* DONE: one object or file is removed */
typedef enum fetch_question {
    FETCH_NO_QUESTION,
#define FETCH_ENUM(name, fn) FETCH_##name,
    FETCH_QUESTIONS(FETCH_ENUM)
#undef FETCH_ENUM
        FETCH_QUESTION_COUNT
} fetch_question;

/* Fields of a request. */
enum {
    FETCH_ASK_WHAT = 1,     /* fetch_question */
    FETCH_ASK_URL = 2,      /* gs://, s3://, az://, http(s)://; for processes HOST:PORT */
    FETCH_ASK_ETAG = 3,     /* READ, REMOVE: only if the object has this version */
    FETCH_ASK_OFFSET = 4,   /* READ */
    FETCH_ASK_LENGTH = 5,   /* READ; absent: to the end. WRITE: total bytes; absent: unknown */
    FETCH_ASK_FLAT = 6,     /* LIST: everything beneath, not only one level */
    FETCH_ASK_UNSIGNED = 7, /* --no-sign-request */
    FETCH_ASK_BODY = 8,     /* message with the parameters of CAPTURE, LOOK or KINETO */
    FETCH_ASK_PLACES = 9,   /* READ: native uint64 offsets in the file passed, one for each piece */
    FETCH_ASK_PIECE = 10,   /* READ: bytes of each piece except the last */
};

typedef enum fetch_frame {
    FETCH_DATA = 1, /* bytes of the object */
    FETCH_ENTRIES,  /* FETCH_ENTRIES_ONE, repeated */
    FETCH_INFO,     /* FETCH_ENTRY_* of the object; CAPTURE and LOOK: their own message */
    FETCH_PROGRESS, /* message with FETCH_PROGRESS_* */
    FETCH_END,      /* WRITE: end of the data */
    FETCH_DONE,     /* empty */
    FETCH_FAILED,   /* FETCH_FAILURE_* */
} fetch_frame;

enum { FETCH_ENTRIES_ONE = 1 };
/* Fields of one entry. A name is relative to the request's url, with '/' between its parts, and
 * without empty parts, "." or "..". The entry's address is the url, '/' and the name. For
 * http(s):// all characters of the name except letters, digits and -._~ become %XX, and the name
 * precedes the url's '?'. Other names are not listed; the fetcher counts them in one entry that has
 * a WHY and no name. */
enum {
    FETCH_ENTRY_NAME = 1,
    FETCH_ENTRY_BYTES = 2,    /* of an object */
    FETCH_ENTRY_MTIME_NS = 3, /* Unix; absent: unknown */
    FETCH_ENTRY_ETAG = 4,     /* or another identifier of the version (generation); absent: none */
    FETCH_ENTRY_IS_DIR = 5,
    FETCH_ENTRY_WHY = 6,
};

/* Body of a CAPTURE of one process. Its XSpace is written to the descriptor that accompanies the
 * request. The client sends FETCH_END to end it early, and FETCH_PROGRESS to continue a capture
 * with FETCH_CAPTURE_WAITS. */
enum {
    FETCH_CAPTURE_SESSION = 1, /* its name on the remote side while it runs */
    FETCH_CAPTURE_ROOT = 2, /* directory for servers that write their files: …/plugins/profile */
    FETCH_CAPTURE_HOST = 3, /* host name in the names of those files */
    FETCH_CAPTURE_DURATION_MS = 4,
    FETCH_CAPTURE_START_NS = 5, /* Unix; absent: at once */
    FETCH_CAPTURE_HOST_TRACER = 6,
    FETCH_CAPTURE_DEVICE_TRACER = 7,
    FETCH_CAPTURE_PYTHON_TRACER = 8,
    FETCH_CAPTURE_OPTION = 9,       /* "key=value", repeated */
    FETCH_CAPTURE_PATIENCE_MS = 10, /* time without data after its end until it fails */
    FETCH_CAPTURE_WAITS = 11,       /* 1: the XSpace is read after the client's FETCH_PROGRESS */
};
/* PROGRESS of a CAPTURE; of a READ only the bytes that are in the file. */
enum {
    FETCH_PROGRESS_STATE = 1, /* fetch_capture_state */
    FETCH_PROGRESS_BYTES = 2, /* bytes of the XSpace, or of the object, so far */
    FETCH_PROGRESS_LEFT_MS = 3,
};
typedef enum fetch_capture_state {
    FETCH_CONNECTING,
    FETCH_PROFILING,
    FETCH_RECEIVING,
} fetch_capture_state;
/* INFO of a CAPTURE, of a LOOK (a sentence) and of a KINETO (processes that will write). */
enum { FETCH_CAPTURED_BYTES = 1 };
enum { FETCH_LOOK_TEXT = 1 };
enum { FETCH_KINETO_PID = 1 };
/* The body of a KINETO. */
enum {
    FETCH_KINETO_LOG = 1, /* remote path; libkineto puts _PID before .pt.trace.json */
    FETCH_KINETO_DURATION_MS = 2,
    FETCH_KINETO_START_MS = 3, /* Unix; 0: at once */
    FETCH_KINETO_OPTION = 4,   /* "KEY=value" of libkineto, repeated */
};
enum {
    FETCH_FAILURE_CODE = 1,    /* a VP_E… code without its sign */
    FETCH_FAILURE_MESSAGE = 2, /* without the url */
    FETCH_FAILURE_STATUS = 3,  /* HTTP or gRPC status; absent: none */
};

#endif

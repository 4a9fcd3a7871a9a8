/* What is said between this program and view_profile-fetch, the process that alone speaks with
 * other machines (libcurl, credentials) and never looks into a profile. This room is the side that
 * asks; server/fetch is the other.
 *
 * One question is one stream socket: its other end goes over the fetcher's control socket with the
 * question, a protobuf message (FETCH_ASK_*), and descriptors that the answer may need. The answer
 * is frames on the stream, until FETCH_DONE or FETCH_FAILED; whoever asked closes the stream to
 * give up, and whoever answers stops when it can no longer write. A frame is its kind and the bytes
 * that follow, each uint32 in the machine's order, and the bytes. */
#ifndef VP_SOURCE_FETCH_WIRE_H
#define VP_SOURCE_FETCH_WIRE_H

#include <stdint.h>

/* Bytes of a question, and of what one frame carries. */
#define FETCH_ASK_MAX (32u << 10)
#define FETCH_FRAME_MAX (1u << 20)
/* Bytes of a version that is told, with a NUL. */
#define FETCH_ETAG_MAX 256u
/* Descriptors that may come with a question, the stream not counted. */
#define FETCH_FILES_MAX 2u

/* X(name, what answers it in server/fetch) */
#define FETCH_QUESTIONS(X)                                                                           \
    X(LIST, list)       /* ENTRIES…, DONE: what lies beneath url */                                \
    X(HEAD, head)       /* INFO, DONE: one object or file */                                         \
    X(READ, read)       /* INFO, DATA…, DONE: bytes of one; into the file passed, if there is      \
                           one: INFO, PROGRESS…, DONE */                                           \
    X(WRITE, write)     /* the asker sends DATA… and END; then DONE */                             \
    X(STORES, stores)   /* ENTRIES, DONE: for doctor; NAME: "s3://", WHY: where credentials are */   \
    X(CAPTURE, capture) /* PROGRESS…, INFO, DONE: a profile of one process into the file passed */ \
    X(LOOK, look)       /* INFO, DONE: Monitor of one process */                                     \
    X(KINETO, kineto)   /* PROGRESS…, DONE: asks a dynolog daemon */                               \
    X(REMOVE, remove)   /* DONE: one object or file is no longer there */
typedef enum fetch_question {
    FETCH_NO_QUESTION,
#define FETCH_ENUM(name, fn) FETCH_##name,
    FETCH_QUESTIONS(FETCH_ENUM)
#undef FETCH_ENUM
        FETCH_QUESTION_COUNT
} fetch_question;

/* Fields of a question. */
enum {
    FETCH_ASK_WHAT = 1,     /* fetch_question */
    FETCH_ASK_URL = 2,      /* gs://, s3://, az://, http(s)://; of processes HOST:PORT */
    FETCH_ASK_ETAG = 3,     /* READ, REMOVE: only while the object has this one */
    FETCH_ASK_OFFSET = 4,   /* READ */
    FETCH_ASK_LENGTH = 5,   /* READ; absent: to the end. WRITE: bytes to come; absent: unknown */
    FETCH_ASK_FLAT = 6,     /* LIST: everything beneath, instead of one level */
    FETCH_ASK_UNSIGNED = 7, /* --no-sign-request */
    FETCH_ASK_BODY = 8,     /* what a CAPTURE, LOOK or KINETO is made of: its own message */
    FETCH_ASK_PLACES = 9,   /* READ: uint64s in the machine's order, where in the file passed one
                               piece after the other goes */
    FETCH_ASK_PIECE = 10,   /* READ: bytes of each piece but the last */
};

typedef enum fetch_frame {
    FETCH_DATA = 1, /* bytes of the object */
    FETCH_ENTRIES,  /* FETCH_ENTRIES_ONE, repeated */
    FETCH_INFO,     /* FETCH_ENTRY_*: of the one object; of CAPTURE and LOOK: their own message */
    FETCH_PROGRESS, /* its own message */
    FETCH_END,      /* WRITE: that was all */
    FETCH_DONE,     /* empty */
    FETCH_FAILED,   /* FETCH_FAILURE_* */
} fetch_frame;

enum { FETCH_ENTRIES_ONE = 1 };
/* Fields of one entry. A name is relative to the question's url, '/' between its parts, never with
 * empty parts, "." or ".."; the entry's own address is that url, '/' and the name, of http(s)://
 * with all but letters, digits and -._~ of the name as %XX, and before the url's '?'. Other names
 * are not listed, and counted by the fetcher in one entry that has a WHY and no name. */
enum {
    FETCH_ENTRY_NAME = 1,
    FETCH_ENTRY_BYTES = 2,    /* of an object */
    FETCH_ENTRY_MTIME_NS = 3, /* Unix; absent: unknown */
    FETCH_ENTRY_ETAG = 4,     /* or what else names a version (generation); absent: none */
    FETCH_ENTRY_IS_DIR = 5,
    FETCH_ENTRY_WHY = 6,
};

/* The body of a CAPTURE: what is asked of one process; its XSpace goes into the one descriptor that
 * comes along. The asker sends FETCH_END to have it ended before its time, and of one that waits,
 * FETCH_PROGRESS once the rest may come. */
enum {
    FETCH_CAPTURE_SESSION = 1, /* names it over there, until it ends */
    FETCH_CAPTURE_ROOT = 2,    /* where servers write that send nothing: …/plugins/profile */
    FETCH_CAPTURE_HOST = 3,    /* and the name of their file */
    FETCH_CAPTURE_DURATION_MS = 4,
    FETCH_CAPTURE_START_NS = 5, /* Unix; absent: at once */
    FETCH_CAPTURE_HOST_TRACER = 6,
    FETCH_CAPTURE_DEVICE_TRACER = 7,
    FETCH_CAPTURE_PYTHON_TRACER = 8,
    FETCH_CAPTURE_OPTION = 9,       /* "key=value", repeated */
    FETCH_CAPTURE_PATIENCE_MS = 10, /* how long it may be silent once the time is over */
    FETCH_CAPTURE_WAITS = 11,       /* 1: the XSpace is read once the asker says so */
};
/* PROGRESS of a CAPTURE; of a READ only the bytes, which are in the file then. */
enum {
    FETCH_PROGRESS_STATE = 1, /* fetch_capture_state */
    FETCH_PROGRESS_BYTES = 2, /* of the XSpace, or of what is read, so far */
    FETCH_PROGRESS_LEFT_MS = 3,
};
typedef enum fetch_capture_state {
    FETCH_CONNECTING,
    FETCH_PROFILING,
    FETCH_RECEIVING,
} fetch_capture_state;
/* INFO of a CAPTURE, of a LOOK (its sentence) and of a KINETO (the processes that will write). */
enum { FETCH_CAPTURED_BYTES = 1 };
enum { FETCH_LOOK_TEXT = 1 };
enum { FETCH_KINETO_PID = 1 };
/* The body of a KINETO. */
enum {
    FETCH_KINETO_LOG = 1, /* the path over there; libkineto puts _PID before .pt.trace.json */
    FETCH_KINETO_DURATION_MS = 2,
    FETCH_KINETO_START_MS = 3, /* Unix; 0: at once */
    FETCH_KINETO_OPTION = 4,   /* "KEY=value" of libkineto, repeated */
};
enum {
    FETCH_FAILURE_CODE = 1,    /* a VP_E… code without its sign */
    FETCH_FAILURE_MESSAGE = 2, /* without the url */
    FETCH_FAILURE_STATUS = 3,  /* of HTTP or gRPC; absent: none */
};

#endif

/* The opcodes of Python's pickles (pickletools.py, protocols 0 to 5), one row each.
 *
 * A pickle is a program for a small stack machine; some opcodes import names and call them. Opcodes
 * that only build plain values are accepted; all others are refused by name. */
#ifndef VP_READ_PICKLE_OPS_H
#define VP_READ_PICKLE_OPS_H

/* X(name, byte): accepted opcodes. */
#define PK_TAKEN(X)                                                                                \
    X(PROTO, 0x80)                                                                                 \
    X(FRAME, 0x95)                                                                                 \
    X(MARK, '(')                                                                                   \
    X(STOP, '.')                                                                                   \
    X(POP, '0')                                                                                    \
    X(POP_MARK, '1')                                                                               \
    X(DUP, '2')                                                                                    \
    X(NONE, 'N')                                                                                   \
    X(NEWTRUE, 0x88)                                                                               \
    X(NEWFALSE, 0x89)                                                                              \
    X(BININT, 'J')                                                                                 \
    X(BININT1, 'K')                                                                                \
    X(BININT2, 'M')                                                                                \
    X(LONG1, 0x8a)                                                                                 \
    X(LONG4, 0x8b)                                                                                 \
    X(BINFLOAT, 'G')                                                                               \
    X(SHORT_BINUNICODE, 0x8c)                                                                      \
    X(BINUNICODE, 'X')                                                                             \
    X(BINUNICODE8, 0x8d)                                                                           \
    X(SHORT_BINBYTES, 'C')                                                                         \
    X(BINBYTES, 'B')                                                                               \
    X(EMPTY_TUPLE, ')')                                                                            \
    X(TUPLE1, 0x85)                                                                                \
    X(TUPLE2, 0x86)                                                                                \
    X(TUPLE3, 0x87)                                                                                \
    X(TUPLE, 't')                                                                                  \
    X(EMPTY_LIST, ']')                                                                             \
    X(APPEND, 'a')                                                                                 \
    X(APPENDS, 'e')                                                                                \
    X(EMPTY_DICT, '}')                                                                             \
    X(SETITEM, 's')                                                                                \
    X(SETITEMS, 'u')                                                                               \
    X(MEMOIZE, 0x94)                                                                               \
    X(BINPUT, 'q')                                                                                 \
    X(LONG_BINPUT, 'r')                                                                            \
    X(BINGET, 'h')                                                                                 \
    X(LONG_BINGET, 'j')

/* Refused opcodes: they run code, request objects from elsewhere, or encode values that do not
 * occur in snapshots. */
#define PK_REFUSED(X)                                                                              \
    X(GLOBAL, 'c')                                                                                 \
    X(STACK_GLOBAL, 0x93)                                                                          \
    X(REDUCE, 'R')                                                                                 \
    X(BUILD, 'b')                                                                                  \
    X(INST, 'i')                                                                                   \
    X(OBJ, 'o')                                                                                    \
    X(NEWOBJ, 0x81)                                                                                \
    X(NEWOBJ_EX, 0x92)                                                                             \
    X(EXT1, 0x82)                                                                                  \
    X(EXT2, 0x83)                                                                                  \
    X(EXT4, 0x84)                                                                                  \
    X(PERSID, 'P')                                                                                 \
    X(BINPERSID, 'Q')                                                                              \
    X(NEXT_BUFFER, 0x97)                                                                           \
    X(READONLY_BUFFER, 0x98)                                                                       \
    X(BYTEARRAY8, 0x96)                                                                            \
    X(BINBYTES8, 0x8e)                                                                             \
    X(EMPTY_SET, 0x8f)                                                                             \
    X(ADDITEMS, 0x90)                                                                              \
    X(FROZENSET, 0x91)                                                                             \
    X(BINSTRING, 'T')                                                                              \
    X(SHORT_BINSTRING, 'U')                                                                        \
    X(INT, 'I')                                                                                    \
    X(LONG, 'L')                                                                                   \
    X(FLOAT, 'F')                                                                                  \
    X(STRING, 'S')                                                                                 \
    X(UNICODE, 'V')                                                                                \
    X(DICT, 'd')                                                                                   \
    X(LIST, 'l')                                                                                   \
    X(GET, 'g')                                                                                    \
    X(PUT, 'p')

#define PK_VALUE(name, byte) PK_##name = (byte),
enum { PK_TAKEN(PK_VALUE) PK_REFUSED(PK_VALUE) };

/* Protocols of pickles that begin with PROTO. For plain values, 5 has no opcode that 4 lacks. */
enum { PK_PROTOCOL_MIN = 2, PK_PROTOCOL_MAX = 5 };

#endif

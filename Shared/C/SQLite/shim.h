#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift cannot express.

static inline int liveline_bind_text(sqlite3_stmt *statement, int index, const char *bytes,
                                     sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// A null pointer binds NULL, so an empty blob needs an address of its own.
static inline int liveline_bind_blob(sqlite3_stmt *statement, int index, const void *bytes,
                                     sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT);
}

// Maximum length of SQLite's write-ahead log, and the kept size of its file. Source: https://sqlite.org/wal.html,
// https://sqlite.org/pragma.html#pragma_journal_size_limit.

const PAGE_BYTES = 4_096

/** Number of pages after which the log is reset: 128 MiB. The first commit after a reset waits for fsync. */
export const RESTART_PAGES = 32_768

/**
 * Remaining size of a longer file after a WAL reset. Well above the log's length in steady use: truncating 64 MiB
 * blocks the committing thread for 40 ms.
 */
export const LOG_KEPT_BYTES = 2 * RESTART_PAGES * PAGE_BYTES

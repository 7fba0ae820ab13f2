// Source: https://sqlite.org/wal.html, https://sqlite.org/pragma.html#pragma_journal_size_limit

const PAGE_BYTES = 4_096

/** Pages after which the log is reset: 128 MiB. The first commit after a reset waits for fsync. */
export const RESTART_PAGES = 32_768

/** File size after a reset. Above the log's usual length: truncating 64 MiB blocks a commit for 40 ms. */
export const LOG_KEPT_BYTES = 2 * RESTART_PAGES * PAGE_BYTES

// How long SQLite's write-ahead log gets, and how much of its file stays. Source: https://sqlite.org/wal.html,
// https://sqlite.org/pragma.html#pragma_journal_size_limit.

const PAGE_BYTES = 4_096

/**
 * Pages in the log from which on it is begun anew: 128 MiB. Seldom, since writers are kept out for it, and the first commit
 * into a new log waits for the disk.
 */
export const RESTART_PAGES = 32_768

/**
 * What a commit leaves of a longer file when it begins the log anew, so that a burst does not leave a huge one behind. Well
 * above what the log has by then in steady use: to cut 64 MiB off holds the thread that commits up for 40 ms, and blocks
 * that are there already are written to faster.
 */
export const LOG_KEPT_BYTES = 2 * RESTART_PAGES * PAGE_BYTES

// How the runtime's allocator (mimalloc) is to keep memory, told by environment variables that it reads before any code of
// ours. By default it gives memory back to the system every tenth of a second, and faults it in again for the next
// requests: about one page each, up to a tenth of an attestation's processor time. After a minute that is a page in fifty
// requests, and what a rare moment took still goes. Whoever would rather have the memory back at once sets these variables
// otherwise; what is set is left as it is.
// Source: https://microsoft.github.io/mimalloc/environment.html; `MIMALLOC_VERBOSE=1 bun -e 0` lists what this runtime has.

/** `bun start` and the files of deploy/ set the same for the process that they start. */
export const ALLOCATOR_ENVIRONMENT = {
  /** Milliseconds until free memory is given back: what a minute of load did not need. */
  MIMALLOC_PURGE_DELAY: '60000',
  /** Nor the free parts of memory that is in use. */
  MIMALLOC_PURGE_HOLES: '0',
} as const

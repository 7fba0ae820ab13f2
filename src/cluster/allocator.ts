// Environment variables that tell the runtime's allocator (mimalloc) how to keep memory; it reads them before any of
// our code runs. By default it returns free memory to the system every tenth of a second and faults it in again for the
// next requests: about one page per request, up to a tenth of an attestation's processor time. A delay of five seconds
// saves that as well as one of a minute does, and what the start left, or a peak, is returned. Operators who want the
// memory back sooner set these variables themselves; values that are set are kept.
// Source: https://microsoft.github.io/mimalloc/environment.html; `MIMALLOC_VERBOSE=1 bun -e 0` lists what this runtime
// has.

/** `bun start` and the files of deploy/ set the same for the process that they start. */
export const ALLOCATOR_ENVIRONMENT = {
  /** Milliseconds until free memory is given back: what five seconds of load did not need. */
  MIMALLOC_PURGE_DELAY: '5000',
  /** 0: free parts of memory that is in use are not given back either. */
  MIMALLOC_PURGE_HOLES: '0',
} as const

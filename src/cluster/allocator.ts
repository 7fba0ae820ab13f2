// Environment variables of the runtime's allocator (mimalloc), which reads them before the program's code runs. Values
// that the operator sets are kept.
// By default, memory is returned to the system every 100 ms, and the page faults cost up to a tenth of an attestation's
// CPU time. A delay of five seconds saves as much as a delay of a minute, and still returns memory after startup or a
// peak.
// Source: https://microsoft.github.io/mimalloc/environment.html; `MIMALLOC_VERBOSE=1 bun -e 0` lists the options of
// this runtime.

/** `bun start` and the files in deploy/ set the same values for the process that they start. */
export const ALLOCATOR_ENVIRONMENT = {
  /** Milliseconds until unused memory is returned. */
  MIMALLOC_PURGE_DELAY: '5000',
  /** 0 keeps unused parts of memory blocks that are in use. */
  MIMALLOC_PURGE_HOLES: '0',
} as const

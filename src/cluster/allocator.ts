// Environment variables of the runtime's allocator (mimalloc). Values set by the operator are kept. Source:
// https://microsoft.github.io/mimalloc/environment.html; `MIMALLOC_VERBOSE=1 bun -e 0` lists the options.

/** `bun start` and the files in deploy/ set the same values for the process that they start. */
export const ALLOCATOR_ENVIRONMENT = {
  /**
   * Milliseconds until unused memory is returned. With the default of 100 ms, page faults cost up to a tenth of an
   * attestation's CPU time.
   */
  MIMALLOC_PURGE_DELAY: '5000',
  /** 0 keeps unused parts of memory blocks that are in use. */
  MIMALLOC_PURGE_HOLES: '0',
} as const

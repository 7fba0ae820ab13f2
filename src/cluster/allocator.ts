// Settings of the runtime's allocator (mimalloc), unless set by the operator. Source:
// https://microsoft.github.io/mimalloc/environment.html; `MIMALLOC_VERBOSE=1 bun -e 0` lists the options.

/** `bun start` and the files in deploy/ set the same values. */
export const ALLOCATOR_ENVIRONMENT = {
  /** Milliseconds until unused memory is returned. The default, 100, costs up to 10% of an attestation's CPU time. */
  MIMALLOC_PURGE_DELAY: '5000',
  /** 0 keeps unused parts of memory blocks that are in use. */
  MIMALLOC_PURGE_HOLES: '0',
} as const

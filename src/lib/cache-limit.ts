// Limits the entries of an lru-cache without `max`, which allocates all entries at once: 1.9 MB for 100,000.

/** Argument for `get` on a hot path: without it, lru-cache allocates an object per call. */
export const NO_OPTIONS = {}

/** Returns options for a cache whose memory grows with its content. */
export const atMostEntries = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 }) as const

// Limits the entries of an lru-cache. Its option `max` allocates memory for all entries at once: 1.9 MB for 100,000
// entries, even if the cache stays small.

/** Argument for `get` on a hot path: without it, lru-cache allocates an object per call. */
export const NO_OPTIONS = {}

/** Returns options of a cache with a maximum number of entries, whose memory grows with its content. */
export const atMostEntries = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 }) as const

// The limit of an lru-cache. Its option `max` makes room for all entries at once: 1.9 MB for 100,000, also when a few
// keys are all that it ever holds.

/** For `get` on a hot path: without options, lru-cache makes an object per call. */
export const NO_OPTIONS = {}

/** Options of a cache that holds at most so many entries, and takes memory for those that it holds. */
export const atMostEntries = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 }) as const

// A histogram without its empty buckets, as it is kept and sent.

/** How many values each bucket holds, by the bucket's number (src/lib/fine-histogram.ts). */
export type BucketCounts = ReadonlyMap<number, number>

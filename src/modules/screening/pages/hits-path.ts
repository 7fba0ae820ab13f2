/** The queue of verified sessions that have an open hit. */
export const VERIFIED_HITS = '/reviews?status=completed&hits=open'

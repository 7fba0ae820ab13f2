/** Verified sessions with an open hit. */
export const VERIFIED_HITS = '/reviews?status=completed&hits=open'

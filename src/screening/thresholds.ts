// From which score on a resemblance is a hit.

/** Where an organization has set none. docs/screening.md has what it finds and what it lets through. */
export const DEFAULT_THRESHOLD = 75
/** Below, nearly every name resembles one of a list. */
export const THRESHOLD_MIN = 60
export const THRESHOLD_MAX = 100

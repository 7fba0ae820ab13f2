// From which score on a resemblance is a hit.

/** Where an organization has set none. docs/screening.md has what it finds and what it lets through. */
export const DEFAULT_THRESHOLD = 75
/** Below, nearly every name resembles one of a list. */
export const THRESHOLD_MIN = 60
export const THRESHOLD_MAX = 100

/** What a trial counts hits from: below the first nobody looks. */
export const TRIAL_THRESHOLDS = [70, 75, 80, 85, 90, 95, 100] as const

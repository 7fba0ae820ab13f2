// How closely an organization has people and businesses checked. A wallet verified at one level is not verified at a
// higher one. Source: spec, "Verification-level rule"; decisions §5.

/** Higher is closer. Compared as numbers everywhere; named where people read or write them. */
export type Level = 1 | 2 | 3

export const LEVELS = { basic: 1, standard: 2, enhanced: 3 } as const satisfies Readonly<Record<string, Level>>

export type LevelName = keyof typeof LEVELS

/** What a new organization starts with. */
export const LEVEL_DEFAULT: Level = LEVELS.basic

const NAMES: Readonly<Record<Level, LevelName>> = { 1: 'basic', 2: 'standard', 3: 'enhanced' }

export const levelName = (level: Level): LevelName => NAMES[level]

/** Null for a name that is none. */
export const parseLevel = (name: string): Level | null =>
  Object.hasOwn(LEVELS, name) ? LEVELS[name as LevelName] : null

/** Minimum age when the organization sets none: a person has to look at sessions of younger people. */
export const ADULT_YEARS = 18

// How thoroughly an organization checks people and businesses. A wallet verified at one level is not verified at a
// higher level. Source: spec, "Verification-level rule"; decisions §5.

/** A higher level is more thorough. Compared as numbers in code; shown and entered as names. */
export type Level = 1 | 2 | 3

export const LEVELS = { basic: 1, standard: 2, enhanced: 3 } as const satisfies Readonly<Record<string, Level>>

export type LevelName = keyof typeof LEVELS

/** The level of a new organization. */
export const LEVEL_DEFAULT: Level = LEVELS.basic

const NAMES: Readonly<Record<Level, LevelName>> = { 1: 'basic', 2: 'standard', 3: 'enhanced' }

export const levelName = (level: Level): LevelName => NAMES[level]

/** Returns null for an unknown name. */
export const parseLevel = (name: string): Level | null =>
  Object.hasOwn(LEVELS, name) ? LEVELS[name as LevelName] : null

/** Default minimum age. A person must review sessions of younger people. */
export const ADULT_YEARS = 18

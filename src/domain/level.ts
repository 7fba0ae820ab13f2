// Verification levels. A wallet verified at one level isn't verified at a higher level. Source: spec,
// "Verification-level rule"; decisions §5.

/** Compared as numbers in code, but shown and entered as names. */
export type Level = 1 | 2 | 3

export const LEVELS = { basic: 1, standard: 2, enhanced: 3 } as const satisfies Readonly<Record<string, Level>>

export type LevelName = keyof typeof LEVELS

export const LEVEL_DEFAULT: Level = LEVELS.basic

const NAMES: Readonly<Record<Level, LevelName>> = { 1: 'basic', 2: 'standard', 3: 'enhanced' }

export const levelName = (level: Level): LevelName => NAMES[level]

export const parseLevel = (name: string): Level | null =>
  Object.hasOwn(LEVELS, name) ? LEVELS[name as LevelName] : null

/** Default minimum age, below which a person must review the session. */
export const ADULT_YEARS = 18

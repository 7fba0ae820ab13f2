// One place of the list: a small change of the source that some test must notice.

export const AREAS = [
  'signing',
  'decisions',
  'access',
  'identity',
  'documents',
  'policy',
  'http',
  'pool',
  'store',
  'facts',
  'webhooks',
  'portal',
  'upkeep',
  'processes',
  'client',
] as const
export type Area = (typeof AREAS)[number]

/** Where nothing may survive. */
export const GUARDED_AREAS: readonly Area[] = ['signing', 'decisions', 'access', 'identity']

export interface Place {
  /** What the change breaks, in a few words. */
  readonly what: string
  /** Of the repository. */
  readonly file: string
  /** Stands in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** Test files that must notice, the quickest first. */
  readonly tests: readonly string[]
}

/** The text with the change. @returns null when `find` does not stand in the text exactly once. */
export const changed = (text: string, { find, replace }: Place): string | null => {
  const at = text.indexOf(find)
  if (at === -1 || text.indexOf(find, at + 1) !== -1) return null
  return `${text.slice(0, at)}${replace}${text.slice(at + find.length)}`
}

/** Places that the same tests must notice in one file: what the change breaks, the text, what replaces it. */
export const placesOf = (
  tests: readonly string[],
  file: string,
  changes: readonly (readonly [what: string, find: string, replace: string])[],
): readonly Place[] => changes.map(([what, find, replace]) => ({ what, file, find, replace, tests }))

// Completions and descriptions at a position in a policy's text, which may be invalid.

import { timeZoneNames } from '../../lib/time-zone.ts'
import type { KnownSources } from '../cel/scope.ts'
import type { FactGroup } from '../fact-field.ts'
import { FACTS } from '../facts.ts'
import { isInCondition } from '../rule-form/condition-lines.ts'
import { SESSION_FACTS } from '../session-facts.ts'
import { FUNCTION_WORDS } from './editor-words.ts'
import { FUNCTIONS, METHODS, TIME_METHODS, VELOCITY_METHODS } from './language.ts'

export interface EditorChoice {
  readonly kind: 'fact' | 'function' | 'method' | 'name'
  readonly label: string
  /** Type or example of the value. */
  readonly detail: string
  readonly description: string
}

export interface EditorChoices {
  /** Start column of the text to replace, which ends at the cursor. */
  readonly from: number
  readonly choices: readonly EditorChoice[]
}

/** Starts at 0; columns count UTF-16 code units. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

const SCREENER_FIELDS: Readonly<Record<string, string>> = { flagged: 'bool', score: 'int', categories: 'list(string)' }

const factsOf = (source: string): Readonly<Record<string, FactGroup>> =>
  /^decides:\s*["']?sessions\b/m.test(source) ? SESSION_FACTS : FACTS

const name = (label: string, description: string): EditorChoice => ({ kind: 'name', label, detail: '', description })

const factChoices = (source: string): readonly EditorChoice[] =>
  Object.entries(factsOf(source)).flatMap(([group, fields]) =>
    Object.entries(fields).map(([field, { type, description }]) => ({
      kind: 'fact' as const,
      label: `${group}.${field}`,
      detail: type.replace('google.protobuf.', '').toLowerCase(),
      description,
    })),
  )

const wordOf = (called: string): (typeof FUNCTION_WORDS)[number] | undefined =>
  FUNCTION_WORDS.find(({ label }) => label.startsWith(`${called}(`))

const functionChoices = (): readonly EditorChoice[] =>
  [...FUNCTIONS].map((called) => {
    const { label = `${called}(…)`, description = '' } = wordOf(called) ?? {}
    return { kind: 'function', label: called, detail: label, description }
  })

const methodChoices = (names: Iterable<string>, of = ''): readonly EditorChoice[] =>
  [...names].map((method) => {
    const { label = `.${method}(…)`, description = '' } = wordOf(of + method) ?? {}
    return { kind: 'method', label: method, detail: label, description }
  })

const namesBelow = (source: string, key: string): readonly string[] => {
  const block =
    new RegExp(`^${key}:[^\\S\\n]*\\n((?:[^\\S\\n]+.*\\n|\\s*\\n|#.*\\n)*)`, 'm').exec(`${source}\n`)?.[1] ?? ''
  const indent = /^([^\S\n]+)\w/m.exec(block)?.[1]
  return indent === undefined
    ? []
    : [...block.matchAll(new RegExp(`^${indent}(\\w+):`, 'gm'))].map(([, found = '']) => found)
}

const usedIn = (source: string, pattern: RegExp): readonly string[] =>
  [...source.matchAll(pattern)].map(([, found = '']) => found).filter((found) => found !== '')

const namesFor = (source: string, known: KnownSources, called: string): readonly EditorChoice[] => {
  const [there, used, what] =
    called === 'in_list'
      ? ([known.lists, /in_list\([^()"]*,\s*"([\w-]+)"/g, 'List'] as const)
      : ([known.screeners, /screener\(\s*"([\w-]+)"/g, 'Screener'] as const)
  const found = new Set([...(there ?? []), ...usedIn(source, used)])
  return [...found]
    .sort()
    .map((one) =>
      name(one, there?.has(one) === true ? `${what} of the deployment.` : `${what} named in this document.`),
    )
}

const membersOf = (source: string, first: string): readonly EditorChoice[] | null => {
  if (first === 'constants')
    return namesBelow(source, 'constants').map((found) => name(found, 'Constant of this document.'))
  if (first === 'reads') return namesBelow(source, 'reads').map((found) => name(found, 'Read of this document.'))
  if (first === 'velocity') return methodChoices(VELOCITY_METHODS, 'velocity.')
  return null
}

export const choicesAt = (
  source: string,
  { line, column }: TextPlace,
  known: KnownSources = {},
): EditorChoices | null => {
  const lines = source.split(/\r?\n/)
  if (!isInCondition((number) => lines[number] ?? '', line)) return null
  const before = (lines[line] ?? '').slice(0, column)
  const inText = /(in_list|screener)\((?:[^()"]*,)?\s*"([\w-]*)$/.exec(before)
  if (inText !== null) {
    const [, called = '', typed = ''] = inText
    // Omits the incomplete name at the cursor, which must not be offered.
    const others = lines.with(line, before.slice(0, column - typed.length)).join('\n')
    return { from: column - typed.length, choices: namesFor(others, known, called) }
  }
  const zoned = /\.get\w+\(\s*"([\w/+-]*)$/.exec(before)
  if (zoned !== null) {
    const choices = timeZoneNames().map((zone) => name(zone, 'Time zone.'))
    return { from: column - (zoned[1] ?? '').length, choices }
  }
  const screened = /screener\([^()]*\)\.(\w*)$/.exec(before)
  if (screened !== null) {
    const choices = Object.entries(SCREENER_FIELDS).map(([label, detail]) => ({
      ...name(label, 'Result of the screener.'),
      detail,
    }))
    return { from: column - (screened[1] ?? '').length, choices }
  }
  const word = /(?:[A-Za-z_][\w.]*|[)\]"]\.\w*)$/.exec(before)?.[0] ?? ''
  const dot = word.lastIndexOf('.')
  const facts = factChoices(source)
  if (dot === -1 || facts.some(({ label }) => label.startsWith(word.slice(0, dot + 1)))) {
    return { from: column - word.length, choices: [...facts, ...functionChoices()] }
  }
  const choices = membersOf(source, word.slice(0, dot)) ?? methodChoices(METHODS, 'request.time.')
  return { from: column - (word.length - dot - 1), choices }
}

export const explainAt = (source: string, { line, column }: TextPlace): EditorChoice | null => {
  const lines = source.split(/\r?\n/)
  if (!isInCondition((number) => lines[number] ?? '', line)) return null
  const text = lines[line] ?? ''
  const start = /[A-Za-z_][\w.]*$/.exec(text.slice(0, column))?.index ?? column
  const word = /^[A-Za-z_][\w.]*/.exec(text.slice(start))?.[0] ?? ''
  const all = [
    ...factChoices(source),
    ...functionChoices(),
    ...methodChoices(VELOCITY_METHODS, 'velocity.'),
    ...methodChoices(TIME_METHODS, 'request.time.'),
  ]
  const isMeant = ({ label, kind, detail }: EditorChoice): boolean =>
    kind === 'method' ? detail.startsWith(`${word}(`) : label === word
  return all.find(isMeant) ?? null
}

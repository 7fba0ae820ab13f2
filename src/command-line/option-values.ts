// Parses option values. Errors never repeat a value, which may be a key.

import { readFileSync } from 'node:fs'
import { AUTHOR_RULE, isAuthor } from '../domain/list.ts'
import { unreadableText } from '../lib/named-error.ts'
import { CommandFailedError, type ParsedCommand, UsageError } from './output.ts'

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const LONGEST_SECONDS = 10 * 365 * 86_400

/** Returns the seconds of `0`, `90`, `90s`, `15m`, `24h` or `30d`. @throws UsageError */
export const parseDuration = (text: string, flag: string): number => {
  const match = /^([0-9]{1,9})([smhd]?)$/.exec(text)
  const seconds = match === null ? Number.NaN : Number(match[1]) * (UNIT_SECONDS[match[2] || 's'] ?? Number.NaN)
  if (!(seconds <= LONGEST_SECONDS)) {
    throw new UsageError(`${flag} must be a duration of at most ten years, for example 24h or 30d`)
  }
  return seconds
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * Returns the Unix seconds of an ISO 8601 date or time with a zone, or of a duration before or after now. @throws
 * UsageError
 */
export const parseMoment = (text: string, flag: string, nowSeconds: number, direction: 'past' | 'future'): number => {
  if (ISO_TIME.test(text) && !Number.isNaN(Date.parse(text))) return Math.floor(Date.parse(text) / 1000)
  if (!/^[0-9]+[smhd]$/.test(text))
    throw new UsageError(`${flag} must be a time such as 2027-01-31T12:00:00Z, or a duration such as 30d`)
  const seconds = parseDuration(text, flag)
  return direction === 'past' ? nowSeconds - seconds : nowSeconds + seconds
}

/** The operation checks the range. @throws UsageError */
export const parseWhole = (text: string, flag: string): number => {
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text)) throw new UsageError(`${flag} must be a whole number`)
  return Number(text)
}

/** Returns the author of a change: the option's value, or the operating system's user. @throws UsageError */
export const nameOf = ({ text }: Pick<ParsedCommand, 'text'>, option: string, user: string): string => {
  const name = text(option) ?? user
  if (!isAuthor(name)) throw new UsageError(`--${option} ${AUTHOR_RULE}`)
  return name
}

const LIMIT_MAX = 1_000

export const parseLimit = (text: string): number => {
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX) throw new UsageError(`--limit must be a whole number from 1 to ${LIMIT_MAX}`)
  return limit
}

/** @param path `-` for stdin. @throws CommandFailedError */
export const readText = (path: string): string => {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new CommandFailedError(`${path} ${unreadableText(error)}`)
  }
}

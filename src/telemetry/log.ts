// Writes one line of JSON per event: `time`, `level`, `message`, then fields. Field names are written in snake case,
// however the code spells them; names inside a field's value stay as they are. The message is a constant text; variable
// parts go into fields, where they are redacted and cut. Logging never throws and never stops a request.
import { loggable } from './loggable.ts'
import { isSecretName, REDACTED, redactText } from './redact.ts'

/** Maximum number of characters waiting in memory while the reader stalls. */
const PENDING_MAX = 1_048_576

/**
 * The part of a Node stream that is used. Bun's `writableLength` stays 0, so the waiting characters are counted here.
 */
export interface LineStream {
  /** False when the line waits in memory. */
  write(line: string): boolean
  on(event: 'error' | 'drain', listener: () => void): unknown
}

/** @returns a function that returns false when it did not accept the line */
export const createLineWriter = (stream: LineStream = process.stderr): ((line: string) => boolean) => {
  let broken = false
  let pending = 0
  // Without a listener, EPIPE would be an uncaught error.
  stream.on('error', () => {
    broken = true
  })
  stream.on('drain', () => {
    pending = 0
  })
  return (line) => {
    if (broken || pending > PENDING_MAX) return false
    if (!stream.write(line)) pending += line.length
    return true
  }
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogFields = Readonly<Record<string, unknown>>

export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger whose lines also carry these fields. */
  with(fields: LogFields): Logger
  /** Number of lines that could not be written since the start, over all loggers of one root. */
  dropped(): number
}

export interface LoggerOptions {
  /** The least severe level that is written. Default: `info`. */
  readonly level?: LogLevel
  /** Writes a line with its line feed; false when it could not. Default: standard error. */
  readonly write?: (line: string) => unknown
  /** Unix milliseconds. */
  readonly now?: () => number
}

/** Names that the line itself uses. A field with such a name gets an underscore. */
const RESERVED = new Set(['time', 'level', 'message'])

/** `requestId` → `request_id`, letter by letter, so that no two names become one. Only names in camel case change. */
const snakeCase = (name: string): string =>
  /^[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*$/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name

/** A field's name as written: safe to print, in snake case, and not taken yet. */
const fieldName = (name: string, fields: LogFields): string => {
  const shown = snakeCase(redactText(name))
  return RESERVED.has(shown) || (shown !== name && Object.hasOwn(fields, shown)) ? `${shown}_` : shown
}

const encodeFields = (fields: LogFields): string => {
  let text = ''
  for (const name of Object.keys(fields)) {
    if (fields[name] === undefined) continue
    const value = isSecretName(name) ? REDACTED : loggable(fields[name])
    text += `,${JSON.stringify(fieldName(name, fields))}:${JSON.stringify(value)}`
  }
  return text
}

export const createLogger = (options: LoggerOptions = {}): Logger => {
  const { level: least = 'info', now = Date.now } = options
  const write = options.write ?? createLineWriter()
  const threshold = LOG_LEVELS.indexOf(least)
  let dropped = 0

  const create = (inherited: LogFields): Logger => {
    const log = (level: LogLevel, message: string, fields: LogFields | undefined): void => {
      if (LOG_LEVELS.indexOf(level) < threshold) return
      try {
        const time = new Date(now()).toISOString()
        const encoded = encodeFields(fields === undefined ? inherited : { ...inherited, ...fields })
        const text = JSON.stringify(redactText(message))
        if (write(`{"time":"${time}","level":"${level}","message":${text}${encoded}}\n`) === false) dropped += 1
      } catch {
        // Nothing can be logged now, so only the count shows it.
        dropped += 1
      }
    }
    return {
      debug: (message, fields) => log('debug', message, fields),
      info: (message, fields) => log('info', message, fields),
      warn: (message, fields) => log('warn', message, fields),
      error: (message, fields) => log('error', message, fields),
      with: (fields) => create({ ...inherited, ...fields }),
      dropped: () => dropped,
    }
  }
  return create({})
}

// Writes one line of JSON per event. The message is constant; fields are redacted, truncated, and named in snake case.
// Never throws.
import { loggable } from './loggable.ts'
import { isSecretName, REDACTED, redactText } from './redact.ts'

/** Maximum characters buffered while the stderr reader stalls. */
const PENDING_MAX = 1_048_576

/** Part of a Node stream. Buffered characters are counted here, because Bun's `writableLength` stays 0. */
export interface LineStream {
  /** Returns false if the line was buffered. */
  write(line: string): boolean
  on(event: 'error' | 'drain', listener: () => void): unknown
}

/** The returned function returns false for a dropped line. */
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
  with(fields: LogFields): Logger
  dropped(): number
}

export interface LoggerOptions {
  /** Minimum level. Defaults to `info`. */
  readonly level?: LogLevel
  /** Returns false if the line could not be written. Defaults to stderr. */
  readonly write?: (line: string) => unknown
  /** Returns the time in Unix milliseconds. */
  readonly now?: () => number
}

/** Fields with these names get an underscore. */
const RESERVED = new Set(['time', 'level', 'message'])

/** `requestId` → `request_id`. Converts each letter, so that different names stay different. */
const snakeCase = (name: string): string =>
  /^[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*$/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name

/** Returns a name that is redacted, in snake case, and unique in the line. */
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
        // Only the count of dropped lines reports this.
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

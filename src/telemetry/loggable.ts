// Converts any value to redacted and truncated JSON. Errors keep their class, code and stack frames (file errors:
// path and description), but no message, which may contain input. A DetailedError also keeps its detail.
import { fileProblem } from '../lib/file-problem.ts'
import { DetailedError, isMissingFile } from '../lib/named-error.ts'
import { isSecretName, REDACTED, redactText } from './redact.ts'

export type Loggable = null | boolean | number | string | Loggable[] | { [field: string]: Loggable }

const DEPTH_MAX = 6
const ITEMS_MAX = 64
const TEXT_MAX = 4_096
/** Maximum length of scanned texts. Longer texts are documents, which are never printed. */
const TEXT_SCANNED_MAX = 65_536
const FRAMES_MAX = 8
const UNREADABLE = '[unreadable]'

const cutText = (text: string): string => {
  if (text.length > TEXT_SCANNED_MAX) return `[${text.length} characters]`
  // Redacted before truncation, so that no partial key remains.
  const redacted = redactText(text)
  return redacted.length > TEXT_MAX ? `${redacted.slice(0, TEXT_MAX)}…` : redacted
}

/** Skips the message, which may span lines. */
const framesOf = (error: Error): string[] => {
  const stack = String(error.stack ?? '')
  const message = String(error.message)
  return stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at ') && line.length < 300)
    .slice(0, FRAMES_MAX)
    .map((line) => redactText(line.slice(7)))
}

const loggableError = (error: Error, depth: number): Loggable => {
  const described: { [field: string]: Loggable } = { class: cutText(String(error.name)) }
  if ('code' in error && typeof error.code === 'string') described['code'] = cutText(error.code)
  if (error instanceof DetailedError) described['detail'] = cutText(error.detail)
  if ('path' in error && typeof error.path === 'string') described['path'] = cutText(error.path)
  const problem = fileProblem(error)
  if (problem === null && !isMissingFile(error)) described['frames'] = framesOf(error)
  else if (problem !== null) described['problem'] = problem
  if (error.cause !== undefined && error.cause !== null) {
    // Other causes may contain input.
    described['cause'] = error.cause instanceof Error ? loggable(error.cause, depth + 1) : typeof error.cause
  }
  return described
}

/** The Solana CLI stores key pairs as arrays of bytes. */
const isByteArray = (value: readonly unknown[]): boolean =>
  value.length >= 32 && value.every((item) => typeof item === 'number' && item >= 0 && item <= 255)

const loggableObject = (value: object, depth: number): Loggable => {
  if (value instanceof Error) return loggableError(value, depth)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (Array.isArray(value)) {
    if (isByteArray(value)) return `[${value.length} bytes]`
    const items = value.slice(0, ITEMS_MAX).map((item) => loggable(item, depth + 1))
    if (value.length > ITEMS_MAX) items.push(`… ${value.length - ITEMS_MAX} more`)
    return items
  }
  if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`
  const fields: { [field: string]: Loggable } = {}
  for (const name of Object.keys(value).slice(0, ITEMS_MAX)) {
    const safeName = cutText(name)
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(fields, safeName, {
      value: isSecretName(name) ? REDACTED : loggable((value as Record<string, unknown>)[name], depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return fields
}

/** Never throws, even if reading the value does. */
export const loggable = (value: unknown, depth = 0): Loggable => {
  try {
    switch (typeof value) {
      case 'string':
        return cutText(value)
      case 'number':
        return Number.isFinite(value) ? value : String(value)
      case 'boolean':
        return value
      case 'bigint':
        return cutText(value.toString())
      case 'object':
        if (value === null) return null
        return depth >= DEPTH_MAX ? '[…]' : loggableObject(value, depth)
      default:
        return value === undefined ? null : `[${typeof value}]`
    }
  } catch {
    // A getter or proxy threw; the thrown value is untrusted, too.
    return UNREADABLE
  }
}

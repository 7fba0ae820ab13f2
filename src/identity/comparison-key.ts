// What sessions are compared with, as a short text: two that differ say that something has changed.
import { createHash } from 'node:crypto'

/** @returns 32 hex digits */
export const comparisonKey = (compared: unknown): string =>
  createHash('sha256').update(JSON.stringify(compared)).digest('hex').slice(0, 32)

// Hashes the compared data to a short key that differs after each change.
import { createHash } from 'node:crypto'

/** @returns 32 hex digits */
export const comparisonKey = (compared: unknown): string =>
  createHash('sha256').update(JSON.stringify(compared)).digest('hex').slice(0, 32)

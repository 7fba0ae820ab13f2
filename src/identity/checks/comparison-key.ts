// Hashes the data that sessions are compared with to a short key, which differs when anything has changed.
import { createHash } from 'node:crypto'

/** @returns 32 hex digits */
export const comparisonKey = (compared: unknown): string =>
  createHash('sha256').update(JSON.stringify(compared)).digest('hex').slice(0, 32)

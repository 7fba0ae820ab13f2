// The service stores 15 minutes by second and a day by minute; windows in between are parts of the day.
import type { QueryOf } from '../api/client.ts'

export interface LiveWindow {
  readonly id: string
  readonly label: string
  readonly seconds: number
  readonly read: NonNullable<QueryOf<'GET /live'>['window']>
  readonly words: string
}

export const QUARTER: LiveWindow = {
  id: '15m',
  label: '15 min',
  seconds: 900,
  read: '15m',
  words: 'the last 15 minutes',
}

/** The shortest window is for observing the effect of a change. */
export const WINDOWS: readonly LiveWindow[] = [
  { id: '2m', label: '2 min', seconds: 120, read: '15m', words: 'the last 2 minutes' },
  QUARTER,
  { id: '1h', label: '1 h', seconds: 3_600, read: '24h', words: 'the last hour' },
  { id: '6h', label: '6 h', seconds: 21_600, read: '24h', words: 'the last 6 hours' },
  { id: '24h', label: '24 h', seconds: 86_400, read: '24h', words: 'the last 24 hours' },
]

export const windowOf = (id: string): LiveWindow => WINDOWS.find((one) => one.id === id) ?? QUARTER

// In a separate file, because the overview, which is loaded first, uses it.
import type { Tone } from '../ui/problem.tsx'

/** Formats at most two units: `2 d 4 h`, `35 min`. */
export const ageWord = (since: string, nowMs: number): string => {
  const minutes = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 60_000))
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`
  if (hours > 0) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return minutes === 0 ? 'under 1 min' : `${minutes} min`
}

const HOUR_MS = 3_600_000

export const ageTone = (since: string, nowMs: number): Tone | 'plain' => {
  const hours = (nowMs - Date.parse(since)) / HOUR_MS
  return hours >= 72 ? 'bad' : hours >= 24 ? 'warn' : 'plain'
}

// Points in time: how long ago for reading, the full one for whoever points at it or needs it.
import { useEffect, useState } from 'preact/hooks'

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const absolute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** `3 min. ago`, `in 2 days`, `now`. */
export const relativeTime = (at: string, nowMs: number): string => {
  const seconds = Math.round((Date.parse(at) - nowMs) / 1000)
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit)
  }
  return Math.abs(seconds) < 10 ? 'now' : relative.format(seconds, 'second')
}

/** In the browser's own zone. */
export const absoluteTime = (at: string): string => absolute.format(new Date(at))

const TICK_MS = 30_000

/** One clock for all times on the screen. */
const watchers = new Set<(nowMs: number) => void>()
let ticking: ReturnType<typeof setInterval> | null = null
const watch = (watcher: (nowMs: number) => void): (() => void) => {
  watchers.add(watcher)
  ticking ??= setInterval(() => {
    const nowMs = Date.now()
    for (const each of watchers) each(nowMs)
  }, TICK_MS)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0 || ticking === null) return
    clearInterval(ticking)
    ticking = null
  }
}

interface TimeProps {
  /** ISO 8601; null shows `none`. */
  readonly at: string | null
  readonly none?: string
  /** The full one, written out. */
  readonly full?: boolean
}

export const Time = ({ at, none = 'never', full = false }: TimeProps) => {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => watch(setNowMs), [])
  if (at === null) return <span class="faint">{none}</span>
  return (
    <time dateTime={at} title={`${absoluteTime(at)} (${at})`}>
      {full ? absoluteTime(at) : relativeTime(at, nowMs)}
    </time>
  )
}

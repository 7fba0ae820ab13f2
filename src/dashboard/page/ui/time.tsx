import { useEffect, useState } from 'preact/hooks'
import { absoluteTime, relativeTime } from './relative-time.ts'

const TICK_MS = 30_000

/** All times on the page share one timer. */
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
  /** Time in ISO 8601; null shows `none`. */
  readonly at: string | null
  readonly none?: string
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

// Data of the live page: stored figures, then one streamed event per second.
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressFor, call } from '../api/client.ts'
import type { LivePoint, Process } from '../api/types.ts'
import { useReadAgain } from '../data/use-query.ts'
import type { LiveWindow } from './windows.ts'

/** Totals, and figures per process. */
export type LiveSecond = LivePoint & { readonly processes: readonly Process[] }

export interface Live {
  readonly points: readonly LivePoint[] | null
  readonly newest: LiveSecond | null
  /** `lost`: the stream is silent, or was interrupted and is being reopened. */
  readonly state: 'connecting' | 'open' | 'lost'
  readonly error: unknown
  readonly retry: () => void
}

const REOPEN_MS = 3_000
/** Time without an event after which an open stream counts as lost; one event per second is expected. */
const SILENT_MS = 5_000
/** Interval at which a window of minutes is read again. */
const REREAD_MS = 60_000

const within = (points: readonly LivePoint[], { seconds }: LiveWindow): readonly LivePoint[] => {
  const last = points.at(-1)
  if (last === undefined) return points
  const from = last.at - seconds * 1000
  const first = points.findIndex(({ at }) => at >= from)
  return first <= 0 ? points : points.slice(first)
}

/** A new watcher receives the last second again, so a point may be a duplicate. */
const append = (points: readonly LivePoint[], point: LivePoint): readonly LivePoint[] => {
  const last = points.at(-1)
  return last !== undefined && last.at >= point.at ? points : [...points, point]
}

export const useLive = (window: LiveWindow): Live => {
  const [points, setPoints] = useState<readonly LivePoint[] | null>(null)
  const [newest, setNewest] = useState<LiveSecond | null>(null)
  const [state, setState] = useState<Live['state']>('connecting')
  const [error, setError] = useState<unknown>(null)
  const [turn, setTurn] = useState(0)
  const retry = useRef(() => setTurn((now) => now + 1)).current
  useReadAgain(retry)

  useEffect(() => {
    const controller = new AbortController()
    const read = async (): Promise<void> => {
      try {
        const answer = await call('GET /live', { query: { window: window.read }, signal: controller.signal })
        setPoints((before) => {
          const newer =
            window.read === '15m' ? (before ?? []).filter(({ at }) => at > (answer.points.at(-1)?.at ?? 0)) : []
          return within([...answer.points, ...newer], window)
        })
        setError(null)
      } catch (failure) {
        if (!controller.signal.aborted) setError(failure)
      }
    }
    setPoints(null)
    void read()
    const timer = window.read === '24h' ? setInterval(() => void read(), REREAD_MS) : null
    return () => {
      controller.abort()
      if (timer !== null) clearInterval(timer)
    }
  }, [window.id, turn])

  useEffect(() => {
    let source: EventSource | null = null
    let timer: ReturnType<typeof setTimeout> | null = null
    let silence: ReturnType<typeof setTimeout> | undefined
    const hear = (): void => {
      clearTimeout(silence)
      silence = setTimeout(() => setState('lost'), SILENT_MS)
      setState('open')
    }
    const open = (): void => {
      source = new EventSource(addressFor('GET /live/stream'))
      source.onopen = hear
      source.onmessage = ({ data }: MessageEvent<string>) => {
        hear()
        const point = JSON.parse(data) as LiveSecond | null
        if (point === null) return
        setNewest(point)
        if (window.read === '15m')
          setPoints((before) => (before === null ? null : within(append(before, point), window)))
      }
      source.onerror = () => {
        clearTimeout(silence)
        setState('lost')
        // EventSource reconnects by itself unless the server refused; then the session must be checked.
        if (source?.readyState !== EventSource.CLOSED) return
        timer = setTimeout(retry, REOPEN_MS)
      }
    }
    open()
    return () => {
      source?.close()
      clearTimeout(silence)
      if (timer !== null) clearTimeout(timer)
    }
  }, [window.id, turn])

  return { points, newest, state, error, retry }
}

// The page's view of its session, read after every change, after stream events, and when the page becomes visible.
// Older responses are dropped.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isSessionFinal } from '../../domain/session.ts'
import type { SessionView } from '../contract.ts'
import { NetworkError, RefusedError, type SessionCalls } from './api.ts'

const RETRY_MS = 3_000
/** Delay before a stream that the server closed is opened again. */
const STREAM_RETRY_MS = 15_000

interface SessionModel {
  readonly view: SessionView | null
  /** Reason that the session can't be read; null if it can be read. */
  readonly failure: RefusedError | null
  readonly apply: (view: SessionView) => void
  readonly refresh: () => void
  /** Makes other tabs read the session again after the person has left this browser. */
  readonly tellTabs: () => void
}

export const useSession = (calls: SessionCalls): SessionModel => {
  const [view, setView] = useState<SessionView | null>(null)
  const [failure, setFailure] = useState<RefusedError | null>(null)
  const turn = useRef(0)
  const sequence = useRef(-1)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const channel = useRef<BroadcastChannel | null>(null)

  const accept = useCallback((next: SessionView): void => {
    setFailure(null)
    if (next.sequence < sequence.current) return
    sequence.current = next.sequence
    setView(next)
  }, [])

  const apply = useCallback(
    (next: SessionView): void => {
      turn.current += 1
      accept(next)
      // The stream reports only changes of status and wallets, so other tabs are notified here.
      channel.current?.postMessage('changed')
    },
    [accept],
  )

  const refresh = useCallback((): void => {
    clearTimeout(timer.current)
    turn.current += 1
    const mine = turn.current
    calls.view().then(
      (next) => {
        if (turn.current === mine) accept(next)
      },
      (error: unknown) => {
        if (turn.current !== mine) return
        if (error instanceof RefusedError && error.status === 404) setFailure(error)
        else if (error instanceof NetworkError || error instanceof RefusedError) {
          timer.current = setTimeout(refresh, RETRY_MS)
        }
      },
    )
  }, [calls, accept])

  useEffect(() => {
    refresh()
    const comeBack = (): void => {
      if (document.visibilityState === 'visible') refresh()
    }
    const tabs = new BroadcastChannel(`portal-${calls.path}`)
    channel.current = tabs
    tabs.onmessage = refresh
    window.addEventListener('online', refresh)
    document.addEventListener('visibilitychange', comeBack)
    return () => {
      clearTimeout(timer.current)
      tabs.close()
      window.removeEventListener('online', refresh)
      document.removeEventListener('visibilitychange', comeBack)
    }
  }, [refresh])

  // Starts after the first read, because the stream's first event repeats the current state and would cause a second
  // read.
  const followed = view !== null && !isSessionFinal(view.status)
  useEffect(() => {
    if (!followed) return
    let source: EventSource | undefined
    let again: ReturnType<typeof setTimeout> | undefined
    const follow = (): void => {
      source = new EventSource(`${calls.path}/events`)
      source.onmessage = ({ lastEventId }: MessageEvent<string>) => {
        if (Number(lastEventId) > sequence.current) refresh()
      }
      source.onerror = () => {
        if (source?.readyState !== EventSource.CLOSED) return
        again = setTimeout(() => {
          refresh()
          follow()
        }, STREAM_RETRY_MS)
      }
    }
    follow()
    return () => {
      clearTimeout(again)
      source?.close()
    }
  }, [calls, refresh, followed])

  const tellTabs = useCallback((): void => channel.current?.postMessage('changed'), [])

  return { view, failure, apply, refresh, tellTabs }
}

export const useOnline = (): boolean => {
  const [online, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const change = (): void => setOnline(navigator.onLine)
    window.addEventListener('online', change)
    window.addEventListener('offline', change)
    return () => {
      window.removeEventListener('online', change)
      window.removeEventListener('offline', change)
    }
  }, [])
  return online
}

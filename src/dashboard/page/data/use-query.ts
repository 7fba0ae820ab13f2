// The previous value stays visible during a reload; outdated responses are dropped.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type AnswerOf, type CallRest, call, type OperationKey } from '../api/client.ts'

export interface Query<Value> {
  readonly value: Value | null
  readonly error: unknown
  readonly loading: boolean
  readonly reload: () => void
  readonly set: (value: Value) => void
}

/** Wraps a value that is read elsewhere. */
export const knownQuery = <Value>(value: Value, reload: () => void = () => undefined): Query<Value> => ({
  value,
  error: null,
  loading: false,
  reload,
  set: reload,
})

/** Event that reloads all queries, for example after another sign-in. */
export const READ_AGAIN = 'dashboard-read-again'

export const useReadAgain = (again: () => void): void => {
  useEffect(() => {
    window.addEventListener(READ_AGAIN, again)
    return () => window.removeEventListener(READ_AGAIN, again)
  }, [again])
}

/** @param dependencies values that `load` uses; the value is kept while they are unchanged */
export const useQuery = <Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: readonly unknown[],
): Query<Value> => {
  const [value, setValue] = useState<Value | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [loading, setLoading] = useState(true)
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const shown = useRef<readonly unknown[] | null>(null)
  const key = JSON.stringify(dependencies)
  // `key` represents the dependencies; `turn` requests a reload.
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    // The previous value belongs to other dependencies.
    if (shown.current !== null && JSON.stringify(shown.current) !== key) setValue(null)
    shown.current = dependencies
    setLoading(true)
    latest.current(signal).then(
      (read) => {
        if (signal.aborted) return
        setValue(read)
        setError(null)
        setLoading(false)
      },
      (failure: unknown) => {
        if (signal.aborted) return
        setError(failure)
        setLoading(false)
      },
    )
    return () => controller.abort()
  }, [key, turn])
  const reload = useCallback(() => setTurn((now) => now + 1), [])
  useReadAgain(reload)
  const set = useCallback((next: Value) => {
    setValue(next)
    setError(null)
  }, [])
  return { value, error, loading, reload, set }
}

/** Calls a read operation, and repeats the call if the parameters or `again` change. */
export const useRead = <Key extends OperationKey>(
  key: Key,
  ...rest: [...CallRest<Key>, again?: unknown]
): Query<AnswerOf<Key>> => {
  const [options, again] = rest as unknown as [options?: object, again?: unknown]
  return useQuery(
    (signal) => call(key, ...([{ ...options, signal }] as unknown as CallRest<Key>)),
    [key, options, again],
  )
}

// Reading: once when shown, anew when what it depends on changes or when asked to. What was read stays on the screen while
// it is read again; an answer that was overtaken is dropped.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type AnswerOf, type CallRest, call, type OperationKey } from '../api/client.ts'

export interface Query<Value> {
  /** Null until it was first read. */
  readonly value: Value | null
  /** Why the last reading failed; null when it did not. */
  readonly error: unknown
  readonly loading: boolean
  readonly reload: () => void
  /** Takes what a change answered, without reading again. */
  readonly set: (value: Value) => void
}

/** A value that something else reads. */
export const knownQuery = <Value>(value: Value, reload: () => void = () => undefined): Query<Value> => ({
  value,
  error: null,
  loading: false,
  reload,
  set: reload,
})

/** Everything that is shown is read again: after signing in anew. */
export const READ_AGAIN = 'dashboard-read-again'

/** Calls back when everything should be read again. */
export const useReadAgain = (again: () => void): void => {
  useEffect(() => {
    window.addEventListener(READ_AGAIN, again)
    return () => window.removeEventListener(READ_AGAIN, again)
  }, [again])
}

/**
 * @param dependencies what `load` uses; while they stay the same, so does what was read
 */
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
  // The key stands for the dependencies, the turn asks again
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    // Of something else: not to be taken for this.
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

/**
 * Reads an operation, again if its parameters change.
 * @param again what else the answer depends on, such as a revision
 */
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

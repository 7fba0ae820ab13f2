// Paged list. A changed filter starts again from the first page.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type AnswerOf, type CallRest, call, type OperationKey } from '../api/client.ts'
import { fieldProblemOf } from '../api/errors.ts'
import { useReadAgain } from './use-query.ts'

export interface Page<Item> {
  readonly data: readonly Item[]
  readonly next_cursor?: string | null
}

export interface Pages<Item> {
  readonly items: readonly Item[] | null
  readonly error: unknown
  readonly loading: boolean
  readonly more: boolean
  readonly loadMore: () => void
  /** Reads the first page again; the current items stay visible until then. */
  readonly reload: () => void
}

interface State<Item> {
  readonly items: readonly Item[] | null
  readonly cursor: string | null
  readonly error: unknown
  readonly loading: boolean
}

const EMPTY = { items: null, cursor: null, error: null, loading: true } as const

/** Reads again if `dependencies` change. @param load reads the page at a cursor; undefined for the first page */
export const usePages = <Item>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  dependencies: readonly unknown[],
): Pages<Item> => {
  const [state, setState] = useState<State<Item>>(EMPTY)
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const running = useRef<AbortController | null>(null)
  /** Items of the previous filters, which stay visible if the new filters are invalid. */
  const previous = useRef<readonly Item[] | null>(null)
  const key = JSON.stringify(dependencies)

  const read = useCallback((cursor: string | null): void => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setState((before) => ({ ...before, loading: true }))
    latest.current(cursor ?? undefined, controller.signal).then(
      ({ data, next_cursor: next }) => {
        if (controller.signal.aborted) return
        setState(({ items }) => ({
          items: cursor === null ? data : [...(items ?? []), ...data],
          cursor: next ?? null,
          error: null,
          loading: false,
        }))
      },
      (error: unknown) => {
        if (controller.signal.aborted) return
        const kept = fieldProblemOf(error) === null ? null : previous.current
        setState((before) => ({ ...before, items: before.items ?? kept, error, loading: false }))
      },
    )
  }, [])

  const shown = useRef(key)
  // `key` represents the dependencies; `turn` requests a reload.
  useEffect(() => {
    if (shown.current !== key) {
      setState(({ items }) => {
        previous.current = items ?? previous.current
        return EMPTY
      })
    }
    shown.current = key
    read(null)
    return () => running.current?.abort()
  }, [key, turn])

  const reload = useCallback(() => setTurn((now) => now + 1), [])
  useReadAgain(reload)
  const { items, cursor, error, loading } = state
  return { items, error, loading, more: cursor !== null, loadMore: () => read(cursor), reload }
}

type ItemOf<Answer> = Answer extends { readonly data: readonly (infer Item)[] } ? Item : never

/** Reads an operation's list, and reads it again if the parameters change. */
export const useList = <Key extends OperationKey>(
  key: Key,
  ...[options]: CallRest<Key>
): Pages<ItemOf<AnswerOf<Key>>> =>
  usePages(
    (cursor, signal) => {
      const { query } = (options ?? {}) as { readonly query?: object }
      const parts = { ...options, query: { ...query, cursor }, signal }
      return call(key, ...([parts] as unknown as CallRest<Key>)) as Promise<Page<ItemOf<AnswerOf<Key>>>>
    },
    [key, options],
  )

/** Reads all pages of a short list, such as choices in forms: at most `limit` items. */
export const readAll = async <Item>(
  load: (cursor: string | undefined) => Promise<Page<Item>>,
  limit = 1_000,
): Promise<readonly Item[]> => {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await load(cursor)
    items.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && items.length < limit)
  return items
}

// Runs long reads in a separate thread, so that a listing does not delay an attestation.
import { threadEntry } from '../../program/entries.ts'
import type { SqlParameter } from '../database.ts'

export type LongReadOrder =
  | { readonly type: 'start'; readonly path: string }
  | {
      readonly type: 'read'
      readonly id: number
      readonly sql: string
      readonly parameters: readonly SqlParameter[]
    }
  | { readonly type: 'stop' }

export interface LongReadReply {
  readonly id: number
  readonly rows: readonly unknown[] | null
}

interface ReadThread {
  send(order: LongReadOrder): void
  stop(): Promise<void>
}

export const createLongReads = (path: string) => {
  const waiting = new Map<number, (rows: readonly unknown[] | null) => void>()
  let thread: ReadThread | null = null
  let lastId = 0

  const resolveRead = ({ id, rows }: LongReadReply): void => {
    waiting.get(id)?.(rows)
    waiting.delete(id)
  }

  const start = (): ReadThread => {
    // This file is also compiled with browser types.
    const worker = new Worker(threadEntry('src/store/sqlite/long-reads.worker.ts'), { smol: true }) as Bun.Worker
    const ended = Promise.withResolvers<void>()
    worker.addEventListener('message', (event) =>
      resolveRead((event as unknown as { readonly data: LongReadReply }).data),
    )
    worker.addEventListener('close', () => {
      thread = null
      for (const id of [...waiting.keys()]) resolveRead({ id, rows: null })
      ended.resolve()
    })
    // The `close` event is handled instead: this event's message would reveal source code.
    worker.addEventListener('error', (event) => event.preventDefault())
    const send = (order: LongReadOrder): void => worker.postMessage(order)
    send({ type: 'start', path })
    worker.unref()
    return {
      send,
      stop: () => {
        worker.ref()
        send({ type: 'stop' })
        return ended.promise
      },
    }
  }

  return {
    /** Returns null if the read failed or the thread exited: the caller must then read on its own connection. */
    read: (sql: string, parameters: readonly SqlParameter[]): Promise<readonly unknown[] | null> =>
      new Promise((resolve) => {
        thread ??= start()
        lastId += 1
        waiting.set(lastId, resolve)
        thread.send({ type: 'read', id: lastId, sql, parameters })
      }),
    stop: async (): Promise<void> => thread?.stop(),
  }
}

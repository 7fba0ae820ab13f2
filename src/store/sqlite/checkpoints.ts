// Runs the checkpoint thread, so that the thread that answers requests does not wait for the disk. Without it, now and
// then a single commit waits for the disk on behalf of hundreds before it (https://sqlite.org/wal.html, "Automatic
// Checkpoint").

import { threadEntry } from '../../program/entries.ts'

export type CheckpointOrder =
  | {
      readonly type: 'start'
      readonly path: string
      /** A shared counter that increments with each commit. */
      readonly commits: Int32Array
    }
  | { readonly type: 'stop' }

export interface Checkpoints {
  /** Call after each commit. */
  committed(): void
  /** Resolves when the thread has closed its connection and ended. */
  stop(): Promise<void>
}

/** @param onLost called when the thread has ended by itself: the caller must then run checkpoints in another way */
export const startCheckpoints = (path: string, onLost: () => void): Checkpoints => {
  const commits = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // The type is named, because this file is also compiled with a browser's types.
  const worker = new Worker(threadEntry('src/store/sqlite/checkpoint.worker.ts'), { smol: true }) as Bun.Worker
  const ended = Promise.withResolvers<void>()
  let stopping = false
  worker.addEventListener('close', () => {
    if (!stopping) onLost()
    ended.resolve()
  })
  // A `close` event follows and is handled; this event's text would show source code.
  worker.addEventListener('error', (event) => event.preventDefault())
  const send = (order: CheckpointOrder): void => worker.postMessage(order)
  send({ type: 'start', path, commits })
  worker.unref()

  return {
    committed: () => void Atomics.add(commits, 0, 1),
    stop: () => {
      if (!stopping) {
        stopping = true
        worker.ref()
        send({ type: 'stop' })
      }
      return ended.promise
    },
  }
}

// Runs the checkpoint thread. Without it, some commits wait for the disk on behalf of hundreds of others
// (https://sqlite.org/wal.html, "Automatic Checkpoint").

import { threadEntry } from '../../program/entries.ts'

export type CheckpointOrder =
  | { readonly type: 'start'; readonly path: string; readonly commits: Int32Array }
  | { readonly type: 'stop' }

/** @param onLost called if the thread ends unexpectedly; the caller must then run checkpoints itself */
export const startCheckpoints = (path: string, onLost: () => void) => {
  const commits = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // This file is also compiled with browser types.
  const worker = new Worker(threadEntry('src/store/sqlite/checkpoint.worker.ts'), { smol: true }) as Bun.Worker
  const ended = Promise.withResolvers<void>()
  let stopping = false
  worker.addEventListener('close', () => {
    if (!stopping) onLost()
    ended.resolve()
  })
  // The `close` event is handled instead: this event's message would reveal source code.
  worker.addEventListener('error', (event) => event.preventDefault())
  const send = (order: CheckpointOrder): void => worker.postMessage(order)
  send({ type: 'start', path, commits })
  worker.unref()

  return {
    committed: () => void Atomics.add(commits, 0, 1),
    stop: (): Promise<void> => {
      if (!stopping) {
        stopping = true
        worker.ref()
        send({ type: 'stop' })
      }
      return ended.promise
    },
  }
}

export type Checkpoints = ReturnType<typeof startCheckpoints>

// Keeps the disk's waiting away from the thread that answers requests: a thread of its own moves committed pages from the
// write-ahead log into the database file. Without it, a commit now and then pays for hundreds before it with the disk's
// whole latency (https://sqlite.org/wal.html, "Automatic Checkpoint").

export type CheckpointOrder =
  | {
      readonly type: 'start'
      readonly path: string
      /** One counter, shared: rises with each commit. */
      readonly commits: Int32Array
    }
  | { readonly type: 'stop' }

export interface Checkpoints {
  /** To be called after each commit. */
  committed(): void
  /** Resolves when the thread has closed its connection and ended. */
  stop(): Promise<void>
}

/** @param onLost the thread has ended by itself: someone else has to do its work. */
export const startCheckpoints = (path: string, onLost: () => void): Checkpoints => {
  const commits = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // Named, since this file is also compiled beside a browser's types.
  const worker = new Worker(new URL('./checkpoint.worker.ts', import.meta.url).href, { smol: true }) as Bun.Worker
  const ended = Promise.withResolvers<void>()
  let stopping = false
  worker.addEventListener('close', () => {
    if (!stopping) onLost()
    ended.resolve()
  })
  // Its end follows, and is what counts; the event's text would show source code.
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

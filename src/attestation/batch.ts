// Many attestations asked for at once: each is decoded, decided and answered by itself, in its place, with a verdict or
// its own error; none waits for another or fails with it. A few are under way at a time, so that one batch neither fills
// the queue nor holds the thread. At the deadline, what is not answered is 408, and a signature that comes later is
// withheld (invariant 4).
import { DeadlineExceededError } from '../domain/errors.ts'

export interface BatchOptions {
  readonly size: number
  /** Answers one element by its index. Rejects with its error. */
  readonly perform: (index: number) => Promise<ElementAnswer>
  /** An element's error as its line. */
  readonly describe: (index: number, error: unknown) => string
  /** The answer came after the element's 408. */
  readonly withhold: (answer: ElementAnswer) => void
  /** Calls back once, at the time by which all must be answered; answers how to call that off. */
  readonly atDeadline: (callback: () => void) => () => void
  /** Elements under way at once. */
  readonly lanes?: number
}

export interface ElementAnswer {
  /** The attestation's; null for an answer of an earlier request. */
  readonly uuid: string | null
  /** The element's line: one JSON object without line breaks. */
  readonly line: string
}

export interface Batch {
  /** Each line in its turn, as soon as those before it are there. Resolves when all are written. */
  run(write: (line: string) => void): Promise<void>
  /** Nobody reads any more: starts no further element. Those under way are decided and recorded. */
  abandon(): void
}

const LANES = 128

export const createBatch = (options: BatchOptions): Batch => {
  const { size, perform, describe, withhold, atDeadline, lanes = LANES } = options
  const lines: (string | undefined)[] = new Array(size).fill(undefined)
  let next = 0
  let written = 0
  let closed = false
  let abandoned = false

  const settle = async (index: number): Promise<void> => {
    try {
      const answer = await perform(index)
      if (closed) withhold(answer)
      else lines[index] = answer.line
    } catch (error) {
      if (!closed) lines[index] = describe(index, error)
    }
  }
  const flush = (write: (line: string) => void): void => {
    if (abandoned) return
    for (let line = lines[written]; line !== undefined; line = lines[++written]) write(line)
  }
  const runLane = async (write: (line: string) => void): Promise<void> => {
    while (next < size && !closed) {
      await settle(next++)
      if (!closed) flush(write)
    }
  }

  return {
    run: async (write) => {
      let callOff = (): void => undefined
      const deadline = new Promise<void>((resolve) => {
        callOff = atDeadline(resolve)
      })
      await Promise.race([deadline, Promise.all(Array.from({ length: Math.min(lanes, size) }, () => runLane(write)))])
      callOff()
      closed = true
      if (abandoned || written === size) return
      const error = new DeadlineExceededError()
      for (let index = written; index < size; index++) lines[index] ??= describe(index, error)
      flush(write)
    },
    abandon: () => {
      abandoned = true
      next = size
    },
  }
}

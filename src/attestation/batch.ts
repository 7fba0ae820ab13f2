// Answers many attestation requests at once. Each element is decoded, decided and answered separately, with a verdict
// or its own error; no element waits for another or fails because of it. Only a few are under way at a time, so that
// one batch neither fills the queue nor blocks the thread. At the deadline, elements without an answer get 408, and a
// signature that comes later is withheld (invariant 4).
import { DeadlineExceededError } from '../domain/errors.ts'

export interface BatchOptions {
  readonly size: number
  /** Answers the element at this index. Rejects with the element's error. */
  readonly perform: (index: number) => Promise<ElementAnswer>
  /** Turns an element's error into its line. */
  readonly describe: (index: number, error: unknown) => string
  /** Called when an answer came after the element's 408. */
  readonly withhold: (answer: ElementAnswer) => void
  /** Calls back once, when all elements must be answered; returns a function that cancels the call. */
  readonly atDeadline: (callback: () => void) => () => void
  /** Maximum number of elements under way at once. */
  readonly lanes?: number
}

export interface ElementAnswer {
  /** The attestation's uuid; null for the stored answer of an earlier request. */
  readonly uuid: string | null
  /** The element's line: one JSON object without line breaks. */
  readonly line: string
}

export interface Batch {
  /**
   * Writes the lines in the order of the elements, each as soon as those before it are written. Resolves after the last
   * one.
   */
  run(write: (line: string) => void): Promise<void>
  /** Call when the reader has left: starts no further element. Those under way are still decided and recorded. */
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

  const answerElement = async (index: number): Promise<void> => {
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
      await answerElement(next++)
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

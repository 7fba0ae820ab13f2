// Answers many attestation requests with limited concurrency. Elements neither wait for each other nor fail together.
// At the deadline, unanswered elements get 408, and later signatures are withheld (invariant 4).
import { DeadlineExceededError } from '../domain/errors.ts'

export interface BatchOptions {
  readonly size: number
  /** Rejects with the element’s error. */
  readonly perform: (index: number) => Promise<ElementAnswer>
  /** Returns the response line for an element's error. */
  readonly describe: (index: number, error: unknown) => string
  readonly withhold: (answer: ElementAnswer) => void
  /** Returns a function that cancels the callback. */
  readonly atDeadline: (callback: () => void) => () => void
  readonly lanes?: number
}

export interface ElementAnswer {
  /** Null for the stored answer of an earlier request. */
  readonly uuid: string | null
  /** Response line: JSON without line breaks. */
  readonly line: string
}

const LANES = 128

export const createBatch = (options: BatchOptions) => {
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
    /** Writes each line as soon as all earlier elements are written. */
    run: async (write: (line: string) => void): Promise<void> => {
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
    /** Stops starting elements. Elements in flight are still decided and recorded. */
    abandon: () => {
      abandoned = true
      next = size
    },
  }
}

export type Batch = ReturnType<typeof createBatch>

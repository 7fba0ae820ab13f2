// Sends a request to several processes. A round ends when all have responded or ended, or at the timeout.
import type { Timers } from '../lib/time.ts'

export interface Rounds<Answer> {
  /** @param ask sends the request with this id @param over receives the responses by process */
  begin(
    indexes: readonly number[],
    ask: (id: number) => void,
    over: (answers: ReadonlyMap<number, Answer>) => void,
  ): void
  take(id: number, index: number, answer: Answer): void
  drop(index: number): void
}

interface Round<Answer> {
  readonly answers: Map<number, Answer>
  readonly waiting: Set<number>
  finish(): void
}

export const createRounds = <Answer>(limitMs: number, after: Timers['after']): Rounds<Answer> => {
  const rounds = new Map<number, Round<Answer>>()
  let last = 0
  const done = (round: Round<Answer>, index: number): void => {
    round.waiting.delete(index)
    if (round.waiting.size === 0) round.finish()
  }
  return {
    begin: (indexes, ask, over) => {
      const id = ++last
      const finish = (): void => {
        cancel()
        rounds.delete(id)
        over(round.answers)
      }
      const round: Round<Answer> = { answers: new Map(), waiting: new Set(indexes), finish }
      const cancel = after(limitMs, finish)
      rounds.set(id, round)
      ask(id)
      if (indexes.length === 0) finish()
    },
    take: (id, index, answer) => {
      const round = rounds.get(id)
      if (round === undefined || !round.waiting.has(index)) return
      round.answers.set(index, answer)
      done(round, index)
    },
    drop: (index) => {
      for (const round of [...rounds.values()]) if (round.waiting.has(index)) done(round, index)
    },
  }
}

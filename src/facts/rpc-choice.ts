// Combines RPC URLs of a chain: verifies each before use, and uses the next if one fails. If configured, two URLs must
// agree (threats: a lying RPC).

import { type Breaker, createBreaker } from '../lib/breaker.ts'
import { DetailedError } from '../lib/named-error.ts'
import type { Clock } from '../lib/time.ts'
import type { JsonRpc } from './json-rpc.ts'

export class RpcUnavailableError extends DetailedError {}

export type RpcAnswer = string | number | boolean | null

export interface RpcChoice {
  ask<Answer extends RpcAnswer>(question: (rpc: JsonRpc) => Promise<Answer>): Promise<Answer>
}

export interface RpcChoiceOptions {
  readonly rpcs: readonly JsonRpc[]
  /** Throws if the URL doesn't serve the chain. Called before each query until it succeeds. */
  readonly verify: (rpc: JsonRpc) => Promise<void>
  readonly agreement: number
  readonly clock: Clock
  readonly onError: (error: unknown, index: number) => void
}

interface Endpoint {
  readonly rpc: JsonRpc
  readonly breaker: Breaker
  readonly index: number
  verified: boolean
}

interface Tally<Answer> {
  readonly answer: Answer
  count: number
}

export const createRpcChoice = ({ rpcs, verify, agreement, clock, onError }: RpcChoiceOptions): RpcChoice => {
  const endpoints: readonly Endpoint[] = rpcs.map((rpc, index) => ({
    rpc,
    index,
    breaker: createBreaker({ clock }),
    verified: false,
  }))

  const askOne = async <Answer>(
    endpoint: Endpoint,
    question: (rpc: JsonRpc) => Promise<Answer>,
  ): Promise<{ readonly answer: Answer } | null> => {
    try {
      if (!endpoint.verified) await verify(endpoint.rpc)
      endpoint.verified = true
      const answer = await question(endpoint.rpc)
      endpoint.breaker.succeeded()
      return { answer }
    } catch (error) {
      endpoint.breaker.failed()
      onError(error, endpoint.index)
      return null
    }
  }

  return {
    ask: async <Answer extends RpcAnswer>(question: (rpc: JsonRpc) => Promise<Answer>): Promise<Answer> => {
      const left = [...endpoints]
      const tallies: Tally<Answer>[] = []
      /** Skips endpoints with an open breaker. */
      const take = (count: number): Endpoint[] => {
        const taken: Endpoint[] = []
        while (taken.length < count) {
          const endpoint = left.shift()
          if (endpoint === undefined) break
          if (endpoint.breaker.permits()) taken.push(endpoint)
        }
        return taken
      }
      for (;;) {
        const best = Math.max(0, ...tallies.map(({ count }) => count))
        const taken = take(agreement - best)
        if (taken.length === 0) {
          throw new RpcUnavailableError(
            tallies.length > 1 ? 'the RPC URLs returned different answers' : 'too few RPC URLs responded',
          )
        }
        for (const result of await Promise.all(taken.map((endpoint) => askOne(endpoint, question)))) {
          if (result === null) continue
          const same = tallies.find(({ answer }) => answer === result.answer)
          if (same === undefined) tallies.push({ answer: result.answer, count: 1 })
          else same.count += 1
        }
        const agreed = tallies.find(({ count }) => count >= agreement)
        if (agreed !== undefined) return agreed.answer
      }
    },
  }
}

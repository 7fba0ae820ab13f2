// Several RPC URLs of one chain as one: each is checked to serve that chain before anything it says is believed; when one
// fails the next is asked; and where the deployment wants it, two have to say the same (threats: a lying RPC).
import type { Clock } from '../domain/time.ts'
import { type Breaker, createBreaker } from './breaker.ts'
import type { JsonRpc } from './json-rpc.ts'

/** No URL answered, or they don't agree. `detail` is for the operator. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError'
  readonly detail: string
  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

export type RpcAnswer = string | number | boolean | null

export interface RpcChoice {
  /** @throws RpcUnavailableError */
  ask<Answer extends RpcAnswer>(question: (rpc: JsonRpc) => Promise<Answer>): Promise<Answer>
}

export interface RpcChoiceOptions {
  /** In order of preference. */
  readonly rpcs: readonly JsonRpc[]
  /** Throws when the URL does not serve the chain. Asked again until it once did not throw. */
  readonly verify: (rpc: JsonRpc) => Promise<void>
  /** How many have to give the same answer. */
  readonly agreement: number
  readonly clock: Clock
  /** Told of every failure of a URL, by its place in the list. */
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
      /** As many as could make the answer complete, passing over those that are known to be down. */
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
          throw new RpcUnavailableError(tallies.length > 1 ? 'the RPC URLs do not agree' : 'too few RPC URLs answer')
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

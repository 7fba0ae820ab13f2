// Answers one decoded v1 request. Source: spec A2, decisions §3.
import type { TaskExpiry } from './expiry.ts'
import type { AttestHandler, Decide } from './job.ts'

export const createEvaluateTask =
  (decide: Decide, expiry: TaskExpiry): AttestHandler =>
  async (call, context) => {
    const { chain, nowSeconds } = call.request
    const answer = await decide(
      'task',
      call,
      context,
      ({ lifetimeSeconds }) =>
        expiry.known(chain.name, nowSeconds, lifetimeSeconds) ?? { expiration: null, lifetimeSeconds },
    )
    if (answer.body !== '') return answer
    // Only a signature needs the latest block. The policy may change while the chain is asked, so decide again.
    return decide('task', call, context, ({ lifetimeSeconds }) => expiry.after(chain.name, nowSeconds, lifetimeSeconds))
  }

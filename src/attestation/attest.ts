// Answers one decoded v2 request. Source: spec A1, decisions §2.
import type { AttestHandler, Decide } from './job.ts'

export const createAttest =
  (decide: Decide): AttestHandler =>
  (call, context) =>
    decide('attestation', call, context, ({ lifetimeSeconds }) => ({
      expiration: call.request.nowSeconds + lifetimeSeconds,
      lifetimeSeconds,
    }))

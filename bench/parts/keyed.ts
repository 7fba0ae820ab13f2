// Sends an idempotency key with each request, as the client library does. The store claims all concurrent keys in one
// write before their requests are decided.
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer } from './measure-load.ts'
import { startPolicyService, targetOf } from './policy-service.ts'

export const createKeyedPart = async (context: BenchContext, signer: string): Promise<BenchPart> => {
  context.progress.step('service for idempotency keys starts')
  const service = await startPolicyService(context.processes, { environment: { COUNTERSIGN_SIGNER: signer } })
  const target = targetOf(service, 'keyed')
  const load = createLoadMeasurer(context, { ...target, bodies: { ...target.bodies, idempotencyKeys: true } })
  return {
    name: 'keyed',
    warm: load.warm,
    async round() {
      await load.closed()
      if (!context.options.ratios) await load.half()
    },
  }
}

// The service as a user runs it, with the quick start's key and contract and a policy of six rules.
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer } from './measure-load.ts'
import { startPolicyService, targetOf } from './policy-service.ts'

export const createServicePart = async (context: BenchContext, signer: string): Promise<BenchPart> => {
  context.progress.step('service starts')
  const service = await startPolicyService(context.processes, { environment: { COUNTERSIGN_SIGNER: signer } })
  if (service.signer !== signer) {
    throw new Error(`the service signs with ${service.signer}, and not with ${signer} as it would be here`)
  }
  const load = createLoadMeasurer(context, targetOf(service, 'service'))
  return {
    name: 'service',
    warm: load.warm,
    async round() {
      await load.closed()
      if (!context.options.ratios) await load.open()
      await load.half()
    },
  }
}

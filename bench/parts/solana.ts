// Attestations on Solana: the service as a user runs it, with a policy of six similar rules, signed with Ed25519.
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer } from './measure-load.ts'
import { startPolicyService, targetOf } from './policy-service.ts'

export const createSolanaPart = async (context: BenchContext): Promise<BenchPart> => {
  context.progress.step('service for Solana starts')
  const service = await startPolicyService(context.processes, { family: 'solana' })
  const load = createLoadMeasurer(context, {
    ...targetOf(service, 'solana', 'solana'),
    closedMs: context.options.durations.closedMs / 2,
  })
  return { name: 'solana', warm: load.warm, round: load.closed }
}

// Measures the floor in every round: an HTTP server that only echoes, under the load of the service; one signature with
// each backend; one Keccak-256.
import type { BodyPlan } from '../load/plan.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer, WALLETS } from './measure-load.ts'
import { startOwnServer } from './own-server.ts'
import { runStageFile } from './stages.ts'

/** Requests to the bench's own servers, which ignore the contract. */
export const ANY_BODIES: BodyPlan = {
  seed: 'bench',
  wallets: WALLETS,
  chain: 'sepolia',
  target: { to: '0x4daf89a45564390fba803dc9509ea6732d0b6c42' },
}

export const createFloorPart = async (context: BenchContext): Promise<BenchPart> => {
  const { processes, collector, progress } = context
  const server = await startOwnServer(processes, 'echo')
  const load = createLoadMeasurer(context, {
    part: 'floor.echo',
    url: `http://127.0.0.1:${server.port}/v2/attestation`,
    headers: {},
    bodies: ANY_BODIES,
    answers: { kind: 'status' },
    pid: server.pid,
  })
  return {
    name: 'floor',
    warm: load.warm,
    async round() {
      await load.closed()
      progress.step('floor signatures and Keccak')
      for (const { name, description, median } of await runStageFile(context, 'floor', 3)) {
        collector.add({ name: `floor.${name}`, label: description, unit: 'µs', better: 'lower' }, median)
      }
    },
  }
}

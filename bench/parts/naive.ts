// Puts the load of the service on the naive server.
import type { BenchContext, BenchPart } from './context.ts'
import { ANY_CONTRACT } from './floor.ts'
import { createLoadMeasurer, WALLETS } from './measure-load.ts'
import { startOwnServer } from './own-server.ts'

const SAMPLE_EVERY = 1_000

export const createNaivePart = async (context: BenchContext): Promise<BenchPart> => {
  const server = await startOwnServer(context.processes, 'naive')
  const load = createLoadMeasurer(context, {
    part: 'naive',
    url: `http://127.0.0.1:${server.port}/v2/attestation`,
    headers: {},
    bodies: { seed: 'bench', wallets: WALLETS, chain: 'sepolia', target: { to: ANY_CONTRACT } },
    answers: { kind: 'attestation', attester: server.attester, sampleEvery: SAMPLE_EVERY },
    pid: server.pid,
  })
  return { name: 'naive', warm: load.warm, round: load.closed }
}

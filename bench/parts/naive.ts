// Puts the load of the service on the naive server.
import type { Processes } from '../processes.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { ANY_CONTRACT } from './floor.ts'
import { createLoadMeasurer, type LoadTarget, WALLETS } from './measure-load.ts'
import { startOwnServer } from './own-server.ts'

const SAMPLE_EVERY = 1_000

/** @param signer `viem`, or a secp256k1 backend of the service */
export const naiveTarget = async (processes: Processes, signer: string): Promise<Omit<LoadTarget, 'part'>> => {
  const server = await startOwnServer(processes, 'naive', signer)
  return {
    url: `http://127.0.0.1:${server.port}/v2/attestation`,
    headers: {},
    bodies: { seed: 'bench', wallets: WALLETS, chain: 'sepolia', target: { to: ANY_CONTRACT } },
    answers: { kind: 'attestation', attester: server.attester, sampleEvery: SAMPLE_EVERY },
    pid: server.pid,
  }
}

export const createNaivePart = async (context: BenchContext): Promise<BenchPart> => {
  const load = createLoadMeasurer(context, { ...(await naiveTarget(context.processes, 'viem')), part: 'naive' })
  return { name: 'naive', warm: load.warm, round: load.closed }
}

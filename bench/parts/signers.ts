// Puts the same load on the service with each secp256k1 backend that works on this machine: what a backend costs, and how
// far the service is from that backend's floor.
import { chooseSecp256k1Backend, SECP256K1_BACKEND_NAMES } from '../../src/signing/secp256k1-backends.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer, type LoadMeasurer } from './measure-load.ts'
import { startPolicyService, targetOf } from './policy-service.ts'

const isUsable = (name: (typeof SECP256K1_BACKEND_NAMES)[number]): boolean => {
  try {
    chooseSecp256k1Backend(name)
    return true
  } catch {
    // The report names the backend as left out.
    return false
  }
}

export const createSignersPart = async (context: BenchContext): Promise<BenchPart> => {
  const { processes, progress, options } = context
  const loads: LoadMeasurer[] = []
  for (const name of SECP256K1_BACKEND_NAMES) {
    if (!isUsable(name)) {
      progress.note(`signers: ${name} is left out, it can't be used on this machine`)
      continue
    }
    progress.step(`service signing by ${name} starts`)
    const service = await startPolicyService(processes, { environment: { COUNTERSIGN_SIGNER: name } })
    loads.push(
      createLoadMeasurer(context, {
        ...targetOf(service, `signers.${name}`),
        label: name,
        closedMs: options.durations.closedMs / 2,
      }),
    )
  }
  const each = async (measure: (load: LoadMeasurer) => Promise<void>): Promise<void> => {
    for (const load of loads) await measure(load)
  }
  return {
    name: 'signers',
    warm: () => each((load) => load.warm()),
    round: () => each((load) => load.closed()),
  }
}

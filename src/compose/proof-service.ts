// Proves single decisions. A decision index process, started by the first proof, finds the line; a module proves it.

import type { IndexResults } from '../../workers/index/decision-index-protocol.ts'
import { createAskedProcess } from '../admin/decisions/index-process.ts'
import type { ProveDecision } from '../attestation/proof-endpoint.ts'
import type { Config } from '../config/config.ts'
import type { ProveLine } from '../decision-log/line-proof.ts'
import { DependencyUnavailableError } from '../domain/errors.ts'
import { onceMade } from '../lib/single-flight.ts'
import type { Timers } from '../lib/time.ts'
import type { ShippingService } from '../object-store/ship-access.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { spawnIndexProcess } from './admin-processes.ts'
import { sharedIndexOf } from './decision-index.ts'

export interface ProofDependencies {
  readonly config: Pick<Config, 'store' | 'decisionsIndex'>
  readonly folder: DataFolder
  readonly shipping: ShippingService | null
  readonly proveLine: ProveLine
  readonly after: Timers['after']
}

export interface Proofs {
  readonly prove: ProveDecision
  close(): Promise<void>
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const createProofs = ({ config, folder, shipping, proveLine, after }: ProofDependencies): Proofs => {
  const closers: (() => Promise<void> | void)[] = []
  const openFinder = onceMade(async () => {
    const spawn = spawnIndexProcess(folder, await sharedIndexOf(config, folder, shipping))
    const finder = createAskedProcess({
      spawn: (listener) => spawn('find', listener),
      after,
      onEvent: () => undefined,
    })
    closers.push(finder.close)
    return finder
  })
  return {
    prove: async (organizationId, uuid) => {
      if (!UUID.test(uuid)) return null
      const finder = await openFinder()
      const found = (await finder.ask({ operation: 'find', organizationId, uuid })) as IndexResults['find']
      // A withheld decision's line contains a signature that its caller never received.
      if (found === null || found.withheld) return null
      const { line, proof } = found
      const { segment, offset } = proof
      // The shared index prefixes the slot with the node's name.
      const slot = proof.slot.slice(proof.slot.lastIndexOf('/') + 1)
      const proven = await proveLine({ slot, segment, offset, line })
      if (proven === null)
        throw new DependencyUnavailableError('no signed head of the log covers this decision yet; retry')
      return proven
    },
    close: async () => {
      for (const close of closers) await close()
    },
  }
}

// `countersign doctor` on witnesses: which have not cosigned the published head, or not for too long.
import type { Clock } from '../../lib/time.ts'
import { readLogHead } from '../../modules/transparency/service/log-head.ts'
import { readLogKey } from '../../modules/transparency/service/log-key.ts'
import { treeTargetOf, type WitnessSettings } from '../../modules/transparency/service/tree-service.ts'
import { openDecisionTreeReader } from '../../modules/transparency/store/open.ts'
import type { DataFolder } from '../../setup/data-folder.ts'
import type { Store } from '../../store/store.ts'
import type { StoreTarget } from '../../store/store-address.ts'
import type { Finding } from './doctor-machine.ts'

export interface WitnessInspection {
  readonly config: WitnessSettings
  readonly folder: DataFolder
  readonly clock: Clock
  readonly deployment: Store['deployment']
  readonly target: StoreTarget
}

export const inspectWitnesses = async (input: WitnessInspection): Promise<readonly Finding[]> => {
  const { config, folder, clock, deployment, target } = input
  const logKey = config.witnesses.length === 0 ? null : await readLogKey(deployment, folder)
  const tree = logKey === null ? null : await openDecisionTreeReader(treeTargetOf(target, folder))
  if (logKey === null || tree === null) return []
  try {
    const nowSeconds = clock.unixSeconds()
    const head = await readLogHead(tree, logKey, config, nowSeconds)
    if (head === null) return []
    const { isLate, required, withinSeconds, witnesses } = head
    return witnesses.map(({ name, atSeconds }): Finding => {
      const found = { check: 'witness', subject: name } as const
      const at = atSeconds === null ? null : new Date(atSeconds * 1_000).toISOString()
      if (nowSeconds - (atSeconds ?? 0) <= withinSeconds) return { ...found, result: 'ok', detail: `cosigned at ${at}` }
      const last = at === null ? '' : ` (last at ${at})`
      const detail = `has not cosigned the log’s head within ${withinSeconds} s${last}, required: ${required}; the service’s log says why`
      return { ...found, result: isLate ? 'problem' : 'note', detail }
    })
  } finally {
    await tree.close()
  }
}

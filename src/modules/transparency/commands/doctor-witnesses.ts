import { counted } from '../../../lib/counted.ts'
import type { Inspection } from '../../../module-interface/module.ts'
import type { Finding } from '../../../setup/finding.ts'
import { readLogHead } from '../service/log-head.ts'
import { readLogKey } from '../service/log-key.ts'
import { treeTargetOf } from '../service/tree-service.ts'
import { witnessSettingsOf } from '../settings.ts'
import { openDecisionTreeReader } from '../store/open.ts'

export const inspectWitnesses = async ({
  config,
  folder,
  clock,
  store,
  target,
}: Inspection): Promise<readonly Finding[]> => {
  const settings = witnessSettingsOf(config)
  const logKey = settings.witnesses.length === 0 ? null : await readLogKey(store.deployment, folder)
  const tree = logKey === null ? null : await openDecisionTreeReader(treeTargetOf(target, folder))
  if (logKey === null || tree === null) return []
  try {
    const nowSeconds = clock.unixSeconds()
    const head = await readLogHead(tree, logKey, settings, nowSeconds)
    if (head === null) return []
    const { isLate, required, withinSeconds, witnesses } = head
    return witnesses.map(({ name, atSeconds }): Finding => {
      const found = { check: 'witness', subject: name } as const
      const at = atSeconds === null ? null : new Date(atSeconds * 1_000).toISOString()
      if (nowSeconds - (atSeconds ?? 0) <= withinSeconds) return { ...found, result: 'ok', detail: `cosigned at ${at}` }
      const last = at === null ? '' : ` (last at ${at})`
      const detail = `has not cosigned the log’s head within ${withinSeconds} s${last}; a head requires ${counted(required, 'cosignature', 'cosignatures')}. See the service’s log for the reason`
      return { ...found, result: isLate ? 'problem' : 'note', detail }
    })
  } finally {
    await tree.close()
  }
}

// Makes the tree over the node's decision log in its first process, and reads the tree for all parts of each process.

import { AUDIT_HEAD_PROBLEMS } from '../../../admin/services.ts'
import { PROVE_LINE } from '../../../decision-log/line-proof.ts'
import { provide } from '../../../lib/service-key.ts'
import type { ModuleCore, OpenedModule } from '../../../module-interface/module.ts'
import { LOG_FILES } from '../../../server/log-files.ts'
import { readPassphrase } from '../../../signing/passphrase.ts'
import { TREE_SETTINGS, witnessSettingsOf } from '../settings.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { proveLine } from '../verify/prove-line.ts'
import { keptHeadProblems } from './audit-head.ts'
import { LOG_HEAD, readLogHead } from './log-head.ts'
import { prepareLogKey } from './log-key.ts'
import { createLogTree } from './log-tree.ts'
import { createPublishedLog } from './published-log.ts'
import { addTreeMetrics } from './tree-metrics.ts'
import { startTree } from './tree-service.ts'

/** @throws SettingInvalidError */
export const openTransparency = async (core: ModuleCore): Promise<OpenedModule> => {
  const { config, folder, store, target, passphrase, isFirst, clock } = core
  const logKey = await prepareLogKey({
    store,
    folder,
    passphrase: await readPassphrase(passphrase.source),
    workFactor: passphrase.workFactor,
  })
  const tree = isFirst ? startTree(core, logKey) : null
  const logTree = createLogTree(target, folder)
  const witnesses = witnessSettingsOf(config)
  return {
    addMetrics: (exposition) => addTreeMetrics(exposition, () => tree?.metrics() ?? null),
    // Also in a trial: its tree is its own.
    leaderTasks: tree === null ? [] : [tree.leaderTask],
    services: [
      provide(PROVE_LINE, async (line) => {
        const proof = await proveLine(await logTree.open(), logKey.saltKey, line)
        return proof === null ? null : { proof, logKey: encodeVerifierKey(logKey.key) }
      }),
      provide(LOG_HEAD, async () => readLogHead(await logTree.open(), logKey, witnesses, clock.unixSeconds())),
      provide(AUDIT_HEAD_PROBLEMS, () => keptHeadProblems(store, folder, target)),
      ...(config.of(TREE_SETTINGS.publish) ? [provide(LOG_FILES, createPublishedLog(logTree, clock.monotonicMs))] : []),
    ],
    // After the pool has stopped, so that the tree also gets the lines that the pool writes last.
    stop: async () => {
      await tree?.stop()
      await logTree.close()
    },
  }
}

// Provides the tree over the decision log in each process. A node's first process that serves attestations also builds
// it.

import { AUDIT_HEAD_PROBLEMS } from '../../../admin/services.ts'
import { PROVE_LINE } from '../../../decision-log/line-proof.ts'
import { DependencyUnavailableError } from '../../../domain/errors.ts'
import { onceMade } from '../../../lib/once.ts'
import { provide } from '../../../lib/service-key.ts'
import type { AttestationCore, AttestationParts, ModuleCore, OpenedModule } from '../../../module-interface/module.ts'
import { LOG_FILES } from '../../../server/log-files.ts'
import { readPassphrase } from '../../../signing/passphrase.ts'
import { TREE_SETTINGS, witnessSettingsOf } from '../settings.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { proveLine } from '../verify/prove-line.ts'
import { keptHeadProblems } from './audit-head.ts'
import { LOG_HEAD, readLogHead } from './log-head.ts'
import { prepareLogKey, readLogKey } from './log-key.ts'
import { createLogTree } from './log-tree.ts'
import { createPublishedLog } from './published-log.ts'
import { addTreeMetrics } from './tree-metrics.ts'
import { startTree } from './tree-service.ts'

export const openTreeReaders = async ({ config, folder, store, target, clock }: ModuleCore): Promise<OpenedModule> => {
  const logTree = createLogTree(target, folder)
  const logKey = onceMade(async () => {
    const found = await readLogKey(store.deployment, folder)
    if (found === null) throw new DependencyUnavailableError('the log has no tree yet; retry in a second')
    return found
  })
  return {
    services: [
      provide(PROVE_LINE, async (line) => {
        const { key, saltKey } = await logKey()
        const proof = await proveLine(await logTree.open(), saltKey, line)
        return proof === null ? null : { proof, logKey: encodeVerifierKey(key) }
      }),
      provide(LOG_HEAD, async () =>
        readLogHead(await logTree.open(), await logKey(), witnessSettingsOf(config), clock.unixSeconds()),
      ),
      provide(AUDIT_HEAD_PROBLEMS, () => keptHeadProblems(store, folder, target)),
      ...(config.of(TREE_SETTINGS.publish) ? [provide(LOG_FILES, createPublishedLog(logTree, clock.monotonicMs))] : []),
    ],
    stop: logTree.close,
  }
}

/** @throws SettingInvalidError */
export const openTree = async (core: AttestationCore): Promise<AttestationParts> => {
  const { folder, store, passphrase, isFirst } = core
  const logKey = await prepareLogKey({
    store,
    folder,
    passphrase: await readPassphrase(passphrase.source),
    workFactor: passphrase.workFactor,
  })
  const tree = isFirst ? startTree(core, logKey) : null
  return {
    addMetrics: (exposition) => addTreeMetrics(exposition, () => tree?.metrics() ?? null),
    // Also in a trial, which has its own tree.
    leaderTasks: tree === null ? [] : [tree.leaderTask],
    // Runs after the pool has stopped, to include its last lines.
    stop: async () => tree?.stop(),
  }
}

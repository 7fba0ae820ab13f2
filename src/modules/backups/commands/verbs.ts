import type { VerbContext } from '../../../command-line/command.ts'
import { noteCommand } from '../../../command-line/command-note.ts'
import { findEvidenceKeys } from '../../../setup/evidence-key.ts'
import { inspectTokenKeys } from '../../../setup/finding.ts'
import { ASK_TOKEN } from '../../../signing/token-service.ts'
import { LOG_TREE_TABLES } from '../../../store/copy/log-tree-tables.ts'
import { runBackup } from './backup.ts'
import { openBackupBucket } from './backup-place.ts'
import { runRestore } from './restore.ts'

const placesOf = ({ output, deployment }: VerbContext) => ({
  output,
  folder: deployment.folder,
  locateStore: deployment.locateStore,
  openBucket: (bucket: Parameters<typeof deployment.shipTarget>[0]) => openBackupBucket(deployment.shipTarget(bucket)),
  evidenceKeys: async () => findEvidenceKeys(deployment.config, deployment.folder),
  treeTables: deployment.findService(LOG_TREE_TABLES),
})

export const backup = (words: string[], context: VerbContext): Promise<number> => {
  const { deployment, environment, user, stopped } = context
  return runBackup(words, {
    ...placesOf(context),
    configFile: deployment.configFile,
    describeSettings: () => deployment.describeSettings(environment),
    note: () => deployment.withStore((store) => noteCommand(store, 'backup', words, user)),
    now: () => new Date(),
    stopped,
  })
}

export const restore = (words: string[], context: VerbContext): Promise<number> => {
  const { deployment, clock, stopped, runWithin } = context
  return runRestore(words, {
    ...placesOf(context),
    monotonicMs: clock.monotonicMs,
    inspectTokenKeys: (attesters, restored) => inspectTokenKeys(attesters, deployment.servicesAt(restored)(ASK_TOKEN)),
    trial: () => ({ secretSettings: deployment.secretSettings(), signal: stopped(), run: runWithin }),
  })
}

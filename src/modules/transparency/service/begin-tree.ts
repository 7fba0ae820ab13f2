// Starts a new tree with another name and key. Needed after the restore of an older backup: later lines are lost, so no
// head can extend the old heads. The old tree is put aside, and its proofs remain valid.
import { existsSync, renameSync } from 'node:fs'
import type { DataFolder } from '../../../setup/data-folder.ts'
import type { Passphrase } from '../../../setup/passphrase.ts'
import { readPassphrase } from '../../../signing/passphrase.ts'
import type { Store } from '../../../store/store.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { clearDecisionTree } from '../store/open.ts'
import type { VerifierKey } from '../tree/note.ts'
import { renewLogKey } from './log-key.ts'
import { STORED_HEAD } from './tree-service.ts'

export interface BegunTree {
  /** Previous name of the log. */
  readonly before: string
  readonly key: VerifierKey
  /** Path of the old tree's file. Null if there was no tree, or if it was in PostgreSQL and has been deleted. */
  readonly putAside: string | null
}

/** No other process may use the store or the folder. Run again after an interruption. */
export const beginTree = async (input: {
  readonly folder: DataFolder
  readonly store: Store
  readonly target: StoreTarget
  readonly passphrase: Passphrase
  readonly now: Date
}): Promise<BegunTree> => {
  const { folder, store, target, passphrase, now } = input
  // Renew the key first: heads with the old name don't belong to the new log, so no later head can extend them.
  const { before, key } = await renewLogKey({
    store,
    folder,
    passphrase: await readPassphrase(passphrase.source),
    workFactor: passphrase.workFactor,
  })
  const stamp = now.toISOString().replaceAll(/[-:]/g, '')
  const aside = `${folder.decisionTree}.${stamp}`
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(folder.decisionTree + suffix)) renameSync(folder.decisionTree + suffix, aside + suffix)
  }
  for (const head of [folder.decisionTreeHead, folder.auditHead]) {
    if (existsSync(head)) renameSync(head, `${head}.${stamp}`)
  }
  if (target.kind === 'postgres') await clearDecisionTree(target)
  await store.deployment.replace(STORED_HEAD, '')
  return { before, key, putAside: existsSync(aside) ? aside : null }
}

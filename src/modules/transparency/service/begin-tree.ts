// Starts a new tree with a new name and key, because after the restore of an older backup, no head can extend the old
// heads.
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
  readonly before: string
  readonly key: VerifierKey
  /** Old tree's file; null if there was none, or it was in PostgreSQL and was deleted. */
  readonly putAside: string | null
}

/** No other process may use the store or the folder. Repeat after an interruption. */
export const beginTree = async (input: {
  readonly folder: DataFolder
  readonly store: Store
  readonly target: StoreTarget
  readonly passphrase: Passphrase
  readonly now: Date
}): Promise<BegunTree> => {
  const { folder, store, target, passphrase, now } = input
  // Renew the key first, because heads with the new name need not extend heads with the old name.
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

// A tree that begins anew, under another name and another key: after a restore of an older backup, whose lines since then are
// gone, no head can be signed that goes on from the old ones. The old tree is put aside, and its proofs keep holding.
import { existsSync, renameSync } from 'node:fs'
import type { DataFolder } from '../setup/data-folder.ts'
import { renewLogKey } from '../setup/log-key.ts'
import type { Passphrase } from '../setup/passphrase.ts'
import { readPassphrase } from '../signing/passphrase.ts'
import { clearDecisionTree } from '../store/decision-tree/open.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { VerifierKey } from '../transparency/note.ts'
import { STORED_HEAD } from './tree-service.ts'

export interface BegunTree {
  /** Name of the log until now. */
  readonly before: string
  readonly key: VerifierKey
  /** Where the old tree is; null where it was in PostgreSQL and is gone, or there was none. */
  readonly putAside: string | null
}

/** Nothing else may use the store or the folder meanwhile. May be interrupted at any point, and be run again. */
export const beginTree = async (input: {
  readonly folder: DataFolder
  readonly store: Store
  readonly target: StoreTarget
  readonly passphrase: Passphrase
  readonly now: Date
}): Promise<BegunTree> => {
  const { folder, store, target, passphrase, now } = input
  // First: heads of the old name are none of the new one's, so whatever follows is never signed on.
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

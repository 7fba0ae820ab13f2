// Where everything lives inside the data folder. One place, so that the server and the commands agree.
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

export interface DataFolder {
  readonly root: string
  readonly database: string
  readonly keystores: string
  /** Made by the first start when no passphrase is configured. */
  readonly passphrase: string
  /** Made by the first start when none is configured. */
  readonly evidenceKey: string
  /** Encrypted documents. */
  readonly evidence: string
  readonly decisions: string
  /** The search index of the decision log: can be deleted and is built again. */
  readonly decisionIndex: string
  /** Seals the secrets of one-time codes. Made by the first start. */
  readonly accountKey: string
  /** Held by the service that runs on this folder. */
  readonly lock: string
  readonly quickstart: string
}

export const dataFolderAt = (root: string): DataFolder => ({
  root,
  database: join(root, 'countersign.db'),
  keystores: join(root, 'keystores'),
  passphrase: join(root, 'secrets', 'passphrase'),
  evidenceKey: join(root, 'secrets', 'evidence-key'),
  evidence: join(root, 'evidence'),
  decisions: join(root, 'decisions'),
  decisionIndex: join(root, 'decision-index.db'),
  accountKey: join(root, 'secrets', 'account-key'),
  lock: join(root, 'service.lock'),
  quickstart: join(root, 'quickstart.env'),
})

/** Makes the folders for their owner only. */
export const makeDataFolder = (folder: DataFolder): void => {
  for (const path of [folder.root, folder.keystores, folder.evidence, folder.decisions, join(folder.root, 'secrets')]) {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  }
  // Only what this service made: the root may be a mount point or a folder with a mode of its owner's choice.
  for (const path of [folder.keystores, folder.evidence, folder.decisions, join(folder.root, 'secrets')])
    chmodSync(path, 0o700)
}

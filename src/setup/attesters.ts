import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AttesterReference } from '../pool/protocol.ts'
import { isTokenKey } from '../signing/token-key.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { DataFolder } from './data-folder.ts'

const keystorePathOf = (folder: DataFolder, keystoreFile: string): string =>
  isTokenKey(keystoreFile) ? keystoreFile : join(folder.keystores, keystoreFile)

/** Returns the attesters that workers may load, oldest first, without retired attesters. */
export const readAttesters = async (store: Store, folder: DataFolder): Promise<AttesterReference[]> =>
  (await store.attesters.list()).flatMap(({ id, kind, address, keystoreFile, status }) =>
    status === 'retired' ? [] : [{ id, kind, address, status, keystorePath: keystorePathOf(folder, keystoreFile) }],
  )

/**
 * Returns the attesters with keystores. If another attester of the kind can sign, a missing keystore is tolerated: the
 * file may arrive later. Otherwise, returns all, so that startup fails with an error that names the file.
 */
export const presentAttesters = (
  attesters: readonly AttesterReference[],
  log: Pick<Logger, 'warn'>,
): readonly AttesterReference[] => {
  const missing = new Set(
    attesters.filter(
      ({ status, keystorePath }) => status === 'active' && !isTokenKey(keystorePath) && !existsSync(keystorePath),
    ),
  )
  const present = attesters.filter((attester) => !missing.has(attester))
  const canSign = new Set(present.filter(({ status }) => status === 'active').map(({ kind }) => kind))
  if ([...missing].some(({ kind }) => !canSign.has(kind))) return attesters
  for (const { id, kind, address, keystorePath } of missing) {
    log.warn('a keystore is missing: its attester cannot sign until you restore the file or retire the attester', {
      attester: id,
      kind,
      address,
      keystorePath,
    })
  }
  return present
}

// The attesters that this process signs with.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AttesterReference } from '../pool/protocol.ts'
import { isTokenKey } from '../signing/token-key.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { DataFolder } from './data-folder.ts'

const keystorePathOf = (folder: DataFolder, keystoreFile: string): string =>
  isTokenKey(keystoreFile) ? keystoreFile : join(folder.keystores, keystoreFile)

/** The attesters that workers may load, oldest first, without retired ones. */
export const readAttesters = async (store: Store, folder: DataFolder): Promise<AttesterReference[]> =>
  (await store.attesters.list()).flatMap(({ id, kind, address, keystoreFile, status }) =>
    status === 'retired' ? [] : [{ id, kind, address, status, keystorePath: keystorePathOf(folder, keystoreFile) }],
  )

/**
 * The attesters whose keystores are here. A start continues without a missing keystore when another attester of its
 * kind can sign: the file may be on its way from the node that made it, or be put back later. If a kind would have no
 * active attester, nothing is left out, and the start fails with an error that names the file.
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
    log.warn(
      'the keystore of an attester is missing: it signs nothing here until the file is put back or it is retired',
      {
        attester: id,
        kind,
        address,
        keystorePath,
      },
    )
  }
  return present
}

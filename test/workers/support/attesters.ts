// Keystores of test keys in a temporary folder, and their references.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttesterReference, WorkerSettings } from '../../../src/pool/protocol.ts'
import { importAttesterKey } from '../../../src/signing/attester-files.ts'
import { openKeyring } from '../../../src/signing/keyring.ts'
import { chooseSecp256k1Backend } from '../../../src/signing/secp256k1-backends.ts'
import type { Keyring } from '../../../src/signing/types.ts'

const PASSPHRASE = 'countersign test passphrase'
const made: string[] = []

export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-workers-'))
  made.push(directory)
  return directory
}

/** For afterAll. */
export const removeTemporaryDirectories = (): void => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
}

/** Writes a keystore; `hex` is a secp256k1 key or an Ed25519 seed. */
export const storeAttester = async (
  directory: string,
  kind: 'secp256k1' | 'ed25519',
  hex: string,
): Promise<AttesterReference> => {
  const { address, path } = await importAttesterKey({
    directory,
    passphrase: PASSPHRASE,
    workFactor: 'light',
    source: { format: 'hex', kind, text: hex },
  })
  return { id: `attester_${address.slice(2, 8)}`, kind, address, keystorePath: path, status: 'active' }
}

export const openTestKeyring = (attesters: readonly AttesterReference[]): Promise<Keyring> =>
  openKeyring(attesters, async () => [PASSPHRASE], chooseSecp256k1Backend('noble').backend)

/** The settings that a pool sends to a worker, except those of the thread. */
export const settingsFor = (
  directory: string,
  attesters: readonly AttesterReference[],
  overrides: Partial<WorkerSettings> = {},
): Omit<WorkerSettings, 'slot' | 'generation' | 'shared'> => {
  // Not the environment, because a thread does not see variables that a test sets.
  const passphrasePath = join(directory, 'passphrase')
  writeFileSync(passphrasePath, `${PASSPHRASE}\n`, { mode: 0o600 })
  return {
    signer: 'auto',
    attesters,
    passphrase: { source: 'file', path: passphrasePath },
    token: null,
    decisionsDirectory: join(directory, 'decisions'),
    decisionsSync: false,
    segmentMaxBytes: 10_000_000,
    revisionCacheSize: 100,
    warmUp: false,
    solanaMessagePrefix: 'predicate_solana_attestation',
    ...overrides,
  }
}

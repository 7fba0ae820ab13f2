// One piece of evidence at rest: a file under a key of its own, and the record that says how to open it. The key is
// wrapped by the organization's; without the record nobody can read the file, whoever holds it.
import { newIdentifier } from '../../domain/identifier.ts'
import { EvidenceUnreadableError } from './errors.ts'
import type { EvidenceFiles } from './evidence-files.ts'
import type { OrganizationKeys } from './organization-keys.ts'
import { deriveKey, newKey, openBytes, sealBytes } from './sealed-bytes.ts'
import { openStream, sealStream } from './sealed-stream.ts'
import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from './store-types.ts'

export interface NewEvidence {
  readonly kind: string
  readonly mediaType: string
  readonly bytes: Uint8Array
  /** Null for fields. */
  readonly fileName: string | null
  readonly fieldNames: readonly string[]
  readonly createdAtSeconds: number
}

export interface Vault {
  /** Written and on the disk; not yet in the store, so discard it where that refuses. */
  put(target: EvidenceTarget, evidence: NewEvidence): Promise<NewEvidenceRecord>
  /** @throws EvidenceUnreadableError, also while it is read */
  open(target: EvidenceTarget, record: EvidenceRecord): Promise<AsyncGenerator<Uint8Array>>
  fileName(target: EvidenceTarget, record: EvidenceRecord): Promise<string>
  discard(storageNames: readonly string[]): Promise<void>
}

const CONTENT = 'countersign evidence content'
const NAME = 'countersign evidence file name'
const WRITE_BYTES = 65_536

/** A key that was wrapped for one piece of one session opens no other, whatever rows are exchanged. */
export const evidenceSubject = ({ organizationId, sessionId }: EvidenceTarget, evidenceId: string): string =>
  `${organizationId}\n${sessionId}\n${evidenceId}`

async function* inSlices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += WRITE_BYTES) yield bytes.subarray(at, at + WRITE_BYTES)
}

/** Says first that the file is missing or cut off where that can be told from its length alone. */
async function* exactly(source: AsyncIterable<Uint8Array>, byteLength: number): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const piece of source) {
    length += piece.length
    if (length > byteLength) throw new EvidenceUnreadableError()
    yield piece
  }
  if (length !== byteLength) throw new EvidenceUnreadableError()
}

export const createVault = (input: { readonly files: EvidenceFiles; readonly keys: OrganizationKeys }): Vault => {
  const { files, keys } = input

  const dataKeyOf = (target: EvidenceTarget, record: EvidenceRecord): Promise<Uint8Array> =>
    keys.open(target.organizationId, 'evidence data key', evidenceSubject(target, record.id), record.wrappedKey)

  return {
    put: async (target, { bytes, fileName, ...described }) => {
      const id = newIdentifier('evidence')
      const subject = evidenceSubject(target, id)
      const dataKey = newKey()
      try {
        const { sealed, sealedUnder } = await keys.seal(target.organizationId, 'evidence data key', subject, dataKey)
        const sealedName =
          fileName === null ? null : sealBytes(deriveKey(dataKey, NAME), Buffer.from(fileName), subject)
        const storageName = await files.write(sealStream(deriveKey(dataKey, CONTENT), inSlices(bytes), subject))
        return { id, ...described, byteLength: bytes.length, storageName, wrappedKey: sealed, sealedUnder, sealedName }
      } finally {
        dataKey.fill(0)
      }
    },
    open: async (target, record) => {
      const key = deriveKey(await dataKeyOf(target, record), CONTENT)
      const subject = evidenceSubject(target, record.id)
      return exactly(openStream(key, files.read(record.storageName), subject), record.byteLength)
    },
    fileName: async (target, record) => {
      if (record.sealedName === null) return ''
      const key = deriveKey(await dataKeyOf(target, record), NAME)
      return Buffer.from(openBytes(key, record.sealedName, evidenceSubject(target, record.id))).toString()
    },
    discard: async (storageNames) => {
      for (const name of storageNames) await files.remove(name)
    },
  }
}

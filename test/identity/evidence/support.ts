// Evidence with a real store and folder, with a manual clock and a decoder that returns images unchanged.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DocumentKind } from '../../../src/domain/requirements.ts'
import type { CheckType, SessionState } from '../../../src/domain/session.ts'
import { createEvidence, type EvidenceDependencies } from '../../../src/identity/evidence/evidence.ts'
import { createEvidenceFiles } from '../../../src/identity/evidence/evidence-files.ts'
import { createOrganizationKeys } from '../../../src/identity/evidence/organization-keys.ts'
import { checkPdf } from '../../../src/identity/evidence/pdf-check.ts'
import type { Reencoder } from '../../../src/identity/evidence/reencode.ts'
import { createRetentionSweep } from '../../../src/identity/evidence/retention-sweep.ts'
import { createSealedNote } from '../../../src/identity/evidence/sealed-note.ts'
import { UPLOAD_PACE } from '../../../src/identity/evidence/upload.ts'
import { UPLOAD_LIMITS } from '../../../src/identity/evidence/upload-slots.ts'
import { createVault } from '../../../src/identity/evidence/vault.ts'
import type { DocumentReading, EvidenceSession } from '../../../src/identity/evidence-types.ts'
import { createSteadyClock } from '../../../src/lib/time.ts'
import { openTemporaryStore, temporaryFolder } from '../../store/temporary-store.ts'
import { openIdentity } from '../support.ts'
import { streamOf } from './images.ts'

export const TEST_DEPLOYMENT_KEY = createHash('sha256').update('countersign test deployment key 1').digest()

export const UNCHANGED: Reencoder = { reencode: async (image) => image, running: () => 0, close: async () => undefined }

export const openEvidence = async (
  options: Partial<Pick<EvidenceDependencies, 'reencoder' | 'pdfChecker' | 'uploadLimits' | 'uploadPace'>> = {},
  open = openTemporaryStore,
) => {
  const identity = await openIdentity(open)
  const { store, clock } = identity
  const folder = temporaryFolder()
  const files = createEvidenceFiles(folder.path)
  const keys = createOrganizationKeys({ store: store.organizationKeys, deploymentKeys: () => [TEST_DEPLOYMENT_KEY] })
  const notified: SessionState[] = []
  const errors: unknown[] = []
  const evidence = createEvidence({
    store: store.evidence,
    findSession: store.sessions.find,
    vault: createVault({ files, keys }),
    reencoder: options.reencoder ?? UNCHANGED,
    pdfChecker: options.pdfChecker ?? { check: (pdf) => checkPdf(pdf) },
    clock,
    changed: (state) => void notified.push(state),
    onError: (error) => void errors.push(error),
    uploadLimits: options.uploadLimits ?? UPLOAD_LIMITS,
    uploadPace: options.uploadPace ?? { ...UPLOAD_PACE, timeLimitMs: 200 },
  })

  const session = async (organizationId: string, checkType: CheckType = 'kyc') =>
    (await identity.register(organizationId, { checkType })).session

  const add = (
    target: EvidenceSession,
    bytes: Uint8Array,
    { kind = 'identity-document' as DocumentKind, fileName = 'passport.jpg', declaredType = '', address = '' } = {},
  ) => evidence.addDocument(target, { kind, fileName, declaredType, address, stream: streamOf(bytes) })

  const sweep = createRetentionSweep({
    store: store.evidenceRetention,
    erase: evidence.eraseExpired,
    files,
    clock,
    requireSteadyClock: createSteadyClock(clock),
  })

  const fileNames = (): string[] => readdirSync(folder.path).sort()

  return {
    ...identity,
    evidence,
    readings: createSealedNote<DocumentReading>({
      vault: createVault({ files, keys }),
      store: store.evidence,
      clock,
      kind: 'reading',
    }),
    files,
    keys,
    notified,
    errors,
    session,
    add,
    sweep,
    fileNames,
    /** Read records of a session. */
    reads: ({ organizationId, id }: Pick<EvidenceSession, 'organizationId' | 'id'>) =>
      store.evidence.listReads({ organizationId, sessionId: id }),
    folder: folder.path,
    /** All bytes on disk: the encrypted files, the database and its log. */
    everything: (): Buffer => {
      const database = identity.path
      return Buffer.concat([
        ...fileNames().map((name) => readFileSync(join(folder.path, name))),
        ...[database, `${database}-wal`].map((path) => readFileSync(path)),
      ])
    },
    remove: async () => {
      await identity.remove()
      folder.remove()
    },
  }
}

export const readAll = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

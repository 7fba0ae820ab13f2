// Evidence from upload to erasure, with a real store and real files.
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Zone } from '../../../src/domain/document-zone.ts'
import type { Session } from '../../../src/domain/session.ts'
import { SessionClosedError, SessionUnknownError } from '../../../src/domain/session-errors.ts'
import {
  DocumentInvalidError,
  DocumentLimitError,
  DocumentTooLargeError,
  DocumentTypeError,
  EvidenceBusyError,
  EvidenceUnreadableError,
} from '../../../src/identity/evidence/errors.ts'
import { createReencoder } from '../../../src/identity/evidence/reencode.ts'
import { createRetentionSweep } from '../../../src/identity/evidence/retention-sweep.ts'
import { createUploadSlots, UPLOAD_LIMITS } from '../../../src/identity/evidence/upload-slots.ts'
import { createVault } from '../../../src/identity/evidence/vault.ts'
import { DOCUMENT_BYTES_MAX } from '../../../src/identity/evidence-types.ts'
import { ClockAheadError, nextTurn } from '../../../src/lib/time.ts'
import { BodyFragmentedError } from '../../../src/server/json-body.ts'
import { StoreUnavailableError } from '../../../src/store/errors.ts'
import { evmWallet } from '../support.ts'
import { describeImage, emptyZip, jpeg, jpegWithMetadata, pdf, png, streamOf } from './images.ts'
import { openEvidence, readAll, UNCHANGED } from './support.ts'

const IMAGE = await jpeg()
const CANARY = 'countersign-canary-jane-doe'
const DAY_SECONDS = 86_400
const ADA = 'operator:ada'

let parts: Awaited<ReturnType<typeof openEvidence>>
let { add, clock, evidence, move, store, sweep } = {} as typeof parts
let demo: string
/** An open session of the organization. */
let target: Session

const open = async (options: Parameters<typeof openEvidence>[0] = {}): Promise<void> => {
  parts = await openEvidence(options)
  ;({ add, clock, evidence, move, store, sweep } = parts)
  demo = await parts.createOrganization('demo')
  target = await parts.session(demo)
}
const reopen = async (options: Parameters<typeof openEvidence>[0]): Promise<void> => {
  await parts.remove()
  await open(options)
}
beforeEach(() => open())
afterEach(async () => {
  expect(parts.errors).toEqual([])
  await parts.remove()
})

const readFields = () => evidence.readFields(target, ADA)
const listDocuments = async () => (await evidence.listEvidence(target)).documents
const upload = (stream: ReadableStream<Uint8Array>, session = target) =>
  evidence.addDocument(session, { kind: 'portrait', fileName: 'a', declaredType: '', address: '', stream })
const openDocument = async (id: string): Promise<Buffer> =>
  readAll((await evidence.openDocument(target, id, ADA))!.stream)

describe('fields', () => {
  test('are merged, keep the newest value of each field, and are read only with a record of the reader', async () => {
    expect(await readFields()).toEqual({})
    await evidence.putFields(target, {})
    expect(parts.fileNames()).toEqual([])
    await evidence.putFields(target, { fullName: 'Jane', country: 'DE' })
    await evidence.putFields(target, { fullName: 'Jane Doe', birthDate: '1990-01-01' })
    expect((await evidence.listEvidence(target)).fields).toEqual(['birthDate', 'country', 'fullName'])
    expect(await parts.reads(target)).toEqual([])
    expect(await readFields()).toEqual({ fullName: 'Jane Doe', country: 'DE', birthDate: '1990-01-01' })
    expect(await parts.reads(target)).toMatchObject([{ kind: 'fields', actor: ADA }])
    expect(parts.fileNames().length).toBe(1)
  })

  test('and document readings are searched with a read record only for the sessions found', async () => {
    const [jane, john, none] = [target, await parts.session(demo), await parts.session(demo)]
    await evidence.putFields(jane, { fullName: 'Jane' })
    await evidence.putFields(john, { fullName: 'John' })
    const zone = { number: 'L898902C3', surname: 'DOE', givenNames: 'JOHN' } as unknown as Zone
    await parts.readings.put(john, { documentId: 'evidence_1', zone })
    await parts.readings.put(none, { documentId: null, zone: null })
    const find = async (text: string): Promise<readonly string[]> => {
      const matches = (searched: object): boolean => Object.values(searched).includes(text)
      return [...(await evidence.findByFields([jane, john, none], matches, ADA))]
    }
    const reads = async (of: Session) => (await parts.reads(of)).map(({ kind, actor }) => [kind, actor])
    expect(await find('Jane')).toEqual([jane.id])
    expect(await reads(jane)).toEqual([['fields', ADA]])
    expect([...(await reads(john)), ...(await reads(none))]).toEqual([])
    expect(await find('L898902C3')).toEqual([john.id])
    expect(await reads(john)).toEqual([['reading', ADA]])
    // The id of the document is not searched.
    expect(await find('evidence_1')).toEqual([])
  })

  test('replaced between listing and reading are read again', async () => {
    await evidence.putFields(target, { fullName: 'Jane' })
    const { recordRead, list } = store.evidence
    const reading = spyOn(store.evidence, 'recordRead').mockImplementationOnce(async (...of) => {
      const record = await recordRead(...of)
      await evidence.putFields(target, { country: 'DE' })
      return record
    })
    expect(await readFields()).toEqual({ fullName: 'Jane', country: 'DE' })
    expect(reading).toHaveBeenCalledTimes(2)
    spyOn(store.evidence, 'list').mockImplementationOnce(async (of) => {
      const records = await list(of)
      await evidence.putFields(target, { birthDate: '1990-01-01' })
      return records
    })
    await evidence.putFields(target, { fullName: 'Jane Doe' })
    expect(await readFields()).toEqual({ fullName: 'Jane Doe', country: 'DE', birthDate: '1990-01-01' })
    // A missing file that was not replaced is still a failure.
    for (const name of parts.fileNames()) unlinkSync(join(parts.folder, name))
    await expect(readFields()).rejects.toBeInstanceOf(EvidenceUnreadableError)
  })

  test('remain readable if the outcome of their commit is lost', async () => {
    const { replaceFields } = store.evidence
    spyOn(store.evidence, 'replaceFields').mockImplementationOnce(async (...of) => {
      await replaceFields(...of)
      throw new StoreUnavailableError(new Error('the connection is lost'))
    })
    await expect(evidence.putFields(target, { fullName: 'Jane' })).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(await readFields()).toEqual({ fullName: 'Jane' })
  })

  test('that are saved simultaneously are all kept', async () => {
    const fields = { fullName: 'Jane', country: 'DE', birthDate: '1990-01-01' }
    await Promise.all(Object.entries(fields).map(([name, value]) => evidence.putFields(target, { [name]: value })))
    expect(await readFields()).toEqual(fields)
    expect(parts.fileNames().length).toBe(1)
  })
})

describe('a document', () => {
  test('is returned unchanged, with a record of the reader', async () => {
    const receipt = await add(target, pdf(), { fileName: '/tmp/../bill.pdf', kind: 'proof-of-address' })
    expect(receipt).toMatchObject({ kind: 'proof-of-address', mediaType: 'application/pdf', fileName: 'bill.pdf' })
    expect(receipt.byteLength).toBe(pdf().length)
    expect(await evidence.listEvidence(target)).toEqual({ fields: [], documents: [receipt] })
    const opened = await evidence.openDocument(target, receipt.id, ADA)
    expect(opened?.receipt).toEqual(receipt)
    expect(await parts.reads(target)).toMatchObject([{ evidenceId: receipt.id, kind: 'proof-of-address', actor: ADA }])
    expect((await readAll(opened!.stream)).equals(pdf())).toBe(true)
  })

  test('is stored encrypted, in a file with a random name that only its owner may read', async () => {
    await evidence.putFields(target, { fullName: CANARY })
    await add(target, pdf(`/Title(${CANARY})`), { fileName: `${CANARY}.pdf` })
    for (const name of parts.fileNames()) {
      expect(name).toMatch(/^[0-9a-f]{32}$/)
      expect(statSync(join(parts.folder, name)).mode & 0o777).toBe(0o600)
    }
    expect(parts.everything().includes(CANARY)).toBe(false)
  })

  test('that is an image is re-encoded without its metadata', async () => {
    const reencoder = createReencoder()
    await reopen({ reencoder })
    const image = Buffer.concat([await jpegWithMetadata(CANARY), emptyZip()])
    const { id } = await add(target, image, { kind: 'portrait', declaredType: 'image/jpeg' })
    const kept = await openDocument(id)
    expect(await describeImage(kept)).toMatchObject({ format: 'jpeg', exif: undefined })
    expect(kept.includes(CANARY)).toBe(false)
    await reencoder.close()
  })

  test('is checked or re-encoded in the turn of its organization', async () => {
    const turns: string[] = []
    await reopen({
      reencoder: {
        ...UNCHANGED,
        reencode: async (image, organizationId) => {
          turns.push(organizationId)
          return image
        },
      },
      pdfChecker: { check: async (_pdf, organizationId) => void turns.push(organizationId) },
    })
    await add(target, IMAGE, { kind: 'portrait', declaredType: 'image/jpeg' })
    await add(target, pdf())
    expect(turns).toEqual([demo, demo])
  })

  test('over 10 MB is refused immediately, and the rest is not read', async () => {
    let [sent, isCanceled] = [0, false]
    const endless = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(0xff))
        },
        cancel: () => {
          isCanceled = true
        },
      },
      { highWaterMark: 0 },
    )
    await expect(upload(endless)).rejects.toBeInstanceOf(DocumentTooLargeError)
    expect(sent).toBeLessThanOrEqual(DOCUMENT_BYTES_MAX + 65_536)
    expect(isCanceled).toBe(true)
  })

  test('whose upload stalls is refused', async () => {
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(IMAGE.subarray(0, 10)) })
    await expect(upload(stream)).rejects.toThrow('timed out')
  })

  test('whose sender disconnects is refused', async () => {
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('gone')) })
    await expect(upload(stream)).rejects.toBeInstanceOf(DocumentInvalidError)
  })

  test('in tiny chunks is refused, because each chunk costs time', async () => {
    const inChunks = (count: number, size: number) => upload(streamOf(Buffer.alloc(count * size, 'x'), size))
    await expect(inChunks(5_000, 1)).rejects.toBeInstanceOf(BodyFragmentedError)
    await expect(inChunks(5_000, 300)).rejects.toBeInstanceOf(DocumentTypeError)
  })

  test('is refused if its content does not match its declared type or its kind, or is malformed', async () => {
    for (const [bytes, options] of [
      [Buffer.from('<html>'), {}],
      [emptyZip(), { declaredType: 'image/jpeg' }],
      [IMAGE, { declaredType: 'image/png' }],
      [IMAGE, { declaredType: 'text/html' }],
      [pdf(), { kind: 'portrait' as const }],
    ] as const) {
      await expect(add(target, bytes, options)).rejects.toBeInstanceOf(DocumentTypeError)
    }
    const huge = Buffer.from(await png())
    huge.writeUInt32BE(8_000, 16)
    huge.writeUInt32BE(5_001, 20)
    for (const bytes of [huge, Buffer.alloc(0), Buffer.concat([pdf(), emptyZip()])]) {
      await expect(add(target, bytes)).rejects.toBeInstanceOf(DocumentInvalidError)
    }
    expect(parts.fileNames()).toEqual([])
    for (const declaredType of ['image/jpeg', 'image/jpg', 'IMAGE/JPEG; q=1', 'application/octet-stream', '']) {
      const { id } = await add(target, IMAGE, { declaredType })
      await evidence.removeDocument(target, id)
    }
  })

  test('over the limit of its kind is refused, even if two arrive simultaneously', async () => {
    const addPortrait = () => add(target, IMAGE, { kind: 'portrait' })
    const outcomes = await Promise.allSettled([addPortrait(), addPortrait()])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(addPortrait()).rejects.toBeInstanceOf(DocumentLimitError)
    expect(parts.fileNames().length).toBe(1)
  })

  test('is refused while the session has two uploads in progress', async () => {
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => add(target, IMAGE)))
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused.map((outcome) => (outcome as PromiseRejectedResult).reason)).toEqual([expect.any(EvidenceBusyError)])
    await add(target, IMAGE)
    expect(parts.fileNames().length).toBe(3)
  })

  test('that arrives too slowly is refused, and does not occupy a slot that complete uploads need', async () => {
    await reopen({
      uploadLimits: { ...UPLOAD_LIMITS, opened: 1 },
      uploadPace: { timeLimitMs: 60_000, graceMs: 300, bytesPerSecondMin: 1_000_000 },
    })
    const slow = await parts.createOrganization('slow')
    const withheld = async () => {
      const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(IMAGE.subarray(0, 9)) })
      return upload(stream, await parts.session(slow)).catch((error: unknown) => error)
    }
    const inProgress = Array.from({ length: 5 }, withheld)
    await add(target, IMAGE)
    for (const outcome of await Promise.all(inProgress)) {
      expect(outcome).toMatchObject({ detail: expect.stringContaining('timed out') })
    }
  })

  test('in progress leaves slots for other organizations, addresses and sessions', () => {
    const { acquireArrival } = createUploadSlots()
    const arrive = (organizationId: string, id: string, address: string) => {
      try {
        return acquireArrival({ organizationId, id }, address)
      } catch {
        return null
      }
    }
    /** @returns the number of admitted uploads of 100, each with its own address and session */
    const fill = (organizationId: string) =>
      Array.from({ length: 100 }, (_, index) => arrive(organizationId, `${organizationId}${index}`, `${index}`)).filter(
        (release) => release !== null,
      ).length
    expect([1, 2, 3].map(() => arrive('a', 'one', 'x') !== null)).toEqual([true, true, false])
    expect(Array.from({ length: 10 }, (_, index) => arrive('a', `other${index}`, 'x')).filter(Boolean).length).toBe(4)
    expect(arrive('a', 'own', 'y')).not.toBeNull()
    expect(['a', 'b', 'c', 'd'].map(fill)).toEqual([9, 12, 9, 7])
    const release = arrive('e', 'late', 'x')
    expect(release).not.toBeNull()
    release?.()
    expect(fill('e')).toBe(5)
  })

  test('is opened in turns between organizations, and between addresses within each', async () => {
    const { acquireOpening } = createUploadSlots({ ...UPLOAD_LIMITS, opened: 3, openedPerOrganization: 2 })
    const opened: string[] = []
    const releases: (() => void)[] = []
    const all = Promise.all(
      ['ax', 'ax', 'ax', 'ax', 'ay', 'bx', 'bx', 'bx', 'cx'].map(async (upload) => {
        releases.push(await acquireOpening({ organizationId: upload[0] ?? '' }, upload[1] ?? ''))
        opened.push(upload)
      }),
    )
    await nextTurn()
    expect(opened.join(' ')).toBe('ax ax bx')
    for (let index = 0; index < 9; index++) {
      releases[index]?.()
      await nextTurn()
    }
    await all
    expect(opened.join(' ')).toBe('ax ax bx cx ay bx ax bx ax')
  })

  test('is refused without leaving a file if its session has closed', async () => {
    await move(demo, target.id, 'submitted')
    await expect(add(target, IMAGE)).rejects.toBeInstanceOf(SessionClosedError)
    await expect(evidence.putFields(target, { country: 'DE' })).rejects.toBeInstanceOf(SessionClosedError)
    expect(parts.fileNames()).toEqual([])
  })

  test('whose file was changed, truncated or deleted cannot be read', async () => {
    const large = Buffer.concat([pdf().subarray(0, -6), Buffer.alloc(200_000, '%filler\n'), Buffer.from('%%EOF\n')])
    const { id } = await add(target, large)
    const path = join(parts.folder, parts.fileNames()[0] ?? '')
    const sealed = readFileSync(path)
    expect((await openDocument(id)).equals(large)).toBe(true)
    const flipped = Buffer.from(sealed)
    flipped[100_000]! ^= 1
    writeFileSync(path, flipped)
    await expect(openDocument(id)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    writeFileSync(path, sealed)
    truncateSync(path, 11 + 65_552)
    await expect(openDocument(id)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    unlinkSync(path)
    await expect(openDocument(id)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    await evidence.removeDocument(target, id)
  })
})

test('another organization cannot distinguish a foreign session from an unknown session', async () => {
  const other = await parts.createOrganization('other')
  const { id } = await add(target, IMAGE)
  const foreign = { ...target, organizationId: other }
  for (const attempt of [
    () => evidence.putFields(foreign, { country: 'DE' }),
    () => evidence.readFields(foreign, 'operator:eve'),
    () => add(foreign, IMAGE),
    () => evidence.listEvidence(foreign),
    () => evidence.openDocument(foreign, id, 'operator:eve'),
    () => evidence.removeDocument(foreign, id),
    () => evidence.missing(foreign),
    () => evidence.eraseSession(foreign, 'operator:eve'),
  ]) {
    await expect(attempt()).rejects.toBeInstanceOf(SessionUnknownError)
  }
  const own = await parts.session(other)
  expect(await evidence.openDocument(own, id, 'operator:eve')).toBeNull()
  expect(await evidence.removeDocument(own, id)).toBe(false)
  expect(await parts.reads(target)).toEqual([])
  expect((await listDocuments()).length).toBe(1)
})

test('a record cannot be opened as part of another session, organization or document', async () => {
  const vault = createVault({ files: parts.files, keys: parts.keys })
  const other = await parts.session(demo)
  const theirs = await parts.session(await parts.createOrganization('other'))
  await add(target, IMAGE)
  const own = { organizationId: demo, sessionId: target.id }
  const [record] = await store.evidence.list(own)
  if (record === undefined) throw new Error('no record')
  expect(await vault.fileName(own, record)).toBe('passport.jpg')
  for (const [where, what] of [
    [{ organizationId: demo, sessionId: other.id }, record],
    [{ organizationId: theirs.organizationId, sessionId: theirs.id }, record],
    [own, { ...record, id: 'evidence_0000000000000000' }],
  ] as const) {
    await expect(vault.open(where, what)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    await expect(vault.fileName(where, what)).rejects.toBeInstanceOf(EvidenceUnreadableError)
  }
})

test('missing evidence is required by the level and not yet submitted', async () => {
  const business = await parts.session(demo, 'kyb')
  expect((await evidence.missing(business, 3)).length).toBe(5)
  await evidence.putFields(business, { registeredName: 'ACME', registrationNumber: 'HRB 1', country: 'DE' })
  expect(await evidence.missing(business, 1)).toEqual([{ part: 'document', kind: 'registration-document' }])
  await add(business, pdf(), { kind: 'registration-document' })
  expect(await evidence.missing(business, 2)).toEqual([])
  expect(await evidence.missing(business, 3)).toEqual([{ part: 'field', name: 'owners' }])
  await evidence.putFields(business, { owners: [{ name: 'A', sharePercent: 100 }] })
  expect(await evidence.missing(business, 3)).toEqual([])
})

describe('erasure', () => {
  test('makes evidence unreadable immediately, keeps the read records, and adds an event', async () => {
    await evidence.putFields(target, { fullName: 'Jane' })
    const { id } = await add(target, IMAGE)
    await evidence.openDocument(target, id, ADA)
    expect(await evidence.eraseSession(target, ADA)).toBe(2)
    expect(parts.fileNames()).toEqual([])
    expect(await evidence.openDocument(target, id, ADA)).toBeNull()
    expect(await readFields()).toEqual({})
    expect(await evidence.listEvidence(target)).toEqual({ fields: [], documents: [] })
    expect((await parts.reads(target)).length).toBe(1)
    const events = await store.sessions.listEvents(demo, target.id)
    expect(events.map(({ sequence, kind, actor }) => [sequence, kind, actor])).toEqual([
      [1, 'created', 'key:test'],
      [2, 'evidence-changed', 'person'],
      [3, 'evidence-changed', 'person'],
      [4, 'evidence-erased', ADA],
    ])
    expect(parts.notified.map((state) => state.session.sequence)).toEqual([2, 3, 4])
    expect(await evidence.eraseSession(target, ADA)).toBe(0)
    expect(parts.notified.at(-1)?.session.sequence).toBe(4)
  })

  test('makes copies of the file unreadable', async () => {
    const { id } = await add(target, IMAGE)
    const path = join(parts.folder, parts.fileNames()[0] ?? '')
    const copy = readFileSync(path)
    const [record] = await store.evidence.list({ organizationId: demo, sessionId: target.id })
    expect(parts.everything().includes(Buffer.from(record!.wrappedKey))).toBe(true)
    await evidence.eraseSession(target, ADA)
    writeFileSync(path, copy)
    expect(await evidence.openDocument(target, id, ADA)).toBeNull()
    unlinkSync(path)
  })

  test('of one document is possible only while the session is open', async () => {
    const first = await add(target, IMAGE)
    const second = await add(target, IMAGE)
    expect(await evidence.removeDocument(target, first.id)).toBe(true)
    expect(await evidence.removeDocument(target, first.id)).toBe(false)
    await move(demo, target.id, 'submitted')
    await expect(evidence.removeDocument(target, second.id)).rejects.toBeInstanceOf(SessionClosedError)
    expect((await listDocuments()).map(({ id }) => id)).toEqual([second.id])
  })
})

describe('evidence retention', () => {
  test('starts at the last step of the person; another registration of the wallet does not extend it', async () => {
    const wallet = evmWallet(1)
    const { session } = await parts.register(demo, { wallet })
    await evidence.putFields(session, { fullName: 'Jane' })
    const listed = async () => (await store.evidenceRetention.listExpired(10)).map(({ sessionId }) => sessionId)
    for (let registrations = 0; registrations < 3; registrations++) {
      clock.advance(9 * DAY_SECONDS)
      const again = await parts.register(demo, { wallet, originUrl: `https://${registrations}.example/` })
      expect(again).toMatchObject({ created: false, session: { id: session.id } })
      const hash = new Uint8Array(32).fill(registrations + 1)
      await store.sessions.addLink(demo, session.id, { hash, requiresProof: true })
    }
    expect(await listed()).toEqual([])
    await evidence.putFields(session, { country: 'DE' })
    clock.advance(29 * DAY_SECONDS)
    await parts.register(demo, { wallet })
    expect(await listed()).toEqual([])
    clock.advance(DAY_SECONDS + 1)
    expect(await listed()).toEqual([session.id])
  })

  const submitTo = async (to: 'completed' | 'rejected' | 'submitted' | 'pending', organizationId = demo) => {
    const session = await parts.session(organizationId)
    await add(session, IMAGE)
    if (to === 'completed') await move(organizationId, session.id, 'submitted')
    if (to !== 'pending') await move(organizationId, session.id, to)
    return session
  }
  const isKept = async (session: Session): Promise<boolean> =>
    (await evidence.listEvidence(session)).documents.length > 0

  test('depends on the status of the session and on the organization', async () => {
    const other = await parts.createOrganization('other')
    await store.evidenceRetention.set(demo, { completedDays: 10, rejectedDays: 5, abandonedDays: 2 })
    const sessions: Session[] = []
    for (const to of ['completed', 'rejected', 'submitted', 'pending'] as const) sessions.push(await submitTo(to))
    sessions.push(await submitTo('pending', other))
    clock.advance(2 * DAY_SECONDS)
    expect((await sweep()).sessions).toBe(0)
    for (const [seconds, left] of [
      [1, [true, true, true, false, true]],
      [3 * DAY_SECONDS, [true, false, true, false, true]],
      [5 * DAY_SECONDS, [false, false, true, false, true]],
      [20 * DAY_SECONDS, [false, false, true, false, false]],
    ] as const) {
      clock.advance(seconds)
      expect<unknown>([(await sweep()).sessions, await Promise.all(sessions.map(isKept))]).toEqual([1, left])
    }
    expect(await store.sessions.listEvents(demo, sessions[0]!.id)).toContainEqual(
      expect.objectContaining({ kind: 'evidence-erased', actor: 'retention' }),
    )
  })

  /** Returns the days from the last step to the erasure of the evidence. */
  const retainedDays = async (session: Session): Promise<number> => {
    clock.advance(1)
    for (let days = 0; days < 20; days++) {
      await sweep()
      if (!(await isKept(session))) return days
      clock.advance(DAY_SECONDS)
    }
    return Number.POSITIVE_INFINITY
  }

  test.each([
    ['submitted', 'retry', 'the limit for rejected sessions', [9, 5, 2], 5],
    ['submitted', 'retry', 'the limit for abandoned sessions if it is longer', [9, 5, 7], 7],
    ['completed', 'retry', 'its completion', [9, 5, 2], 8],
    ['completed', 'retry', 'the last step if that is longer', [3, 5, 2], 5],
    ['completed', 'rejected', 'its completion', [9, 2, 2], 8],
    ['completed', 'rejected', 'the last step if that is longer', [3, 5, 2], 5],
  ] as const)('of a %s session that changes to %s is measured by %s', async (from, to, _rule, days, expected) => {
    const [completedDays, rejectedDays, abandonedDays] = days
    await store.evidenceRetention.set(demo, { completedDays, rejectedDays, abandonedDays })
    const session = await submitTo(from)
    clock.advance(DAY_SECONDS)
    await move(demo, session.id, to, from === 'completed' ? { revoke: true } : {})
    expect(await retainedDays(session)).toBe(expected)
  })

  test('erases no evidence for a day after the clock jumps ahead, and none too early if the clock is set back', async () => {
    const session = await submitTo('pending')
    const ahead = 40 * DAY_SECONDS
    clock.step(ahead)
    await expect(sweep()).rejects.toBeInstanceOf(ClockAheadError)
    clock.advance(DAY_SECONDS - 1)
    await expect(sweep()).rejects.toBeInstanceOf(ClockAheadError)
    clock.step(-ahead)
    expect([(await sweep()).sessions, await isKept(session)]).toEqual([0, true])
    clock.step(ahead)
    await expect(sweep()).rejects.toBeInstanceOf(ClockAheadError)
    clock.advance(DAY_SECONDS)
    expect([(await sweep()).sessions, await isKept(session)]).toEqual([1, false])
  })

  test('follows the setting at the time of the erasure', async () => {
    const session = await submitTo('pending')
    clock.advance(31 * DAY_SECONDS)
    const [listed] = await store.evidenceRetention.listExpired(10)
    await store.evidenceRetention.set(demo, { completedDays: 10, rejectedDays: 5, abandonedDays: 40 })
    await evidence.eraseExpired(listed!)
    expect(await isKept(session)).toBe(true)
    clock.advance(10 * DAY_SECONDS)
    await evidence.eraseExpired(listed!)
    expect(await isKept(session)).toBe(false)
  })

  test('sweeps until no expired evidence remains', async () => {
    for (const count of [0, 100, 101, 250]) {
      const left = Array.from({ length: count }, (_, at) => ({ organizationId: demo, sessionId: `ses_${at}` }))
      const sweep = createRetentionSweep({
        store: { listExpired: async (limit) => left.slice(0, limit), findFile: async () => null },
        erase: async (target) => left.splice(left.indexOf(target), 1),
        files: parts.files,
        clock,
        requireSteadyClock: () => undefined,
      })
      expect([(await sweep()).sessions, left.length]).toEqual([count, 0])
    }
  })

  test('deletes only old files without a row', async () => {
    await submitTo('pending')
    const [live] = parts.fileNames()
    await parts.files.write(
      (async function* () {
        yield Buffer.from('left by a crash')
      })(),
    )
    writeFileSync(join(parts.folder, `${'a'.repeat(32)}.tmp`), 'half written')
    writeFileSync(join(parts.folder, 'README'), 'not ours')
    // Files have the time of the machine, which is far ahead of the test clock.
    expect((await sweep()).files).toBe(0)
    clock.advance(100 * 365 * DAY_SECONDS)
    const [completedDays, rejectedDays, abandonedDays] = [36_500, 36_500, 36_500]
    await store.evidenceRetention.set(demo, { completedDays, rejectedDays, abandonedDays })
    clock.advance(-1)
    expect((await sweep()).files).toBe(2)
    expect(parts.fileNames()).toEqual(['README', live!].sort())
  })
})

describe('a failure', () => {
  test('of the store does not leave a file behind', async () => {
    const { addDocument } = store.evidence
    Object.assign(store.evidence, { addDocument: () => Promise.reject(new Error('the disk is full')) })
    await expect(add(target, IMAGE)).rejects.toThrow('the disk is full')
    Object.assign(store.evidence, { addDocument })
    expect(parts.fileNames()).toEqual([])
  })

  test('of the disk does not leave a row behind', async () => {
    await add(target, IMAGE)
    const { write } = parts.files
    Object.assign(parts.files, {
      write: () =>
        write(
          (async function* () {
            yield Buffer.from('x')
            throw Object.assign(new Error('ENOSPC'), { errno: -28, code: 'ENOSPC', syscall: 'write' })
          })(),
        ),
    })
    await expect(upload(streamOf(IMAGE))).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    Object.assign(parts.files, { write })
    expect(parts.fileNames().length).toBe(1)
    expect((await listDocuments()).length).toBe(1)
  })
})

// A session's evidence from the person's hands to the decider's eyes and to its end, over a real store and real files.

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Zone } from '../../../src/domain/document-zone.ts'
import type { Session } from '../../../src/domain/session.ts'
import { SessionClosedError, SessionUnknownError } from '../../../src/domain/session-errors.ts'
import type { PdfChecker } from '../../../src/identity/evidence/check-pdf.ts'
import {
  DocumentInvalidError,
  DocumentLimitError,
  DocumentTooLargeError,
  DocumentTypeError,
  EvidenceBusyError,
  EvidenceUnreadableError,
} from '../../../src/identity/evidence/errors.ts'
import { createReencoder, type Reencoder } from '../../../src/identity/evidence/reencode.ts'
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
const PORTRAIT = { kind: 'portrait', fileName: 'a', declaredType: '', address: '' } as const

let parts: Awaited<ReturnType<typeof openEvidence>>
let demo: string

beforeEach(async () => {
  parts = await openEvidence()
  demo = await parts.createOrganization('demo')
})
afterEach(async () => {
  expect(parts.errors).toEqual([])
  await parts.remove()
})

describe('fields', () => {
  test('are kept together, the newest of each, and read by whoever is on record as having read them', async () => {
    const { evidence, session } = parts
    const target = await session(demo)
    await evidence.putFields(target, { fullName: 'Jane', country: 'DE' })
    await evidence.putFields(target, { fullName: 'Jane Doe', birthDate: '1990-01-01' })
    expect((await evidence.listEvidence(target)).fields).toEqual(['birthDate', 'country', 'fullName'])
    expect(await parts.reads(target)).toEqual([])
    expect(await evidence.readFields(target, 'operator:ada')).toEqual({
      fullName: 'Jane Doe',
      country: 'DE',
      birthDate: '1990-01-01',
    })
    expect(await parts.reads(target)).toMatchObject([{ kind: 'fields', actor: 'operator:ada' }])
    // One file, whatever was replaced.
    expect(parts.fileNames().length).toBe(1)
  })

  test('are looked through without being read, except those of whoever is found; so is what was read of a document', async () => {
    const { evidence, readings, session } = parts
    const [jane, john, none] = [await session(demo), await session(demo), await session(demo)]
    await evidence.putFields(jane, { fullName: 'Jane' })
    await evidence.putFields(john, { fullName: 'John' })
    const zone = { number: 'L898902C3', surname: 'DOE', givenNames: 'JOHN' } as unknown as Zone
    await readings.put(john, { documentId: 'evidence_1', zone })
    await readings.put(none, { documentId: null, zone: null })
    const find = async (text: string): Promise<readonly string[]> => {
      const matches = (searched: object): boolean => Object.values(searched).includes(text)
      return [...(await evidence.findByFields([jane, john, none], matches, 'operator:ada'))]
    }
    const reads = async (of: Session) => (await parts.reads(of)).map(({ kind, actor }) => [kind, actor])
    expect(await find('Jane')).toEqual([jane.id])
    expect(await reads(jane)).toEqual([['fields', 'operator:ada']])
    expect([...(await reads(john)), ...(await reads(none))]).toEqual([])
    expect(await find('L898902C3')).toEqual([john.id])
    expect(await reads(john)).toEqual([['reading', 'operator:ada']])
    // Of the file it is nothing that is looked through.
    expect(await find('evidence_1')).toEqual([])
  })

  test('that are replaced after they were listed and before their file is read are read anew', async () => {
    const { evidence, session, store } = parts
    const target = await session(demo)
    await evidence.putFields(target, { fullName: 'Jane' })
    const { recordRead, list } = store.evidence
    const reading = spyOn(store.evidence, 'recordRead').mockImplementationOnce(async (...of) => {
      const record = await recordRead(...of)
      await evidence.putFields(target, { country: 'DE' })
      return record
    })
    expect(await evidence.readFields(target, 'operator:ada')).toEqual({ fullName: 'Jane', country: 'DE' })
    expect(reading).toHaveBeenCalledTimes(2)
    spyOn(store.evidence, 'list').mockImplementationOnce(async (of) => {
      const records = await list(of)
      await evidence.putFields(target, { birthDate: '1990-01-01' })
      return records
    })
    await evidence.putFields(target, { fullName: 'Jane Doe' })
    expect(await evidence.readFields(target, 'operator:ada')).toEqual({
      fullName: 'Jane Doe',
      country: 'DE',
      birthDate: '1990-01-01',
    })
    // A file that is gone though nobody replaced it is a failure still.
    for (const name of parts.fileNames()) unlinkSync(join(parts.folder, name))
    await expect(evidence.readFields(target, 'operator:ada')).rejects.toBeInstanceOf(EvidenceUnreadableError)
  })

  test('stay readable when the outcome of their commit was lost', async () => {
    const { evidence, session, store } = parts
    const target = await session(demo)
    const { replaceFields } = store.evidence
    spyOn(store.evidence, 'replaceFields').mockImplementationOnce(async (...of) => {
      await replaceFields(...of)
      throw new StoreUnavailableError(new Error('the connection is lost'))
    })
    await expect(evidence.putFields(target, { fullName: 'Jane' })).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(await evidence.readFields(target, 'operator:ada')).toEqual({ fullName: 'Jane' })
  })

  test('are none before anything was handed in', async () => {
    const target = await parts.session(demo)
    expect(await parts.evidence.readFields(target, 'operator:ada')).toEqual({})
    await parts.evidence.putFields(target, {})
    expect(parts.fileNames()).toEqual([])
  })

  test('that are saved at the same moment are all kept', async () => {
    const { evidence, session } = parts
    const target = await session(demo)
    await Promise.all([
      evidence.putFields(target, { fullName: 'Jane' }),
      evidence.putFields(target, { country: 'DE' }),
      evidence.putFields(target, { birthDate: '1990-01-01' }),
    ])
    expect((await evidence.listEvidence(target)).fields).toEqual(['birthDate', 'country', 'fullName'])
    expect(parts.fileNames().length).toBe(1)
  })
})

describe('documents', () => {
  test('come back as they were kept, and only to someone on record', async () => {
    const { evidence, session, add } = parts
    const target = await session(demo)
    const receipt = await add(target, pdf(), { fileName: '/tmp/../bill.pdf', kind: 'proof-of-address' })
    expect(receipt).toMatchObject({ kind: 'proof-of-address', mediaType: 'application/pdf', fileName: 'bill.pdf' })
    expect(receipt.byteLength).toBe(pdf().length)
    expect(await evidence.listEvidence(target)).toEqual({ fields: [], documents: [receipt] })
    const opened = await evidence.openDocument(target, receipt.id, 'operator:ada')
    expect(opened?.receipt).toEqual(receipt)
    expect(await parts.reads(target)).toMatchObject([
      { evidenceId: receipt.id, kind: 'proof-of-address', actor: 'operator:ada' },
    ])
    expect((await readAll(opened!.stream)).equals(pdf())).toBe(true)
  })

  test('lie encrypted in files that only their owner may read, with names that say nothing', async () => {
    const { evidence, session, add, folder } = parts
    const target = await session(demo)
    await evidence.putFields(target, { fullName: CANARY })
    await add(target, Buffer.concat([pdf(`/Title(${CANARY})`)]), { fileName: `${CANARY}.pdf` })
    for (const name of parts.fileNames()) {
      expect(name).toMatch(/^[0-9a-f]{32}$/)
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    }
    expect(parts.everything().includes(CANARY)).toBe(false)
  })

  test('that are pictures are written anew, without what they knew about their maker', async () => {
    await parts.remove()
    const reencoder = createReencoder()
    parts = await openEvidence({ reencoder })
    demo = await parts.createOrganization('demo')
    const target = await parts.session(demo)
    const image = Buffer.concat([await jpegWithMetadata(CANARY), emptyZip()])
    const receipt = await parts.add(target, image, { kind: 'portrait', declaredType: 'image/jpeg' })
    const opened = await parts.evidence.openDocument(target, receipt.id, 'operator:ada')
    const kept = await readAll(opened!.stream)
    expect(await describeImage(kept)).toMatchObject({ format: 'jpeg', exif: undefined })
    expect(kept.includes(CANARY)).toBe(false)
    await reencoder.close()
  })

  test('are opened in the turn of their organization', async () => {
    await parts.remove()
    const turns: string[] = []
    const reencode: Reencoder['reencode'] = async (picture, organizationId) => {
      turns.push(organizationId)
      return picture
    }
    const check: PdfChecker['check'] = async (_pdf, organizationId) => void turns.push(organizationId)
    parts = await openEvidence({ reencoder: { ...UNCHANGED, reencode }, pdfChecker: { check } })
    demo = await parts.createOrganization('demo')
    const target = await parts.session(demo)
    await parts.add(target, IMAGE, { kind: 'portrait', declaredType: 'image/jpeg' })
    await parts.add(target, pdf())
    expect(turns).toEqual([demo, demo])
  })

  test('over 10 MB are refused while they arrive, and the rest is not read', async () => {
    const { evidence, session } = parts
    const target = await session(demo)
    let sent = 0
    let left = false
    const endless = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(0xff))
        },
        cancel: () => {
          left = true
        },
      },
      { highWaterMark: 0 },
    )
    const attempt = evidence.addDocument(target, { ...PORTRAIT, stream: endless })
    await expect(attempt).rejects.toBeInstanceOf(DocumentTooLargeError)
    expect(sent).toBeLessThanOrEqual(DOCUMENT_BYTES_MAX + 65_536)
    expect(left).toBe(true)
  })

  test('that stop arriving are given up', async () => {
    const { evidence, session } = parts
    const target = await session(demo)
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(IMAGE.subarray(0, 10)) })
    const attempt = evidence.addDocument(target, { ...PORTRAIT, stream })
    await expect(attempt).rejects.toThrow('timed out')
  })

  test('in tiny chunks are refused, since each chunk costs time', async () => {
    const target = await parts.session(demo)
    const pieces = async (count: number, size: number) =>
      parts.evidence
        .addDocument(target, { ...PORTRAIT, stream: streamOf(Buffer.alloc(count * size, 'x'), size) })
        .catch((error: unknown) => error)
    expect(await pieces(5_000, 1)).toBeInstanceOf(BodyFragmentedError)
    expect(await pieces(5_000, 300)).toBeInstanceOf(DocumentTypeError)
  })

  test('whose sender goes away are given up', async () => {
    const target = await parts.session(demo)
    const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('gone')) })
    const attempt = parts.evidence.addDocument(target, { ...PORTRAIT, stream })
    await expect(attempt).rejects.toBeInstanceOf(DocumentInvalidError)
  })

  test('of the wrong kind are refused: by content, by what they were sent as, by what was asked for', async () => {
    const { session, add } = parts
    const target = await session(demo)
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
      await parts.evidence.removeDocument(target, id)
    }
  })

  test('are as many as the kind allows, also when they come at the same moment', async () => {
    const { session, add } = parts
    const target = await session(demo)
    const outcomes = await Promise.allSettled([1, 2].map(() => add(target, IMAGE, { kind: 'portrait' })))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(add(target, IMAGE, { kind: 'portrait' })).rejects.toBeInstanceOf(DocumentLimitError)
    expect(parts.fileNames().length).toBe(1)
  })

  test('are taken in a few at a time', async () => {
    const { session, add } = parts
    const target = await session(demo)
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => add(target, IMAGE)))
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused.map((outcome) => (outcome as PromiseRejectedResult).reason)).toEqual([expect.any(EvidenceBusyError)])
    // The places are free again.
    await add(target, IMAGE)
    expect(parts.fileNames().length).toBe(3)
  })

  test('whose senders withhold bytes hold no slot of those that arrive whole, and are given up at the lowest rate', async () => {
    await parts.remove()
    parts = await openEvidence({
      uploadLimits: { ...UPLOAD_LIMITS, opened: 1 },
      uploadPace: { timeLimitMs: 60_000, graceMs: 300, bytesPerSecondMin: 1_000_000 },
    })
    const [slow, other] = await Promise.all([parts.createOrganization('slow'), parts.createOrganization('other')])
    const withheld = async () => {
      const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(IMAGE.subarray(0, 9)) })
      return parts.evidence
        .addDocument(await parts.session(slow), { ...PORTRAIT, stream })
        .catch((error: unknown) => error)
    }
    const under = Array.from({ length: 5 }, withheld)
    await parts.add(await parts.session(other), IMAGE)
    for (const outcome of await Promise.all(under)) {
      expect(outcome).toMatchObject({ detail: expect.stringContaining('timed out') })
    }
  })

  test('that arrive leave places to other organizations, and to other addresses and sessions of theirs', () => {
    const { acquireArrival } = createUploadSlots()
    const arrive = (organizationId: string, id: string, address: string) => {
      try {
        return acquireArrival({ organizationId, id }, address)
      } catch {
        return null
      }
    }
    /** Uploads from as many addresses and sessions as may be. @returns those that are admitted */
    const fill = (organizationId: string) =>
      Array.from({ length: 100 }, (_, index) => arrive(organizationId, `${organizationId}${index}`, `${index}`)).filter(
        (release) => release !== null,
      )
    expect([1, 2, 3].map(() => arrive('a', 'one', 'x') !== null)).toEqual([true, true, false])
    const others = Array.from({ length: 10 }, (_, index) => arrive('a', `other${index}`, 'x')).filter(Boolean)
    expect(others.length).toBe(4)
    expect(arrive('a', 'own', 'y')).not.toBeNull()
    expect(['a', 'b', 'c', 'd'].map((organizationId) => fill(organizationId).length)).toEqual([9, 12, 9, 7])
    const release = arrive('e', 'late', 'x')
    expect(release).not.toBeNull()
    release?.()
    expect(fill('e').length).toBe(5)
  })

  test('are opened by turns of organizations, and of addresses within each', async () => {
    const { acquireOpening } = createUploadSlots({ ...UPLOAD_LIMITS, opened: 3, openedPerOrganization: 2 })
    const opened: string[] = []
    const releases: (() => void)[] = []
    const open = (organizationId: string, address: string) =>
      acquireOpening({ organizationId }, address).then((release) => {
        opened.push(`${organizationId}${address}`)
        releases.push(release)
      })
    const all = Promise.all(
      ['ax', 'ax', 'ax', 'ax', 'ay', 'bx', 'bx', 'bx', 'cx'].map(([organizationId = '', address = '']) =>
        open(organizationId, address),
      ),
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

  test('whose session is closed meanwhile leave no file', async () => {
    const { session, add, move } = parts
    const target = await session(demo)
    await move(demo, target.id, 'submitted')
    await expect(add(target, IMAGE)).rejects.toBeInstanceOf(SessionClosedError)
    await expect(parts.evidence.putFields(target, { country: 'DE' })).rejects.toBeInstanceOf(SessionClosedError)
    expect(parts.fileNames()).toEqual([])
  })

  test('that were touched on the disk are not handed on', async () => {
    const { evidence, session, add, folder } = parts
    const target = await session(demo)
    const large = Buffer.concat([pdf().subarray(0, -6), Buffer.alloc(200_000, '%filler\n'), Buffer.from('%%EOF\n')])
    const { id } = await add(target, large)
    const [name = ''] = parts.fileNames()
    const path = join(folder, name)
    const sealed = readFileSync(path)
    const read = async (): Promise<Buffer> => readAll((await evidence.openDocument(target, id, 'operator:ada'))!.stream)
    expect((await read()).equals(large)).toBe(true)
    const flipped = Buffer.from(sealed)
    flipped[100_000]! ^= 1
    writeFileSync(path, flipped)
    await expect(read()).rejects.toBeInstanceOf(EvidenceUnreadableError)
    writeFileSync(path, sealed)
    truncateSync(path, 11 + 65_552)
    await expect(read()).rejects.toBeInstanceOf(EvidenceUnreadableError)
    unlinkSync(path)
    await expect(read()).rejects.toBeInstanceOf(EvidenceUnreadableError)
    await parts.evidence.removeDocument(target, id)
  })
})

describe('another organization', () => {
  test('can not tell a session that is not its own from none', async () => {
    const { evidence, session, add, createOrganization } = parts
    const other = await createOrganization('other')
    const target = await session(demo)
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
    const own = await session(other)
    expect(await evidence.openDocument(own, id, 'operator:eve')).toBeNull()
    expect(await evidence.removeDocument(own, id)).toBe(false)
    expect(await parts.reads(target)).toEqual([])
    expect((await evidence.listEvidence(target)).documents.length).toBe(1)
  })
})

test('a record moved to another session, organization or document opens nothing', async () => {
  const { files, keys, store, add, session, createOrganization } = parts
  const vault = createVault({ files, keys })
  const mine = await session(demo)
  const other = await session(demo)
  const theirs = await session(await createOrganization('other'))
  await add(mine, IMAGE)
  const target = { organizationId: demo, sessionId: mine.id }
  const [record] = await store.evidence.list(target)
  if (record === undefined) throw new Error('no record')
  expect(await vault.fileName(target, record)).toBe('passport.jpg')
  for (const [where, what] of [
    [{ organizationId: demo, sessionId: other.id }, record],
    [{ organizationId: theirs.organizationId, sessionId: theirs.id }, record],
    [target, { ...record, id: 'evidence_0000000000000000' }],
  ] as const) {
    await expect(vault.open(where, what)).rejects.toBeInstanceOf(EvidenceUnreadableError)
    await expect(vault.fileName(where, what)).rejects.toBeInstanceOf(EvidenceUnreadableError)
  }
})

describe('what is missing', () => {
  test('is what the level asks for and nobody has handed in', async () => {
    const { evidence, session, add } = parts
    const target = await session(demo, 'kyb')
    expect((await evidence.missing(target, 3)).length).toBe(5)
    await evidence.putFields(target, { registeredName: 'ACME', registrationNumber: 'HRB 1', country: 'DE' })
    expect(await evidence.missing(target, 1)).toEqual([{ part: 'document', kind: 'registration-document' }])
    await add(target, pdf(), { kind: 'registration-document' })
    expect(await evidence.missing(target, 2)).toEqual([])
    expect(await evidence.missing(target, 3)).toEqual([{ part: 'field', name: 'owners' }])
    await evidence.putFields(target, { owners: [{ name: 'A', sharePercent: 100 }] })
    expect(await evidence.missing(target, 3)).toEqual([])
  })
})

describe('erasing', () => {
  test('ends all reading at once, keeps the record of who read, and is part of the history', async () => {
    const { evidence, session, add, store, told } = parts
    const target = await session(demo)
    await evidence.putFields(target, { fullName: 'Jane' })
    const { id } = await add(target, IMAGE)
    await evidence.openDocument(target, id, 'operator:ada')
    expect(await evidence.eraseSession(target, 'operator:ada')).toBe(2)
    expect(parts.fileNames()).toEqual([])
    expect(await evidence.openDocument(target, id, 'operator:ada')).toBeNull()
    expect(await evidence.readFields(target, 'operator:ada')).toEqual({})
    expect(await evidence.listEvidence(target)).toEqual({ fields: [], documents: [] })
    expect((await parts.reads(target)).length).toBe(1)
    const events = await store.sessions.listEvents(demo, target.id)
    expect(events.map(({ sequence, kind, actor }) => [sequence, kind, actor])).toEqual([
      [1, 'created', 'key:test'],
      [2, 'evidence-changed', 'person'],
      [3, 'evidence-changed', 'person'],
      [4, 'evidence-erased', 'operator:ada'],
    ])
    expect(told.map((state) => state.session.sequence)).toEqual([2, 3, 4])
    expect(await evidence.eraseSession(target, 'operator:ada')).toBe(0)
    expect(told.at(-1)?.session.sequence).toBe(4)
  })

  test('leaves a copy of the file that the same database can not open', async () => {
    const { evidence, session, add, folder } = parts
    const target = await session(demo)
    const { id } = await add(target, IMAGE)
    const [name = ''] = parts.fileNames()
    const copy = readFileSync(join(folder, name))
    const [record] = await parts.store.evidence.list({ organizationId: demo, sessionId: target.id })
    expect(parts.everything().includes(Buffer.from(record!.wrappedKey))).toBe(true)
    await evidence.eraseSession(target, 'operator:ada')
    writeFileSync(join(folder, name), copy)
    expect(await evidence.openDocument(target, id, 'operator:ada')).toBeNull()
    unlinkSync(join(folder, name))
  })

  test('of one document is for the person, while the session is open', async () => {
    const { evidence, session, add, move } = parts
    const target = await session(demo)
    const first = await add(target, IMAGE)
    const second = await add(target, IMAGE)
    expect(await evidence.removeDocument(target, first.id)).toBe(true)
    expect(await evidence.removeDocument(target, first.id)).toBe(false)
    await move(demo, target.id, 'submitted')
    await expect(evidence.removeDocument(target, second.id)).rejects.toBeInstanceOf(SessionClosedError)
    expect((await evidence.listEvidence(target)).documents.map(({ id }) => id)).toEqual([second.id])
  })
})

describe('the retention of evidence', () => {
  test('counts from the person’s last step: registering the wallet again keeps nothing', async () => {
    const { store, clock, evidence, register } = parts
    const wallet = evmWallet(1)
    const { session } = await register(demo, { wallet })
    await evidence.putFields(session, { fullName: 'Jane' })
    const listed = async () => (await store.evidenceRetention.listExpired(10)).map(({ sessionId }) => sessionId)
    for (let registrations = 0; registrations < 3; registrations++) {
      clock.advance(9 * DAY_SECONDS)
      const again = await register(demo, { wallet, originUrl: `https://${registrations}.example/` })
      expect(again).toMatchObject({ created: false, session: { id: session.id } })
      await store.sessions.addLink(demo, session.id, {
        hash: new Uint8Array(32).fill(registrations + 1),
        requiresProof: true,
      })
    }
    expect(await listed()).toEqual([])
    // A step of the person's own, and the days count anew.
    await evidence.putFields(session, { country: 'DE' })
    clock.advance(29 * DAY_SECONDS)
    await register(demo, { wallet })
    expect(await listed()).toEqual([])
    clock.advance(DAY_SECONDS + 1)
    expect(await listed()).toEqual([session.id])
  })

  const handIn = async (to: 'completed' | 'rejected' | 'submitted' | 'pending', organizationId = demo) => {
    const target = await parts.session(organizationId)
    await parts.add(target, IMAGE)
    if (to === 'completed') await parts.move(organizationId, target.id, 'submitted')
    if (to !== 'pending') await parts.move(organizationId, target.id, to)
    return target
  }
  const kept = async (target: Awaited<ReturnType<typeof handIn>>): Promise<boolean> =>
    (await parts.evidence.listEvidence(target)).documents.length > 0

  test('ends by what became of the session, and by the organization', async () => {
    const { store, clock, sweep, createOrganization } = parts
    const other = await createOrganization('other')
    await store.evidenceRetention.set(demo, { completedDays: 10, rejectedDays: 5, abandonedDays: 2 })
    const [completed, rejected, submitted, abandoned] = await Promise.all(
      (['completed', 'rejected', 'submitted', 'pending'] as const).map((to) => handIn(to)),
    )
    const foreign = await handIn('pending', other)
    const state = () => Promise.all([completed!, rejected!, submitted!, abandoned!, foreign].map(kept))

    clock.advance(2 * DAY_SECONDS)
    expect((await sweep()).sessions).toBe(0)
    for (const [seconds, left] of [
      [1, [true, true, true, false, true]],
      [3 * DAY_SECONDS, [true, false, true, false, true]],
      [5 * DAY_SECONDS, [false, false, true, false, true]],
      [20 * DAY_SECONDS, [false, false, true, false, false]],
    ] as const) {
      clock.advance(seconds)
      expect<unknown>([(await sweep()).sessions, await state()]).toEqual([1, left])
    }
    expect(await store.sessions.listEvents(demo, completed!.id)).toContainEqual(
      expect.objectContaining({ kind: 'evidence-erased', actor: 'retention' }),
    )
  })

  /** Days after the last step until the evidence of a session that was sent back is erased. */
  const lastingDays = async (target: Awaited<ReturnType<typeof handIn>>): Promise<number> => {
    parts.clock.advance(1)
    for (let days = 0; days < 20; days++) {
      await parts.sweep()
      if (!(await kept(target))) return days
      parts.clock.advance(DAY_SECONDS)
    }
    return Number.POSITIVE_INFINITY
  }

  test.each([
    ['as long as if it had been rejected', { completedDays: 9, rejectedDays: 5, abandonedDays: 2 }, 5],
    ['as long as an abandoned one, if that is longer', { completedDays: 9, rejectedDays: 5, abandonedDays: 7 }, 7],
  ])('of a session that was submitted and sent back lasts %s', async (_how, days, expected) => {
    await parts.store.evidenceRetention.set(demo, days)
    const target = await handIn('submitted')
    parts.clock.advance(DAY_SECONDS)
    await parts.move(demo, target.id, 'retry')
    expect(await lastingDays(target)).toBe(expected)
  })

  test.each([
    ['retry', 'its completion', { completedDays: 9, rejectedDays: 5, abandonedDays: 2 }, 8],
    ['retry', 'the last step, if that is longer', { completedDays: 3, rejectedDays: 5, abandonedDays: 2 }, 5],
    ['rejected', 'its completion', { completedDays: 9, rejectedDays: 2, abandonedDays: 2 }, 8],
    ['rejected', 'the last step, if that is longer', { completedDays: 3, rejectedDays: 5, abandonedDays: 2 }, 5],
  ] as const)('of a session that was completed and revoked to %s counts from %s', async (to, _from, days, expected) => {
    await parts.store.evidenceRetention.set(demo, days)
    const target = await handIn('completed')
    parts.clock.advance(DAY_SECONDS)
    await parts.move(demo, target.id, to, { revoke: true })
    expect(await lastingDays(target)).toBe(expected)
  })

  test('waits for a day after the clock was set ahead, and takes no harm if it is set back', async () => {
    const { clock, sweep } = parts
    const target = await handIn('pending')
    const ahead = 40 * DAY_SECONDS
    clock.step(ahead)
    await expect(sweep()).rejects.toBeInstanceOf(ClockAheadError)
    clock.advance(DAY_SECONDS - 1)
    await expect(sweep()).rejects.toBeInstanceOf(ClockAheadError)
    clock.step(-ahead)
    expect([(await sweep()).sessions, await kept(target)]).toEqual([0, true])
    clock.step(ahead)
    await expect(sweep()).rejects.toBeInstanceOf(ClockAheadError)
    clock.advance(DAY_SECONDS)
    expect([(await sweep()).sessions, await kept(target)]).toEqual([1, false])
  })

  test('is what the organization has set by the time the evidence is erased', async () => {
    const { store, clock, evidence } = parts
    const target = await handIn('pending')
    clock.advance(31 * DAY_SECONDS)
    const [listed] = await store.evidenceRetention.listExpired(10)
    await store.evidenceRetention.set(demo, { completedDays: 10, rejectedDays: 5, abandonedDays: 40 })
    await evidence.eraseExpired(listed!)
    expect(await kept(target)).toBe(true)
    clock.advance(10 * DAY_SECONDS)
    await evidence.eraseExpired(listed!)
    expect(await kept(target)).toBe(false)
  })

  test('starts again with each step of the person', async () => {
    const { store, clock, sweep, evidence } = parts
    await store.evidenceRetention.set(demo, { completedDays: 10, rejectedDays: 5, abandonedDays: 2 })
    const target = await handIn('pending')
    clock.advance(DAY_SECONDS * 1.5)
    await evidence.putFields(target, { country: 'DE' })
    clock.advance(DAY_SECONDS * 1.5)
    expect((await sweep()).sessions).toBe(0)
  })

  test('is by default five years, one year and thirty days', async () => {
    expect(await parts.store.evidenceRetention.find(demo)).toEqual({
      completedDays: 1_826,
      rejectedDays: 365,
      abandonedDays: 30,
    })
  })

  test('ends only when nothing is left', async () => {
    for (const count of [0, 100, 101, 250]) {
      const left = Array.from({ length: count }, (_, at) => ({ organizationId: demo, sessionId: `ses_${at}` }))
      const sweep = createRetentionSweep({
        store: { listExpired: async (limit) => left.slice(0, limit), findFile: async () => null },
        erase: async (target) => left.splice(left.indexOf(target), 1),
        files: parts.files,
        clock: parts.clock,
        requireSteadyClock: () => undefined,
      })
      expect([(await sweep()).sessions, left.length]).toEqual([count, 0])
    }
  })

  test('takes files that no row names, once they are old, and no others', async () => {
    const { clock, sweep, folder, files } = parts
    await handIn('pending')
    const [live] = parts.fileNames()
    await files.write(
      (async function* () {
        yield Buffer.from('left by a crash')
      })(),
    )
    writeFileSync(join(folder, `${'a'.repeat(32)}.tmp`), 'half written')
    writeFileSync(join(folder, 'README'), 'not ours')
    // Files carry the time of the machine, far after the clock of the test.
    expect((await sweep()).files).toBe(0)
    clock.advance(100 * 365 * DAY_SECONDS)
    const [completedDays, rejectedDays, abandonedDays] = [36_500, 36_500, 36_500]
    await parts.store.evidenceRetention.set(demo, { completedDays, rejectedDays, abandonedDays })
    clock.advance(-1)
    expect((await sweep()).files).toBe(2)
    expect(parts.fileNames()).toEqual(['README', live!].sort())
  })
})

describe('a failure on the way', () => {
  test('of the store leaves no file behind', async () => {
    const { session, add, store } = parts
    const target = await session(demo)
    const { addDocument } = store.evidence
    Object.assign(store.evidence, { addDocument: () => Promise.reject(new Error('the disk is full')) })
    await expect(add(target, IMAGE)).rejects.toThrow('the disk is full')
    Object.assign(store.evidence, { addDocument })
    expect(parts.fileNames()).toEqual([])
  })

  test('of the disk is 503, and leaves no row behind', async () => {
    const { session, add, evidence } = parts
    const target = await session(demo)
    await add(target, IMAGE)
    const stream = streamOf(IMAGE)
    const files = parts.files
    const write = files.write
    Object.assign(files, {
      write: () =>
        write(
          (async function* () {
            yield Buffer.from('x')
            throw Object.assign(new Error('ENOSPC'), { errno: -28, code: 'ENOSPC', syscall: 'write' })
          })(),
        ),
    })
    const attempt = evidence.addDocument(target, { ...PORTRAIT, stream })
    await expect(attempt).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    Object.assign(files, { write })
    expect(parts.fileNames().length).toBe(1)
    expect((await evidence.listEvidence(target)).documents.length).toBe(1)
  })
})

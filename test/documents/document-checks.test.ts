// Checks of documents and persons with a real store and real evidence; the size of an image selects its reading.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createCheckAgain } from '../../src/identity/checks/check-again.ts'
import { createCheckRunner } from '../../src/identity/checks/check-runner.ts'
import { createTraces } from '../../src/identity/checks/traces.ts'
import { DocumentInvalidError, EvidenceBusyError } from '../../src/identity/evidence/errors.ts'
import { createSealedNote } from '../../src/identity/evidence/sealed-note.ts'
import { createVault } from '../../src/identity/evidence/vault.ts'
import type { DocumentReading, EvidenceSession } from '../../src/identity/evidence-types.ts'
import { createAgeChecks } from '../../src/modules/documents/checks/age-checks.ts'
import { createDocumentChecks } from '../../src/modules/documents/checks/document-checks.ts'
import {
  createPersonChecks,
  distanceOf,
  soughtKinds,
  storedKinds,
} from '../../src/modules/documents/checks/person-checks.ts'
import { jpeg, pdf } from '../identity/evidence/images.ts'
import { openEvidence } from '../identity/evidence/support.ts'
import { evmWallet } from '../identity/support.ts'
import { randomOf } from './specimen.ts'

const ZONE = {
  format: 'TD3',
  type: 'P',
  issuer: 'UTO',
  nationality: 'D<<',
  number: 'L898902C3',
  surname: 'ERIKSSON',
  givenNames: 'ANNA MARIA',
  namesCut: false,
  birthDate: '1974-08-12',
  expiryDate: '2034-04-15',
  sex: 'F',
} as const
const TYPED = { fullName: 'Anna Eriksson', birthDate: '1974-08-12', country: 'DE' }
const PERSON_PASSED = { 'person.age': 'passed', 'person.name': 'passed' }
const DOCUMENT_PASSED = {
  'document.zone': 'passed',
  'document.name': 'passed',
  'document.birth-date': 'passed',
  'document.country': 'passed',
  'document.expiry': 'passed',
  'document.number': 'passed',
}

let world: Awaited<ReturnType<typeof openEvidence>>
let organizationId: string
/** The reading of an image by its size in bytes; other images have no zone. */
let zones: Map<number, typeof ZONE | Error>
let hashes: Map<number, string>
let errors: unknown[]
beforeEach(async () => {
  world = await openEvidence()
  organizationId = await world.createOrganization('demo')
  zones = new Map()
  hashes = new Map()
  errors = []
})
afterEach(() => world.remove())

const readingsOf = () =>
  createSealedNote<DocumentReading>({
    store: world.store.evidence,
    vault: createVault({ files: world.files, keys: world.keys }),
    clock: world.clock,
    kind: 'reading',
  })

const ageChecks = () =>
  createAgeChecks({
    evidence: world.evidence,
    minimumAges: world.store.minimumAges.readAll,
    clock: world.clock,
    onError: (error) => void errors.push(error),
  })

const runner = () => {
  const { store, evidence, clock, keys } = world
  const shared = {
    evidence,
    clock,
    traces: createTraces({ keys, store: store.sessionTraces }),
    traceStore: store.sessionTraces,
  }
  return createCheckRunner({
    clock,
    store: store.sessionChecks,
    storeChecks: world.storeChecks,
    findSession: store.sessions.find,
    onError: (error) => void errors.push(error),
    parts: [
      createDocumentChecks({
        ...shared,
        readings: readingsOf(),
        readZone: async ({ length }) => {
          const zone = zones.get(length)
          if (zone instanceof Error) throw zone
          return zone === undefined ? { kind: 'none' } : { kind: 'read', decoded: { zone, lines: [], mended: 0 } }
        },
      }),
      createPersonChecks({
        ...shared,
        originOf: store.sessionOrigins.find,
        hashPortrait: async ({ length }) => hashes.get(length) ?? '0'.repeat(16),
      }),
      ageChecks(),
    ],
  })
}

interface Submission {
  readonly typed?: typeof TYPED
  readonly zone?: typeof ZONE | Error | undefined
  readonly portrait?: string
  readonly organization?: string
  readonly wallet?: number
  /** Chain of the wallet, which is a contract. */
  readonly contractOn?: string
}

const ANNA_TWIN = { ...TYPED, birthDate: '1974-08-13' }
const OTHER_NUMBER = { ...ZONE, number: 'L898902C4' } as unknown as typeof ZONE

let padding = 30
/** Every image has its own size, which identifies it. */
const image = async (): Promise<Buffer> => Buffer.concat([await jpeg(30, 30), Buffer.alloc(++padding)])

const submitWith = async ({
  typed = TYPED,
  zone,
  portrait,
  organization = organizationId,
  wallet,
  contractOn,
}: Submission = {}) => {
  const session = await world.session(organization)
  await world.evidence.putFields(session, typed)
  const proof = contractOn === undefined ? undefined : 'erc1271'
  if (wallet !== undefined) await world.connect(organization, session.id, evmWallet(wallet), contractOn, proof)
  const document = await image()
  if (zone !== undefined) zones.set(document.length, zone)
  await world.add(session, document)
  if (portrait !== undefined) {
    const face = await image()
    hashes.set(face.length, portrait)
    await world.add(session, face, { kind: 'portrait' })
  }
  await submit(session)
  return session
}

const submit = ({ organizationId: of, id }: EvidenceSession) =>
  world.changes.changeStatus({ organizationId: of, sessionId: id, to: 'submitted', actor: 'person' })
const resubmit = async (session: EvidenceSession) => {
  await world.move(session.organizationId, session.id, 'retry')
  await submit(session)
}
/** Sends a session back, and submits it with another document. @returns the document */
const addDocument = async (session: EvidenceSession, zone?: typeof ZONE): Promise<Buffer> => {
  await world.move(session.organizationId, session.id, 'retry')
  const document = await image()
  if (zone !== undefined) zones.set(document.length, zone)
  world.clock.advance(1)
  await world.add(session, document)
  await submit(session)
  return document
}
const checksOf = async (session: EvidenceSession) => world.store.sessionChecks.list(session.organizationId, session.id)
const outcomesOf = async (session: EvidenceSession) =>
  Object.fromEntries((await checksOf(session)).map(({ name, outcome }) => [name, outcome]))
const detailOf = async (session: EvidenceSession, check: string) =>
  (await checksOf(session)).find(({ name }) => name === check)?.detail
const screenedZones = async (session: EvidenceSession) => {
  const zonesOf = await world.evidence.screenedZonesOf([session])
  return zonesOf(session)
}

describe('a document', () => {
  test('that matches the fields passes, and its reading is stored as evidence only', async () => {
    const session = await submitWith({ zone: ZONE })
    await runner()()
    expect(await outcomesOf(session)).toEqual({ ...DOCUMENT_PASSED, ...PERSON_PASSED })
    expect(await readingsOf().read(session, 'operator:ada')).toMatchObject({ zone: ZONE })
    expect(await screenedZones(session)).toEqual([ZONE])
    const reads = await world.reads(session)
    expect(reads.map(({ kind, actor }) => `${kind} ${actor}`).sort()).toEqual([
      'fields check',
      'fields check',
      'identity-document check',
      'reading operator:ada',
    ])
    const everything = world.everything()
    const secrets = ['L898902C3', 'ERIKSSON', 'Eriksson', '1974-08-12']
    expect(secrets.filter((secret) => everything.includes(secret))).toEqual([])
    // The reading is neither a document nor a change of the session.
    expect((await world.evidence.listEvidence(session)).documents).toHaveLength(1)
    expect((await world.store.sessions.listEvents(organizationId, session.id)).at(-1)?.kind).toBe('status')
  })

  test('that differs fails the check of each part, and does not reject the session', async () => {
    const typed = { fullName: 'Bob Jones', birthDate: '1980-01-01', country: 'FR' }
    const session = await submitWith({ zone: ZONE, typed })
    await runner()()
    expect(await outcomesOf(session)).toMatchObject({
      'document.name': 'failed',
      'document.birth-date': 'failed',
      'document.country': 'look',
      'document.expiry': 'passed',
    })
    expect((await world.store.sessions.find(organizationId, session.id))?.session.status).toBe('submitted')
  })

  test('that cannot be read is unreadable; a PDF or an image that the reader refuses is not done', async () => {
    const unreadable = await submitWith()
    const broken = await submitWith({ zone: new DocumentInvalidError('the image takes too long to open') })
    const paper = await world.session(organizationId)
    await world.evidence.putFields(paper, TYPED)
    await world.add(paper, pdf(), { fileName: 'passport.pdf' })
    await submit(paper)
    await runner()()
    expect(await outcomesOf(unreadable)).toMatchObject({ 'document.zone': 'unreadable' })
    expect(await outcomesOf(unreadable)).not.toHaveProperty('document.name')
    expect(await outcomesOf(broken)).toMatchObject({ 'document.zone': 'not-done' })
    expect(await detailOf(broken, 'document.zone')).toMatchObject({ documents: [{ outcome: 'picture' }] })
    expect(await detailOf(paper, 'document.zone')).toMatchObject({ documents: [{ outcome: 'pdf' }] })
  })

  test('is read again after the reader was busy', async () => {
    const session = await submitWith({ zone: new EvidenceBusyError() })
    await runner()()
    expect(errors).toHaveLength(1)
    expect(await outcomesOf(session)).toEqual(PERSON_PASSED)
    for (const [length] of zones) zones.set(length, ZONE)
    world.clock.advance(6)
    await runner()()
    expect(await outcomesOf(session)).toMatchObject(DOCUMENT_PASSED)
  })

  test('with two sides is read from the side with a zone; two different documents need a review', async () => {
    const session = await submitWith({ zone: ZONE })
    expect(await runner()()).toBe(1)
    const back = await addDocument(session)
    await runner()()
    expect(await outcomesOf(session)).toMatchObject({ 'document.zone': 'passed' })
    const number = { ...ZONE, number: 'OTHER' } as unknown as typeof ZONE
    for (const other of [number, { ...ZONE, surname: 'OTHER' }, { ...ZONE, birthDate: '1974-08-13' }]) {
      zones.set(back.length, other as typeof ZONE)
      await resubmit(session)
      await runner()()
      expect(await detailOf(session, 'document.zone')).toMatchObject({ reason: 'documents-differ' })
      // Every zone is compared with lists and searched.
      expect(await screenedZones(session)).toEqual([ZONE, other as typeof ZONE])
      const { surname } = other
      const matches = (searched: object) => 'surname' in searched && searched.surname === surname
      expect([...(await world.evidence.findByFields([session], matches, 'operator:ada'))]).toEqual([session.id])
    }
    zones.set(back.length, ZONE)
    await resubmit(session)
    await runner()()
    expect(await outcomesOf(session)).toMatchObject({ 'document.zone': 'passed' })
    expect(await screenedZones(session)).toEqual([ZONE])
  })
})

describe('another session of the organization', () => {
  test('with the same document, portrait and person is found', async () => {
    const first = await submitWith({ zone: ZONE, portrait: 'f0f0f0f0f0f0f0f0' })
    const typed = { ...TYPED, fullName: 'ERIKSSON, Anna' }
    const second = await submitWith({ zone: ZONE, portrait: 'f0f1f0f0f2f0f0f1', typed })
    await runner()()
    for (const name of ['document.number', 'person.name', 'person.portrait']) {
      expect(await outcomesOf(second)).toMatchObject({ [name]: 'look' })
      expect(await detailOf(second, name)).toEqual({ sessions: [first.id] })
    }
    expect(await outcomesOf(first)).toMatchObject({ 'document.number': 'passed', 'person.portrait': 'passed' })
  })

  test('with the same second document is found', async () => {
    const first = await submitWith({ zone: ZONE })
    const second = await submitWith({ zone: OTHER_NUMBER, typed: ANNA_TWIN })
    await addDocument(second, ZONE)
    await runner()()
    expect(await detailOf(second, 'document.number')).toEqual({ sessions: [first.id] })
  })

  test('with another document, portrait and birth date is not found', async () => {
    await submitWith({ zone: ZONE, portrait: 'f0f0f0f0f0f0f0f0' })
    const second = await submitWith({ zone: OTHER_NUMBER, portrait: '0123456789abcdef', typed: ANNA_TWIN })
    await runner()()
    expect(await outcomesOf(second)).toMatchObject({
      'document.number': 'passed',
      'person.name': 'passed',
      'person.portrait': 'passed',
    })
  })

  test('has another portrait if eight bits of the hash differ, and the same if seven do', async () => {
    const first = await submitWith({ portrait: 'f0f0f0f0f0f0f0f0' })
    // The first 16 bits are the same, so both are found and compared.
    const other = await submitWith({ portrait: 'f0f0f0f0f0f0f00f', typed: ANNA_TWIN })
    const same = await submitWith({ portrait: 'f0f0f0f0f0f0f08f', typed: { ...TYPED, birthDate: '1974-08-14' } })
    await runner()()
    expect(await outcomesOf(other)).toMatchObject({ 'person.portrait': 'passed' })
    expect(await outcomesOf(same)).toMatchObject({ 'person.portrait': 'look' })
    expect(await detailOf(same, 'person.portrait')).toEqual({ sessions: expect.arrayContaining([first.id, other.id]) })
  })

  test('is not found by the number of a replaced document', async () => {
    const first = await submitWith({ zone: ZONE })
    await runner()()
    zones.clear()
    await resubmit(first)
    await runner()()
    expect(await outcomesOf(first)).toMatchObject({ 'document.zone': 'unreadable' })
    const second = await submitWith({ zone: ZONE, typed: ANNA_TWIN })
    await runner()()
    expect(await outcomesOf(second)).toMatchObject({ 'document.number': 'passed' })
  })

  test('with the same wallet is the same person', async () => {
    await submitWith({ zone: ZONE, wallet: 1 })
    const again = await submitWith({ zone: ZONE, wallet: 1 })
    await runner()()
    expect(await outcomesOf(again)).toMatchObject({ 'document.number': 'passed', 'person.name': 'passed' })
  })

  test('with a contract of the same address on another chain is another person', async () => {
    await submitWith({ zone: ZONE, wallet: 1, contractOn: 'ethereum' })
    const same = await submitWith({ zone: ZONE, wallet: 1, contractOn: 'ethereum' })
    await runner()()
    expect(await outcomesOf(same)).toMatchObject({ 'document.number': 'passed' })
    const other = await submitWith({ zone: ZONE, wallet: 1, contractOn: 'base' })
    await runner()()
    expect(await outcomesOf(other)).toMatchObject({ 'document.number': 'look', 'person.name': 'look' })
  })

  test('is not found in another organization, which has different traces', async () => {
    const elsewhere = await world.createOrganization('other')
    await submitWith({ zone: ZONE, organization: elsewhere })
    const here = await submitWith({ zone: ZONE })
    await runner()()
    expect(await outcomesOf(here)).toMatchObject({ 'document.number': 'passed', 'person.name': 'passed' })
    const rows = await world.store.database.query<{ value: string }>('SELECT value FROM session_traces', [])
    expect(new Set(rows.map(({ value }) => value)).size).toBe(4)
  })

  test('is not found after its evidence is erased', async () => {
    const first = await submitWith({ zone: ZONE })
    await runner()()
    await world.evidence.eraseSession(first, 'operator:ada')
    expect(await world.store.database.query('SELECT 1 FROM session_traces', [])).toEqual([])
    expect(await readingsOf().read(first, 'operator:ada')).toBeNull()
    expect(world.fileNames()).toEqual([])
    const second = await submitWith({ zone: ZONE })
    await runner()()
    expect(await outcomesOf(second)).toMatchObject({ 'document.number': 'passed', 'person.name': 'passed' })
  })

  test('that is erased during its checks leaves no trace and no reading', async () => {
    const session = await submitWith({ zone: ZONE })
    await world.evidence.eraseSession(session, 'operator:ada')
    const trace = { kind: 'person.name', value: 'x' }
    await world.store.sessionTraces.replace(organizationId, session.id, 'person.', [trace])
    expect(await world.store.database.query('SELECT 1 FROM session_traces', [])).toEqual([])
    await readingsOf().put(session, { documentId: null, zone: ZONE })
    expect(await readingsOf().read(session, 'operator:ada')).toBeNull()
    expect(world.fileNames()).toEqual([])
  })
})

test('the minimum age is set per organization and level; without it, a child needs a review', async () => {
  const { minimumAges } = world.store
  const child = { ...TYPED, birthDate: '2021-01-01' }
  const young = await submitWith({ typed: child })
  await runner()()
  expect(await outcomesOf(young)).toMatchObject({ 'person.age': 'look' })
  await minimumAges.set(organizationId, null, 21)
  const refused = await submitWith({ typed: child })
  const old = await submitWith()
  await runner()()
  expect(await outcomesOf(refused)).toMatchObject({ 'person.age': 'failed' })
  expect(await detailOf(refused, 'person.age')).toEqual({ minimum: 21 })
  expect(await outcomesOf(old)).toMatchObject({ 'person.age': 'passed' })
  // The age of a level takes precedence for its sessions.
  const { level } = old
  await minimumAges.set(organizationId, level === 3 ? 1 : 3, 98)
  const other = await submitWith()
  await minimumAges.set(organizationId, level, 99)
  await runner()()
  expect(await outcomesOf(other)).toMatchObject({ 'person.age': 'failed' })
  expect(await detailOf(other, 'person.age')).toEqual({ minimum: 99 })
  await minimumAges.set(organizationId, level, null)
  const again = await submitWith()
  await runner()()
  expect(await outcomesOf(again)).toMatchObject({ 'person.age': 'passed' })
})

test('a new minimum age repeats the checks of submitted and completed sessions of its organization', async () => {
  const { store, move, storeChecks, register } = world
  const waiting = await submitWith()
  const verified = await submitWith()
  const business = (await register(organizationId, { checkType: 'kyb' })).session
  await submit(business)
  while ((await runner()()) > 0);
  await move(organizationId, verified.id, 'completed')
  const again = createCheckAgain(ageChecks(), {
    onError: (error) => {
      throw error
    },
    organizations: store.organizations.list,
    outdated: store.sessionChecks.outdated,
    queued: store.sessionChecks.queued,
    store: storeChecks,
    clock: world.clock,
  })
  const makeAgain = () => again(() => true)
  // A business has no age, so no check is repeated.
  expect((await makeAgain()).sessions).toBe(0)
  await store.minimumAges.set(await world.createOrganization('another'), null, 99)
  await store.minimumAges.set(organizationId, null, 98)
  expect(await makeAgain()).toEqual({ sessions: 2, opened: 0 })
  for (const session of [waiting, verified]) {
    expect(await outcomesOf(session)).toMatchObject({ 'person.age': 'failed', 'person.name': expect.any(String) })
  }
  expect((await store.sessions.find(organizationId, verified.id))?.session.status).toBe('completed')
  await store.minimumAges.set(organizationId, null, 18)
  await world.evidence.eraseSession(verified, 'operator:ada')
  await makeAgain()
  expect(await outcomesOf(waiting)).toMatchObject({ 'person.age': 'passed' })
  expect(await outcomesOf(verified)).toMatchObject({ 'person.age': 'not-done' })
})

test('the country of the address is compared with the entered country, and erased with the evidence', async () => {
  const { sessionOrigins } = world.store
  const [home, abroad, nowhere] = [await submitWith(), await submitWith(), await submitWith()]
  for (const [session, country] of [
    [home, 'DE'],
    [abroad, 'DE'],
    [abroad, 'FR'],
    [nowhere, 'DE'],
    [nowhere, null],
  ] as const) {
    await sessionOrigins.note(organizationId, session.id, country)
  }
  await runner()()
  expect(await outcomesOf(home)).toMatchObject({ 'person.address': 'passed' })
  expect(await outcomesOf(abroad)).toMatchObject({ 'person.address': 'look' })
  expect(await detailOf(abroad, 'person.address')).toEqual({})
  // Without a country, there is no check.
  expect(Object.keys(await outcomesOf(nowhere))).not.toContain('person.address')
  await world.evidence.eraseSession(abroad, 'operator:ada')
  expect(await sessionOrigins.find(organizationId, abroad.id)).toBeNull()
  expect(await sessionOrigins.find(organizationId, home.id)).toBe('DE')
})

test('hashes that differ in up to seven bits always share an indexed part', () => {
  const random = randomOf(4)
  for (let round = 0; round < 500; round++) {
    let hash = 0n
    for (let bit = 0; bit < 64; bit++) hash = (hash << 1n) | BigInt(random() < 0.5)
    let other = hash
    for (let flip = 0; flip < 7; flip++) other ^= 1n << BigInt(Math.floor(random() * 64))
    const [one, two] = [hash, other].map((value) => value.toString(16).padStart(16, '0')) as [string, string]
    expect(distanceOf(one, two)).toBeLessThanOrEqual(7)
    const stored = new Set(storedKinds(two))
    expect(soughtKinds(one).some((kind) => stored.has(kind))).toBe(true)
  }
})

// Checks of documents and persons over a real store and real evidence, with pictures that say what a reader would.
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
/** What a reader says of a picture, by its size in bytes; anything else has no zone. */
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

interface HandedIn {
  readonly typed?: typeof TYPED
  readonly zone?: typeof ZONE | Error | undefined
  readonly portrait?: string
  readonly organization?: string
  readonly wallet?: number
  /** Chain of the wallet, which is a contract there. */
  readonly contractOn?: string
}

let side = 30
/** Every picture has a size of its own, by which the reader knows it. */
const picture = async (): Promise<Buffer> => Buffer.concat([await jpeg(30, 30), Buffer.alloc(++side)])

const handIn = async ({
  typed = TYPED,
  zone,
  portrait,
  organization = organizationId,
  wallet,
  contractOn,
}: HandedIn = {}) => {
  const session = await world.session(organization)
  await world.evidence.putFields(session, typed)
  const proof = contractOn === undefined ? undefined : 'erc1271'
  if (wallet !== undefined) await world.connect(organization, session.id, evmWallet(wallet), contractOn, proof)
  const paper = await picture()
  if (zone !== undefined) zones.set(paper.length, zone)
  await world.add(session, paper)
  if (portrait !== undefined) {
    const face = await picture()
    hashes.set(face.length, portrait)
    await world.add(session, face, { kind: 'portrait' })
  }
  await submit(session)
  return session
}

const submit = ({ organizationId: of, id }: EvidenceSession) =>
  world.changes.changeStatus({ organizationId: of, sessionId: id, to: 'submitted', actor: 'person' })

const checksOf = async (session: EvidenceSession) => world.store.sessionChecks.list(session.organizationId, session.id)
const outcomesOf = async (session: EvidenceSession) =>
  Object.fromEntries((await checksOf(session)).map(({ name, outcome }) => [name, outcome]))
const detailOf = async (session: EvidenceSession, wanted: string) =>
  (await checksOf(session)).find(({ name }) => name === wanted)?.detail

describe('a document', () => {
  test('that fits what was typed passes, and what was read is kept as evidence only', async () => {
    const session = await handIn({ zone: ZONE })
    await runner()()
    expect(await outcomesOf(session)).toEqual({ ...DOCUMENT_PASSED, ...PERSON_PASSED })
    expect(await readingsOf().read(session, 'operator:ada')).toMatchObject({ zone: ZONE })
    const zonesOf = await world.evidence.screenedZonesOf([session])
    expect(await zonesOf(session)).toEqual([ZONE])
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
    // The reading is no document and no change of the session.
    expect((await world.evidence.listEvidence(session)).documents).toHaveLength(1)
    expect((await world.store.sessions.listEvents(organizationId, session.id)).at(-1)?.kind).toBe('status')
  })

  test('that does not fit says where, and rejects nobody', async () => {
    const session = await handIn({
      zone: ZONE,
      typed: { fullName: 'Bob Jones', birthDate: '1980-01-01', country: 'FR' },
    })
    await runner()()
    expect(await outcomesOf(session)).toMatchObject({
      'document.name': 'failed',
      'document.birth-date': 'failed',
      'document.country': 'look',
      'document.expiry': 'passed',
    })
    expect((await world.store.sessions.find(organizationId, session.id))?.session.status).toBe('submitted')
  })

  test('that can not be read is unreadable; a PDF, or a picture that breaks the reader, is not done', async () => {
    const unreadable = await handIn()
    const broken = await handIn({ zone: new DocumentInvalidError('the image takes too long to open') })
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

  test('is tried again while the reader is busy', async () => {
    const session = await handIn({ zone: new EvidenceBusyError() })
    await runner()()
    expect(errors).toHaveLength(1)
    expect(await outcomesOf(session)).toEqual(PERSON_PASSED)
    for (const [length] of zones) zones.set(length, ZONE)
    world.clock.advance(6)
    await runner()()
    expect(await outcomesOf(session)).toMatchObject(DOCUMENT_PASSED)
  })

  test('with two sides is read from the side that has a zone; two documents need a look', async () => {
    const session = await handIn({ zone: ZONE })
    expect(await runner()()).toBe(1)
    await world.move(organizationId, session.id, 'retry')
    const back = await picture()
    world.clock.advance(1)
    await world.add(session, back)
    await submit(session)
    await runner()()
    expect(await outcomesOf(session)).toMatchObject({ 'document.zone': 'passed' })
    const number = { ...ZONE, number: 'OTHER' } as unknown as typeof ZONE
    for (const other of [number, { ...ZONE, surname: 'OTHER' }, { ...ZONE, birthDate: '1974-08-13' }]) {
      zones.set(back.length, other as typeof ZONE)
      await world.move(organizationId, session.id, 'retry')
      await submit(session)
      await runner()()
      expect(await detailOf(session, 'document.zone')).toMatchObject({ reason: 'documents-differ' })
      // Every zone is compared with lists and searched, not only the first.
      expect(await (await world.evidence.screenedZonesOf([session]))(session)).toEqual([ZONE, other as typeof ZONE])
      const { surname } = other
      const matches = (searched: object) => 'surname' in searched && searched.surname === surname
      expect([...(await world.evidence.findByFields([session], matches, 'operator:ada'))]).toEqual([session.id])
    }
    zones.set(back.length, ZONE)
    await world.move(organizationId, session.id, 'retry')
    await submit(session)
    await runner()()
    expect(await outcomesOf(session)).toMatchObject({ 'document.zone': 'passed' })
    expect(await (await world.evidence.screenedZonesOf([session]))(session)).toEqual([ZONE])
  })
})

describe('under another identity of the organization', () => {
  test('the same document, portrait and person are found, each with the other session', async () => {
    const first = await handIn({ zone: ZONE, portrait: 'f0f0f0f0f0f0f0f0' })
    const second = await handIn({
      zone: ZONE,
      portrait: 'f0f1f0f0f2f0f0f1',
      typed: { ...TYPED, fullName: 'ERIKSSON, Anna' },
    })
    await runner()()
    for (const name of ['document.number', 'person.name', 'person.portrait']) {
      expect(await outcomesOf(second)).toMatchObject({ [name]: 'look' })
      expect(await detailOf(second, name)).toEqual({ sessions: [first.id] })
    }
    expect(await outcomesOf(first)).toMatchObject({ 'document.number': 'passed', 'person.portrait': 'passed' })
  })

  test('a document beside another one is found, too', async () => {
    const first = await handIn({ zone: ZONE })
    const second = await handIn({
      zone: { ...ZONE, number: 'L898902C4' } as unknown as typeof ZONE,
      typed: { ...TYPED, birthDate: '1974-08-13' },
    })
    await world.move(organizationId, second.id, 'retry')
    const passport = await picture()
    world.clock.advance(1)
    zones.set(passport.length, ZONE)
    await world.add(second, passport)
    await submit(second)
    await runner()()
    expect(await detailOf(second, 'document.number')).toEqual({ sessions: [first.id] })
  })

  test('another document, portrait or birth date is not', async () => {
    await handIn({ zone: ZONE, portrait: 'f0f0f0f0f0f0f0f0' })
    const second = await handIn({
      zone: { ...ZONE, number: 'L898902C4' } as unknown as typeof ZONE,
      portrait: '0123456789abcdef',
      typed: { ...TYPED, birthDate: '1974-08-13' },
    })
    await runner()()
    expect(await outcomesOf(second)).toMatchObject({
      'document.number': 'passed',
      'person.name': 'passed',
      'person.portrait': 'passed',
    })
  })

  test('a portrait that shares a part is another one if eight bits differ, and the same if seven do', async () => {
    const first = await handIn({ portrait: 'f0f0f0f0f0f0f0f0' })
    // The first 16 bits are the same: it is looked up, and then compared.
    const other = await handIn({ portrait: 'f0f0f0f0f0f0f00f', typed: { ...TYPED, birthDate: '1974-08-13' } })
    const same = await handIn({ portrait: 'f0f0f0f0f0f0f08f', typed: { ...TYPED, birthDate: '1974-08-14' } })
    await runner()()
    expect(await outcomesOf(other)).toMatchObject({ 'person.portrait': 'passed' })
    expect(await outcomesOf(same)).toMatchObject({ 'person.portrait': 'look' })
    expect(await detailOf(same, 'person.portrait')).toEqual({ sessions: expect.arrayContaining([first.id, other.id]) })
  })

  test('the number of a document that was replaced by one that can’t be read is not found', async () => {
    const first = await handIn({ zone: ZONE })
    await runner()()
    await world.move(organizationId, first.id, 'retry')
    zones.clear()
    await submit(first)
    await runner()()
    expect(await outcomesOf(first)).toMatchObject({ 'document.zone': 'unreadable' })
    const second = await handIn({ zone: ZONE, typed: { ...TYPED, birthDate: '1974-08-13' } })
    await runner()()
    expect(await outcomesOf(second)).toMatchObject({ 'document.number': 'passed' })
  })

  test('a session with one of the same wallets is the same identity', async () => {
    await handIn({ zone: ZONE, wallet: 1 })
    const again = await handIn({ zone: ZONE, wallet: 1 })
    await runner()()
    expect(await outcomesOf(again)).toMatchObject({ 'document.number': 'passed', 'person.name': 'passed' })
  })

  test('a session with a contract of the same address on another chain is another identity', async () => {
    await handIn({ zone: ZONE, wallet: 1, contractOn: 'ethereum' })
    const same = await handIn({ zone: ZONE, wallet: 1, contractOn: 'ethereum' })
    await runner()()
    expect(await outcomesOf(same)).toMatchObject({ 'document.number': 'passed' })
    const other = await handIn({ zone: ZONE, wallet: 1, contractOn: 'base' })
    await runner()()
    expect(await outcomesOf(other)).toMatchObject({ 'document.number': 'look', 'person.name': 'look' })
  })

  test('another organization’s is not found, and its traces are other ones', async () => {
    const elsewhere = await world.createOrganization('other')
    await handIn({ zone: ZONE, organization: elsewhere })
    const here = await handIn({ zone: ZONE })
    await runner()()
    expect(await outcomesOf(here)).toMatchObject({ 'document.number': 'passed', 'person.name': 'passed' })
    const rows = await world.store.database.query<{ value: string }>('SELECT value FROM session_traces', [])
    expect(new Set(rows.map(({ value }) => value)).size).toBe(4)
  })

  test('what was erased is not', async () => {
    const first = await handIn({ zone: ZONE })
    await runner()()
    await world.evidence.eraseSession(first, 'operator:ada')
    expect(await world.store.database.query('SELECT 1 FROM session_traces', [])).toEqual([])
    expect(await readingsOf().read(first, 'operator:ada')).toBeNull()
    expect(world.fileNames()).toEqual([])
    const second = await handIn({ zone: ZONE })
    await runner()()
    expect(await outcomesOf(second)).toMatchObject({ 'document.number': 'passed', 'person.name': 'passed' })
  })

  test('what is erased while it is checked leaves no trace and no reading', async () => {
    const session = await handIn({ zone: ZONE })
    await world.evidence.eraseSession(session, 'operator:ada')
    await world.store.sessionTraces.replace(organizationId, session.id, 'person.', [
      { kind: 'person.name', value: 'x' },
    ])
    expect(await world.store.database.query('SELECT 1 FROM session_traces', [])).toEqual([])
    await readingsOf().put(session, { documentId: null, zone: ZONE })
    expect(await readingsOf().read(session, 'operator:ada')).toBeNull()
    expect(world.fileNames()).toEqual([])
  })
})

test('an age is asked for by the organization; without its rule a child is looked at', async () => {
  const child = { ...TYPED, birthDate: '2021-01-01' }
  const young = await handIn({ typed: child })
  await runner()()
  expect(await outcomesOf(young)).toMatchObject({ 'person.age': 'look' })
  await world.store.minimumAges.set(organizationId, null, 21)
  const refused = await handIn({ typed: child })
  const old = await handIn()
  await runner()()
  expect(await outcomesOf(refused)).toMatchObject({ 'person.age': 'failed' })
  expect(await detailOf(refused, 'person.age')).toEqual({ minimum: 21 })
  expect(await outcomesOf(old)).toMatchObject({ 'person.age': 'passed' })
  // A level's own age counts first, for sessions of that level alone.
  const { level } = await world.store.sessions.find(organizationId, old.id).then((state) => state!.session)
  await world.store.minimumAges.set(organizationId, level === 3 ? 1 : 3, 98)
  const other = await handIn()
  await world.store.minimumAges.set(organizationId, level, 99)
  await runner()()
  expect(await outcomesOf(other)).toMatchObject({ 'person.age': 'failed' })
  expect(await detailOf(other, 'person.age')).toEqual({ minimum: 99 })
  await world.store.minimumAges.set(organizationId, level, null)
  const again = await handIn()
  await runner()()
  expect(await outcomesOf(again)).toMatchObject({ 'person.age': 'passed' })
})

test('another minimum age checks those again that wait and that are verified, of that organization alone', async () => {
  const { store, move, storeChecks, register } = world
  const waiting = await handIn()
  const verified = await handIn()
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
  // Nothing is left to do of a business, which has no age.
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

test('the country of the address is compared with the one that was typed, and goes with the evidence', async () => {
  const { sessionOrigins } = world.store
  const [home, abroad, nowhere] = [await handIn(), await handIn(), await handIn()]
  await sessionOrigins.note(organizationId, home.id, 'DE')
  await sessionOrigins.note(organizationId, abroad.id, 'DE')
  await sessionOrigins.note(organizationId, abroad.id, 'FR')
  await sessionOrigins.note(organizationId, nowhere.id, 'DE')
  await sessionOrigins.note(organizationId, nowhere.id, null)
  await runner()()
  expect(await outcomesOf(home)).toMatchObject({ 'person.address': 'passed' })
  expect(await outcomesOf(abroad)).toMatchObject({ 'person.address': 'look' })
  expect(await detailOf(abroad, 'person.address')).toEqual({})
  // Nothing says from where: it is not checked, and nobody is suspected.
  expect(Object.keys(await outcomesOf(nowhere))).not.toContain('person.address')
  await world.evidence.eraseSession(abroad, 'operator:ada')
  expect(await sessionOrigins.find(organizationId, abroad.id)).toBeNull()
  expect(await sessionOrigins.find(organizationId, home.id)).toBe('DE')
})

test('hashes that differ in up to seven bits always share a part that is looked up', () => {
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

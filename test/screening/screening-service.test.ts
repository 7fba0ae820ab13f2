// The leader's screening task with a real store and processes: it fetches lists, compares submitted people, compares
// verified people again after a list changes, and keeps the previous state after a failure.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Zone } from '../../src/domain/document-zone.ts'
import type { SessionStatus, StatusChange } from '../../src/domain/session.ts'
import type { FilesRequest } from '../../src/facts/lists/fetch-files.ts'
import type { EvidenceFields } from '../../src/identity/evidence-types.ts'
import { packEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import type { ScreeningFormat } from '../../src/modules/screening/formats/publishers.ts'
import { readScreeningList } from '../../src/modules/screening/formats/read-screening-list.ts'
import { refreshScreeningLists } from '../../src/modules/screening/lists/screening-refresh.ts'
import { screeningProcesses } from '../../src/modules/screening/processes/screening-processes.ts'
import { createScreeningService } from '../../src/modules/screening/screening-service.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { openIdentity, type TestIdentity } from '../identity/support.ts'
import { until } from '../support/until.ts'
import { checkRunnerOf, clearHits, fileOf, LEAD, moveUnchecked, SLOW, utf8, ZONE } from './support.ts'

const log = createLogger({ write: () => true })

let identity: TestIdentity
let organizationId = ''
const typed = new Map<string, EvidenceFields>()
const zones = new Map<string, readonly Zone[]>()
let leaderTask: ReturnType<typeof createScreeningService>['leaderTask']
let running: ReturnType<typeof setInterval>
let making: Promise<unknown> = Promise.resolve()

beforeAll(async () => {
  identity = await openIdentity()
  organizationId = await identity.createOrganization('screened')
  const service = createScreeningService({
    log,
    store: identity.store,
    clock: identity.clock,
    everyMs: 20,
    storeAgain: identity.storeChecks,
    wallets: { lists: () => [], screeners: new Map(), chainOf: async (name) => ({ name }) },
    evidence: {
      screenedFieldsOf:
        async () =>
        async ({ id }) => {
          const fields = typed.get(id)
          if (fields === undefined) throw new Error('unreadable')
          return fields
        },
      screenedZonesOf:
        async () =>
        async ({ id }) =>
          zones.get(id) ?? [],
    },
  })
  leaderTask = service.leaderTask
  leaderTask.start(LEAD)
  const runDue = checkRunnerOf(identity, service.parts)
  running = setInterval(() => {
    making = making.then(() => runDue())
  }, 20)
})
afterAll(async () => {
  clearInterval(running)
  await making
  await leaderTask.stop()
  await identity.remove()
})

const importList = async (name: string, text: string): Promise<void> => {
  const { store } = identity
  if ((await store.screeningLists.find(name)) === null) {
    await store.screeningLists.set({ name, format: 'csv', urls: [], reach: 'public', intervalSeconds: 3_600 })
  }
  const entries = readScreeningList('csv', [utf8(text)], { entriesMin: 1, now: null })
  await store.screeningLists.replace(name, packEntries(entries), { token: null, validators: {}, nextDueAtSeconds: 9e9 })
}

const move = (sessionId: string, to: SessionStatus, change: Partial<StatusChange> = {}) =>
  moveUnchecked(identity, { organizationId, sessionId }, to, change)
const complete = async (sessionId: string) => (await move(sessionId, 'completed')).session.status
const clear = (sessionId: string) => clearHits(identity, organizationId, sessionId)
/** Submits again with other fields. */
const resubmit = async (sessionId: string, fields: EvidenceFields): Promise<void> => {
  await move(sessionId, 'retry')
  typed.set(sessionId, fields)
  await move(sessionId, 'submitted')
}

const handIn = async (fields: EvidenceFields | null, checkType: 'kyc' | 'kyb' = 'kyc'): Promise<string> => {
  const { session } = await identity.register(organizationId, { checkType })
  if (fields !== null) typed.set(session.id, fields)
  await move(session.id, 'submitted')
  return session.id
}
const findCheck = async (sessionId: string) =>
  (await identity.store.sessionChecks.list(organizationId, sessionId)).find(({ name }) => name === 'lists.names')
const checkOf = async (sessionId: string) => {
  await until(async () => !(await identity.store.sessionChecks.isPending(organizationId, sessionId)), SLOW)
  return findCheck(sessionId)
}
const hitsOf = (sessionId: string) => identity.store.screeningChecks.hits(organizationId, sessionId)
const statesOf = async (sessionId: string) => (await hitsOf(sessionId)).map(({ state }) => state).sort()
const LIST =
  'id,kind,name,aliases,birth_dates,countries\np1,person,Ivan Petrovich Primerov,Ivan Primerov,1966-04-28,RU\n'

describe('people who submit', () => {
  test('are compared with the lists, and a hit names the version of its list', async () => {
    await importList('own', LIST)
    const hitId = await handIn({ fullName: 'Иван Примеров', birthDate: '1966-04-28', country: 'RU' })
    const cleanId = await handIn({ fullName: 'Anna Schmidt', birthDate: '1990-01-01', country: 'DE' })
    expect((await checkOf(hitId))?.outcome).toBe('look')
    const [hit] = await hitsOf(hitId)
    const list = await identity.store.screeningLists.find('own')
    expect(hit).toMatchObject({ list: 'own', entry: 'p1', state: 'open', subject: 'person', score: 100 })
    expect(hit?.versionId).toBe(list?.version?.id ?? 'none')
    expect((await checkOf(cleanId))?.outcome).toBe('passed')
    expect(await hitsOf(cleanId)).toEqual([])
    // Operators and external deciders use this function.
    await expect(complete(hitId)).rejects.toThrow(/list or screener hit is open/)
    expect(await complete(cleanId)).toBe('completed')
  })

  test.each<[string, EvidenceFields | null, RegExp]>([
    ['unreadable fields', null, /could not read/],
    ['a name without letters', { fullName: '😀😀', country: 'DE' }, /letters/],
    ['no name', {}, /no name/],
  ])('with %s have a check that says why, and no hit', async (_, fields, problem) => {
    const id = await handIn(fields)
    expect((await checkOf(id))?.detail['problem']).toMatch(problem)
    expect(await hitsOf(id)).toEqual([])
  })

  test('include the owners of a business', async () => {
    const id = await handIn(
      { registeredName: 'Bakery GmbH', country: 'DE', owners: [{ name: 'Ivan Primerow', sharePercent: 50 }] },
      'kyb',
    )
    await checkOf(id)
    const [hit] = await hitsOf(id)
    expect(hit).toMatchObject({ subject: 'owner 1', entry: 'p1' })
  })
})

test('a decision about a hit does not cover another name, date or entry', async () => {
  const id = await handIn({ fullName: 'Iwan Primerew', country: 'RU' })
  const again = async (fields: EvidenceFields): Promise<readonly string[]> => {
    await resubmit(id, fields)
    await checkOf(id)
    return statesOf(id)
  }
  await checkOf(id)
  await clear(id)
  const listed = { fullName: 'Ivan Petrovich Primerov', country: 'RU' }
  expect(await again(listed)).toEqual(['cleared', 'open'])
  await expect(complete(id)).rejects.toThrow('is open')
  await clear(id)
  expect(await again(listed)).toEqual(['cleared', 'cleared'])
  expect(await again({ ...listed, birthDate: '1966-04-29' })).toEqual(['cleared', 'cleared', 'open'])
  await clear(id)
  await importList('own', LIST.replace('Ivan Primerov', 'Vanya Primerov'))
  await until(async () => (await statesOf(id)).includes('open'), SLOW)
  await move(id, 'rejected')
  await importList('own', LIST)
})

test.each<[string, EvidenceFields]>([
  ['another name', { fullName: 'Anna Schmidt', country: 'RU' }],
  ['nothing', {}],
])('an open hit waits for a person if the next submission is %s', async (_what, fields) => {
  const id = await handIn({ fullName: 'Ivan Primerov', country: 'RU' })
  await checkOf(id)
  await resubmit(id, fields)
  expect((await checkOf(id))?.outcome).toBe('look')
  await expect(complete(id)).rejects.toThrow('is open')
  expect(await hitsOf(id)).toMatchObject([{ name: 'Ivan Primerov', state: 'open' }])
  await clear(id)
  expect(await complete(id)).toBe('completed')
  await move(id, 'rejected', { revoke: true })
})

describe('when a list changes', () => {
  test('verified people are compared again; a decision lasts as long as the entry, and what is no longer listed goes', async () => {
    const { store } = identity
    const cleared = await handIn({ fullName: 'Ivan Primerov', country: 'RU' })
    const later = await handIn({ fullName: 'Pavel Obraztsov', country: 'RU' })
    await checkOf(cleared)
    await checkOf(later)
    await clear(cleared)
    for (const sessionId of [cleared, later]) await complete(sessionId)
    const before = (await store.screeningLists.find('own'))?.version?.id
    await importList('own', `${LIST}p2,person,Pavel Obraztsov,,1970,RU\n`)
    await until(async () => (await hitsOf(later)).length > 0, SLOW)
    expect((await hitsOf(later))[0]).toMatchObject({ entry: 'p2', state: 'open' })
    expect(await statesOf(cleared)).toEqual(['cleared'])
    // The previous version can still be read.
    expect(await store.screeningLists.readVersion(before ?? '')).not.toBeNull()
    await importList('own', 'id,kind,name\np3,person,Boris Drugoi\n')
    await until(async () => (await hitsOf(later)).length + (await hitsOf(cleared)).length === 0, SLOW)
    const ended = await store.screeningChecks.endedHits(organizationId, cleared)
    expect(ended).toMatchObject([{ entry: 'p1', state: 'cleared' }])
    // The same content is listed again.
    await importList('own', LIST)
    await until(async () => (await hitsOf(cleared)).length > 0, SLOW)
    expect(await statesOf(cleared)).toEqual(['open'])
  })
})

test('an open hit of a disabled list waits for a person, even if another list is enabled under its name', async () => {
  const { store } = identity
  await importList('ended', 'id,kind,name\ne1,person,Zoltan Qvistgaard\n')
  const id = await handIn({ fullName: 'Zoltan Qvistgaard', country: 'DE' })
  const versionOf = async () => (await findCheck(id))?.version
  expect((await checkOf(id))?.outcome).toBe('look')
  const before = await versionOf()
  await store.screeningLists.remove('ended')
  await importList('ended', 'id,kind,name\ne2,person,Nobody Atall\n')
  await until(async () => (await versionOf()) !== before, SLOW)
  expect((await hitsOf(id)).map(({ entry, state }) => `${entry} ${state}`)).toEqual(['e1 open'])
  await store.screeningLists.remove('ended')
})

test('the name in a document is compared at submission and when a list changes', async () => {
  const { session } = await identity.register(organizationId)
  typed.set(session.id, { fullName: 'Anna Schmidt', country: 'DE' })
  zones.set(session.id, [{ ...ZONE, surname: 'OBRAZTSOV', givenNames: 'PAVEL' }])
  await move(session.id, 'submitted')
  expect((await checkOf(session.id))?.outcome).toBe('passed')
  await importList('own', `${LIST}p2,person,Pavel Obraztsov,,1970,RU\n`)
  await until(async () => (await hitsOf(session.id)).length > 0, SLOW)
  expect((await hitsOf(session.id))[0]).toMatchObject({ entry: 'p2', state: 'open', subject: 'document' })
})

test('if an organization changes its threshold, only its people are compared again', async () => {
  const { store } = identity
  const other = await identity.createOrganization('other')
  await importList('own', LIST)
  // Half of the name: a hit at a threshold of 60, and none at 75.
  const fields = { fullName: 'Ivan Primerevich Sokolov', country: 'DE' }
  const id = await handIn(fields)
  expect((await checkOf(id))?.outcome).toBe('passed')
  const before = await findCheck(id)
  for (const id of [other, organizationId]) {
    await store.screeningSettings.set(id, { ...(await store.screeningSettings.read(id)), threshold: 60 })
  }
  await until(async () => (await findCheck(id))?.version !== before?.version, SLOW)
  expect((await findCheck(id))?.detail).toMatchObject({ threshold: 60 })
})

describe('a list that is fetched', () => {
  // Otherwise, the leader's task would also fetch the list.
  beforeAll(() => leaderTask.stop())

  const good = fileOf('un_consolidated.xml')
  const answers: (readonly Uint8Array[] | null | Error)[] = []
  const requests: FilesRequest[] = []
  const refresh = async (...next: typeof answers) => {
    answers.push(...next)
    const { store, clock } = identity
    const list = await store.screeningLists.find('cut')
    await store.screeningLists.fail({ name: 'cut', token: list?.token ?? '' }, '', clock.unixSeconds())
    await refreshScreeningLists(
      {
        clock,
        log,
        lists: store.screeningLists,
        processes: screeningProcesses,
        fetch: async (request) => {
          requests.push(request)
          const answer = answers.shift()
          if (answer instanceof Error) throw answer
          return answer == null ? null : { files: answer, validators: { x: 'etag "1"' } }
        },
      },
      LEAD,
      new AbortController().signal,
    )
    return store.screeningLists.find('cut')
  }

  const fetchAs = (format: ScreeningFormat) => {
    const urls = ['https://example.org/list']
    return identity.store.screeningLists.set({ name: 'cut', format, urls, reach: 'public', intervalSeconds: 3_600 })
  }

  test.each([
    ['csv', true],
    ['ofac-csv', true],
    ['un-xml', false],
    ['json', false],
  ] as const)(
    'requires the length of its file unless its format has an end marker: %s',
    async (format, needsLength) => {
      await fetchAs(format)
      await refresh(null)
      expect(requests.at(-1)).toMatchObject({ needsLength })
    },
  )

  describe('keeps its content', () => {
    let version: unknown
    beforeAll(async () => {
      await fetchAs('un-xml')
      const loaded = await refresh([good])
      expect(loaded).toMatchObject({ failure: null, version: { entries: 7 }, validators: { x: 'etag "1"' } })
      version = loaded?.version
    }, 60_000)

    test.each<[string, readonly Uint8Array[] | null | Error, unknown]>([
      ['nothing', [utf8('')], expect.any(String)],
      ['a web page', [utf8('<html></html>')], expect.any(String)],
      ['half of a list', [good.slice(0, good.length / 2)], expect.any(String)],
      ['another format', [utf8('id,name\n1,x\n')], expect.any(String)],
      ['a failed request', Object.assign(new Error('x'), { detail: 'the request timed out' }), 'the request timed out'],
      ['no change', null, null],
      ['the same list', [good], null],
      // Each starts a process, which takes seconds on a busy machine.
    ])(
      'after %s',
      async (_, answer, failure) => expect(await refresh(answer)).toMatchObject({ failure, version }),
      60_000,
    )
  })
})

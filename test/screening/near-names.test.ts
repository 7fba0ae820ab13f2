// Listed names that resemble those of an organization's sessions, found by the real comparison with test lists and
// fields.
import { expect, test } from 'bun:test'
import type { Session, SessionStatus } from '../../src/domain/session.ts'
import type { EvidenceFields } from '../../src/identity/evidence-types.ts'
import { runFor } from '../../src/lib/caller.ts'
import { nextTurn } from '../../src/lib/time.ts'
import { createNearNames } from '../../src/modules/screening/checks/near-names.ts'
import type { NameScreener } from '../../src/modules/screening/processes/screening-processes.ts'
import { listed, screenerOf, screeningOf } from './support.ts'

type Dependencies = Parameters<typeof createNearNames>[0]

/** @param stuckAt number of the query that is unanswered when the process ends */
const open = (fields: Readonly<Record<string, EvidenceFields | Error>>, hasLists = true, stuckAt = 0) => {
  const asked: number[] = []
  let closed = 0
  const ended = Promise.withResolvers<void>()
  const { screen } = screenerOf(screeningOf([listed('p1', ['Ivan Petrovich Primerov'])]))
  const screener: NameScreener = {
    screen: async (subjects, threshold) => {
      asked.push(threshold)
      if (asked.length === stuckAt) {
        await ended.promise
        throw new Error('the process has ended')
      }
      return screen(subjects, threshold)
    },
    hasEnded: () => false,
    close: async () => {
      closed += 1
      ended.resolve()
    },
  }
  const started = Promise.withResolvers<void>()
  const sessions = {
    page: async ({ status }: { status?: SessionStatus }) => ({
      items: Object.keys(fields)
        .filter((id) => id.startsWith(status ?? ''))
        .map((id) => ({ id, checkType: 'kyc' }) as Session),
      next: status === 'completed' ? ['x'] : null,
    }),
  }
  const screeningLists = {
    list: async () => (hasLists ? [{ name: 'own', version: { id: 'v1' } }] : []),
    readVersion: async () => new Uint8Array(),
  }
  const nearNames = createNearNames({
    store: { sessions, screeningLists } as unknown as Dependencies['store'],
    evidence: async () => ({
      screenedFieldsOf:
        async () =>
        async ({ id }) => {
          const found = fields[id] ?? {}
          if (found instanceof Error) throw found
          return found
        },
      screenedZonesOf: async () => async () => [],
    }),
    processes: {
      startNameScreener: async () => {
        await started.promise
        return screener
      },
    },
  })
  return { nearNames, started, asked, closed: () => closed }
}

test('are found down to the requested score, highest first, and organizations take turns', async () => {
  const { nearNames, started, asked, closed } = open({
    submitted1: { fullName: 'Ivan Primeroff' },
    submitted2: {},
    submitted3: new Error('unreadable'),
    completed1: { fullName: 'Ivan Petrovich Primerov' },
    completed2: { fullName: 'Grace Hopper' },
  })
  const ended: string[] = []
  const compare = async (organization: string) => {
    const found = await nearNames(organization, 70)
    ended.push(organization)
    return found
  }
  const [first, again, other] = [compare('alpha'), compare('alpha'), compare('beta')]
  await expect(compare('alpha')).rejects.toThrow('try again')
  started.resolve()
  const found = await first
  await Promise.all([again, other])
  expect(ended).toEqual(['alpha', 'beta', 'alpha'])
  expect(found).toMatchObject({ sessions: 5, unread: 1, exact: false })
  expect(found?.near.map(({ sessionId, score }) => [sessionId, score >= 70])).toEqual([
    ['completed1', true],
    ['submitted1', true],
  ])
  expect(found?.near[0]).toEqual({
    sessionId: 'completed1',
    subject: 'person',
    list: 'own',
    entry: 'p1',
    name: 'Ivan Petrovich Primerov',
    score: 100,
    isSame: true,
  })
  expect([asked, closed()]).toEqual([[70, 70, 70], 3])
})

test('end with their request, even while a name is compared, and free their slot', async () => {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`submitted${at}`, { fullName: 'Ivan' }]))
  const { nearNames, started, asked } = open(fields, true, 2)
  const request = new AbortController()
  const cut = runFor({ owner: 'alpha', signal: request.signal }, () => nearNames('alpha', 70))
  started.resolve()
  while (asked.length < 2) await nextTurn()
  request.abort()
  expect(await cut).toMatchObject({ sessions: 10, exact: false })
  expect(await nearNames('beta', 70)).toMatchObject({ sessions: 30 })
})

test('are not searched without a list', async () => {
  const { nearNames, asked } = open({ submitted1: { fullName: 'Ivan Primerov' } }, false)
  expect(await nearNames('alpha', 70)).toBeNull()
  expect(asked).toEqual([])
})

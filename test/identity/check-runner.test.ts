// Checks of sessions that were handed in: each is made once, what fails is tried again, and no error rejects anybody.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Session, SessionStatus } from '../../src/domain/session.ts'
import { LinkedChecksPendingError } from '../../src/domain/session-errors.ts'
import { createCheckRunner } from '../../src/identity/checks/check-runner.ts'
import type { CheckPart, Comparison, NewSessionCheck, SinglePart } from '../../src/identity/checks/checks.ts'
import { until } from '../support/until.ts'
import { openIdentity, type TestIdentity } from './support.ts'

const FOUND: NewSessionCheck = { name: 'first.thing', outcome: 'passed', detail: { sessions: [] }, version: 'v1' }

let identity: TestIdentity
let errors: string[]
beforeEach(async () => {
  identity = await openIdentity()
  errors = []
})
afterEach(() => identity.remove())

type OnChecked = (session: Session) => Promise<void>
const checkedBy = (onChecked: OnChecked | undefined, ...parts: CheckPart[]) =>
  createCheckRunner({
    parts,
    ...(onChecked && { onChecked }),
    store: identity.store.sessionChecks,
    storeChecks: identity.storeChecks,
    findSession: identity.store.sessions.find,
    clock: identity.clock,
    onError: (_error, part) => void errors.push(part),
  })
const runnerOf = (...parts: CheckPart[]) => checkedBy(undefined, ...parts)

/** Permits one claim. */
const once = () => {
  let claims = 0
  return () => ++claims === 1
}

const part = (name: string, run: SinglePart['run']): SinglePart => ({ name, run })
/** A part that compares with a version, which may change at any time. @param compared called for each comparison */
const comparing = (versionNow: () => string | null, compared: (version: string) => void = () => undefined) => ({
  name: 'lists',
  begin: async (): Promise<Comparison> => {
    const version = versionNow()
    return {
      key: version ?? '',
      keyOf: () => version,
      compare: async (sessions) => {
        compared(version ?? '')
        return sessions.map(() => [{ ...FOUND, name: 'lists.names', version: version ?? '' }])
      },
    }
  },
})

const handIn = async (slug = 'demo') => {
  const organizationId = await identity.createOrganization(slug)
  const { session } = await identity.register(organizationId)
  const target = { organizationId, sessionId: session.id }
  const move = (to: SessionStatus) => identity.changes.changeStatus({ ...target, to, actor: 'test' })
  await move('submitted')
  return {
    target,
    move,
    checks: async () =>
      (await identity.store.sessionChecks.list(organizationId, session.id)).map(({ name, outcome }) => [name, outcome]),
    isPending: () => identity.store.sessionChecks.isPending(organizationId, session.id),
  }
}

describe('the checks of a session', () => {
  test('are made once it was handed in, and stored with what made them', async () => {
    const run = runnerOf(part('first', async () => [FOUND]))
    expect(await run()).toBe(0)
    const { target, isPending } = await handIn()
    expect(await isPending()).toBe(true)
    expect(await run()).toBe(1)
    expect(await isPending()).toBe(false)
    expect(await run()).toBe(0)
    expect(await identity.store.sessionChecks.list(target.organizationId, target.sessionId)).toEqual([
      { ...FOUND, checkedAtSeconds: identity.clock.unixSeconds() },
    ])
  })

  test('do not wait for those of another organization', async () => {
    const [first, second] = [await handIn('first'), await handIn('second')]
    const running = new Set<string>()
    const { promise: both, resolve } = Promise.withResolvers<void>()
    const run = runnerOf(
      part('first', async ({ id }) => {
        if (running.add(id).size === 2) resolve()
        await both
        return [FOUND]
      }),
    )
    expect(await run()).toBe(2)
    expect([await first.isPending(), await second.isPending()]).toEqual([false, false])
  })

  test('do not wait for the slowest session of another organization', async () => {
    const slow = await handIn('slow')
    const quick: Awaited<ReturnType<typeof handIn>>[] = []
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let look = (): void => undefined
    const run = createCheckRunner({
      parts: [
        part('first', async ({ organizationId }) => {
          if (organizationId === slow.target.organizationId) {
            begun.resolve()
            await released.promise
          }
          return [FOUND]
        }),
      ],
      store: identity.store.sessionChecks,
      storeChecks: identity.storeChecks,
      findSession: identity.store.sessions.find,
      clock: identity.clock,
      after: (_delayMs, callback) => {
        look = callback
        return () => undefined
      },
      onError: (_error, name) => void errors.push(name),
    })
    const done = run()
    await begun.promise
    for (let number = 0; number < 6; number++) quick.push(await handIn(`quick-${number}`))
    look()
    await until(async () => !(await Promise.all(quick.map(({ isPending }) => isPending()))).includes(true))
    expect(await slow.isPending()).toBe(true)
    released.resolve()
    expect(await done).toBe(7)
    expect(errors).toEqual([])
  })

  test('compare it with nothing once it is rejected, and keep what others are compared with', async () => {
    const run = runnerOf(
      part('first', async () => [FOUND]),
      comparing(() => 'v1'),
    )
    const { move, checks, isPending } = await handIn()
    await move('rejected')
    await run()
    expect(await checks()).toEqual([['first.thing', 'passed']])
    expect(await isPending()).toBe(false)
  })

  test('are made anew when it is handed in again, in place of the former', async () => {
    let outcome: NewSessionCheck['outcome'] = 'failed'
    const run = runnerOf(
      part('first', async () => [outcome === 'failed' ? { ...FOUND, name: 'first.other', outcome } : FOUND]),
      part('firsts', async () => [{ ...FOUND, name: 'firsts.own' }]),
    )
    const { move, checks } = await handIn()
    await run()
    expect(await checks()).toEqual([
      ['first.other', 'failed'],
      ['firsts.own', 'passed'],
    ])
    await move('retry')
    outcome = 'passed'
    await move('submitted')
    await run()
    expect(await checks()).toEqual([
      ['first.thing', 'passed'],
      ['firsts.own', 'passed'],
    ])
  })

  test('of a part wait for the part whose reading they compare', async () => {
    const order: string[] = []
    let isBroken = true
    const run = runnerOf(
      {
        ...part('compared', async () => {
          order.push('compared')
          return [{ ...FOUND, name: 'compared' }]
        }),
        after: ['read'],
      },
      part('read', async () => {
        if (isBroken) throw new Error('busy')
        order.push('read')
        return [{ ...FOUND, name: 'read' }]
      }),
    )
    const { checks, isPending } = await handIn()
    await run()
    expect(await checks()).toEqual([])
    isBroken = false
    for (let attempt = 0; attempt < 3 && (await isPending()); attempt++) {
      identity.clock.advance(31)
      await run()
    }
    expect(order).toEqual(['read', 'compared'])
    expect(await isPending()).toBe(false)
  })

  test('of one part are kept while another part fails; that one is tried again and is at last not done', async () => {
    let calls = 0
    const run = runnerOf(
      part('broken', () => Promise.reject(new Error(`attempt ${++calls}`))),
      part('first', async () => [FOUND]),
    )
    const { checks, isPending, target } = await handIn()
    await run()
    expect(await checks()).toEqual([['first.thing', 'passed']])
    expect(await run()).toBe(0)
    for (let attempt = 2; attempt <= 4; attempt++) {
      expect(await isPending()).toBe(true)
      identity.clock.advance(301)
      await run()
    }
    expect(calls).toBe(4)
    expect(errors).toEqual(['broken', 'broken', 'broken', 'broken'])
    expect(await checks()).toEqual([
      ['broken', 'not-done'],
      ['first.thing', 'passed'],
    ])
    expect(await isPending()).toBe(false)
    const state = await identity.store.sessions.find(target.organizationId, target.sessionId)
    expect(state?.session.status).toBe('submitted')
  })

  test('within another part are made after it, which takes the place of all that begins with it', async () => {
    let isAway = true
    const run = runnerOf(
      part('first', async () => {
        if (isAway) throw new Error('away')
        return [FOUND]
      }),
      part('first.inner', async () => [{ ...FOUND, name: 'first.inner' }]),
    )
    const { checks, isPending } = await handIn()
    await run()
    isAway = false
    identity.clock.advance(6)
    await run()
    expect(await isPending()).toBe(false)
    expect(await checks()).toEqual([
      ['first.inner', 'passed'],
      ['first.thing', 'passed'],
    ])
  })

  test('stay queued where it was handed in again while they were made', async () => {
    const { move, isPending } = await handIn()
    let first = true
    const run = runnerOf(
      part('first', async () => {
        if (first) {
          first = false
          await move('retry')
          await move('submitted')
        }
        return [FOUND]
      }),
    )
    await run(once())
    expect(await isPending()).toBe(true)
    await run()
    expect(await isPending()).toBe(false)
  })

  test('of what was erased while they were made are not stored; they are made of what is left', async () => {
    const { target, checks, isPending } = await handIn()
    let reads = 0
    const run = runnerOf(
      part('first', async () => {
        reads += 1
        if (reads > 1) return [{ ...FOUND, outcome: 'not-done' }]
        const { organizationId, sessionId } = target
        await identity.store.database.execute(
          'UPDATE sessions SET sequence = sequence + 1 WHERE organization_id = ? AND id = ?',
          [organizationId, sessionId],
        )
        return [FOUND]
      }),
    )
    await run(once())
    expect([await checks(), await isPending()]).toEqual([[], true])
    await run()
    expect([await checks(), await isPending()]).toEqual([[['first.thing', 'not-done']], false])
  })

  test('that are done are made once more if the next attempt comes late', async () => {
    let calls = 0
    const run = runnerOf(
      part('broken', () => Promise.reject(new Error('away'))),
      part('first', async () => {
        calls += 1
        return [FOUND]
      }),
    )
    await handIn()
    await run()
    identity.clock.advance(5)
    await run()
    expect(calls).toBe(1)
    identity.clock.advance(30 + 181)
    await run()
    expect(calls).toBe(2)
  })

  test('that compare are made again if what they compare with has changed before all others are done', async () => {
    let [broken, version] = [true, 'v1']
    const compared: string[] = []
    const decidedOn: unknown[] = []
    const run = checkedBy(
      async ({ organizationId, id }) => {
        decidedOn.push((await identity.store.sessionChecks.list(organizationId, id)).map((check) => check.version))
      },
      comparing(
        () => version,
        (by) => void compared.push(by),
      ),
      part('screener', () => (broken ? Promise.reject(new Error('silent')) : Promise.resolve([]))),
    )
    const { isPending } = await handIn()
    await run()
    version = 'v2'
    broken = false
    identity.clock.advance(6)
    await run()
    expect([compared, decidedOn, await isPending()]).toEqual([['v1', 'v2'], [['v2']], false])
  })

  test('that compare are made again if what they compare with changes during the comparison', async () => {
    let version = 'v1'
    const compared: string[] = []
    const run = runnerOf(
      comparing(
        () => version,
        (by) => {
          compared.push(by)
          version = 'v2'
        },
      ),
    )
    const { target } = await handIn()
    await run()
    const checks = await identity.store.sessionChecks.list(target.organizationId, target.sessionId)
    expect([compared, checks.map((check) => check.version)]).toEqual([['v1', 'v2'], ['v2']])
  })

  test('that compare are made again before a failed decision is repeated, if something has changed', async () => {
    let version: string | null = 'v1'
    const compared: string[] = []
    let [single, reported] = [0, 0]
    const make = () =>
      checkedBy(
        async () => {
          reported += 1
          if (reported < 4) throw new Error('deaf')
        },
        comparing(
          () => version,
          (by) => void compared.push(by),
        ),
        part('first', async () => {
          single += 1
          return [FOUND]
        }),
      )
    const run = make()
    await handIn()
    await run()
    identity.clock.advance(181)
    await run()
    expect([compared, reported]).toEqual([['v1'], 2])
    version = 'v2'
    identity.clock.advance(181)
    await run()
    expect([compared, reported]).toEqual([['v1', 'v2'], 3])
    // Another process does not know what they were compared with.
    version = null
    identity.clock.advance(181)
    await make()()
    expect([compared, reported, single]).toEqual([['v1', 'v2'], 4, 1])
  })

  test('are followed by a decision that waits for other checks, seconds later and without an attempt', async () => {
    const { isPending } = await handIn()
    let decisions = 0
    const run = checkedBy(
      async () => {
        decisions += 1
        if (decisions < 6) throw new LinkedChecksPendingError()
      },
      part('first', async () => [FOUND]),
    )
    for (let second = 0; second < 25; second += 5) {
      await run()
      identity.clock.advance(5)
    }
    const [queued] = await identity.store.sessionChecks.claim(1, 0)
    expect([queued?.attempts, errors]).toEqual([0, []])
    await run()
    expect([decisions, await isPending()]).toEqual([6, false])
  })

  test('are taken by one of two runners, and by another once the first is gone', async () => {
    const { isPending } = await handIn()
    const { store } = identity
    expect(await store.sessionChecks.claim(4, 180)).toHaveLength(1)
    expect(await store.sessionChecks.claim(4, 180)).toHaveLength(0)
    identity.clock.advance(181)
    expect(await runnerOf(part('first', async () => [FOUND]))()).toBe(1)
    expect(await isPending()).toBe(false)
  })

  test('are made at once by the process that comes after one that was killed; what failed waits for its time', async () => {
    const { isPending } = await handIn()
    const { sessionChecks } = identity.store
    expect(await sessionChecks.claim(4, 180)).toHaveLength(1)
    await sessionChecks.releaseClaims()
    const broken = part('first', () => Promise.reject(new Error('broken')))
    expect(await runnerOf(broken)()).toBe(1)
    await sessionChecks.releaseClaims()
    expect(await runnerOf(broken)()).toBe(0)
    expect(await isPending()).toBe(true)
  })

  test('are told of once all are stored: not while one fails, and again where whoever is told fails', async () => {
    const { checks, isPending, target } = await handIn()
    const told: unknown[] = []
    let [broken, deaf, made] = [true, true, 0]
    const run = checkedBy(
      async ({ id }) => {
        told.push([id, await checks()])
        if (deaf) throw new Error('deaf')
      },
      part('first', async () => [FOUND]),
      part('second', () => {
        made += 1
        return broken ? Promise.reject(new Error('broken')) : Promise.resolve([])
      }),
    )
    await run()
    expect(told).toEqual([])
    broken = false
    identity.clock.advance(6)
    await run()
    const once = [target.sessionId, [['first.thing', 'passed']]]
    expect(told).toEqual([once])
    // Nothing but the report is left to be done, and a person can decide meanwhile.
    expect([made, await isPending()]).toEqual([2, false])
    deaf = false
    identity.clock.advance(181)
    expect(await run()).toBe(1)
    expect([told, made]).toEqual([[once, once], 2])
    identity.clock.advance(181)
    expect(await run()).toBe(0)
  })
})

// Checks of submitted sessions: each is made once, failures are retried, and no error rejects a person.
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

interface RunnerOptions {
  readonly onChecked?: (session: Session) => Promise<void>
  readonly after?: (delayMs: number, callback: () => void) => () => void
}
const runnerWith = (options: RunnerOptions, ...parts: CheckPart[]) =>
  createCheckRunner({
    parts,
    ...options,
    store: identity.store.sessionChecks,
    storeChecks: identity.storeChecks,
    findSession: identity.store.sessions.find,
    clock: identity.clock,
    onError: (_error, part) => void errors.push(part),
  })
const runnerOf = (...parts: CheckPart[]) => runnerWith({}, ...parts)

/** Permits one claim. */
const once = () => {
  let claims = 0
  return () => ++claims === 1
}

const part = (name: string, run: SinglePart['run']): SinglePart => ({ name, run })
/** A part that finds the same result for each session. @param ran called for each session */
const passing = (name = 'first', ran: () => void = () => undefined) =>
  part(name, async () => {
    ran()
    return [{ ...FOUND, name: name === 'first' ? FOUND.name : name }]
  })
/** A part that compares sessions with a version, which can change at any time. @param compared called per comparison */
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

const submitSession = async (slug = 'demo') => {
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
    versions: async () =>
      (await identity.store.sessionChecks.list(organizationId, session.id)).map(({ version }) => version),
  }
}

describe('the checks of a session', () => {
  test('are made once after the submission, and stored with their version and time', async () => {
    const run = runnerOf(passing())
    expect(await run()).toBe(0)
    const { target, isPending } = await submitSession()
    expect(await isPending()).toBe(true)
    expect(await run()).toBe(1)
    expect(await isPending()).toBe(false)
    expect(await run()).toBe(0)
    expect(await identity.store.sessionChecks.list(target.organizationId, target.sessionId)).toEqual([
      { ...FOUND, checkedAtSeconds: identity.clock.unixSeconds() },
    ])
  })

  test('do not wait for checks of another organization', async () => {
    const [first, second] = [await submitSession('first'), await submitSession('second')]
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
    const slow = await submitSession('slow')
    const quick: Awaited<ReturnType<typeof submitSession>>[] = []
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let poll = (): void => undefined
    const run = runnerWith(
      {
        after: (_delayMs, callback) => {
          poll = callback
          return () => undefined
        },
      },
      part('first', async ({ organizationId }) => {
        if (organizationId === slow.target.organizationId) {
          begun.resolve()
          await released.promise
        }
        return [FOUND]
      }),
    )
    const done = run()
    await begun.promise
    for (let number = 0; number < 6; number++) quick.push(await submitSession(`quick-${number}`))
    poll()
    await until(async () => !(await Promise.all(quick.map(({ isPending }) => isPending()))).includes(true))
    expect(await slow.isPending()).toBe(true)
    released.resolve()
    expect(await done).toBe(7)
    expect(errors).toEqual([])
  })

  test('of a rejected session make no comparison, and keep the values that other sessions are compared with', async () => {
    const run = runnerOf(
      passing(),
      comparing(() => 'v1'),
    )
    const { move, checks, isPending } = await submitSession()
    await move('rejected')
    await run()
    expect(await checks()).toEqual([['first.thing', 'passed']])
    expect(await isPending()).toBe(false)
  })

  test('are replaced after another submission', async () => {
    let outcome: NewSessionCheck['outcome'] = 'failed'
    const run = runnerOf(
      part('first', async () => [outcome === 'failed' ? { ...FOUND, name: 'first.other', outcome } : FOUND]),
      part('firsts', async () => [{ ...FOUND, name: 'firsts.own' }]),
    )
    const { move, checks } = await submitSession()
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

  test('of a part wait for the part that they depend on', async () => {
    const order: string[] = []
    let isBroken = true
    const run = runnerOf(
      { ...passing('compared', () => void order.push('compared')), after: ['read'] },
      part('read', async () => {
        if (isBroken) throw new Error('busy')
        order.push('read')
        return [{ ...FOUND, name: 'read' }]
      }),
    )
    const { checks, isPending } = await submitSession()
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

  test('of one part are kept while another part fails, which is retried and finally marked as not done', async () => {
    let calls = 0
    const run = runnerOf(
      part('broken', () => Promise.reject(new Error(`attempt ${++calls}`))),
      passing(),
    )
    const { checks, isPending, target } = await submitSession()
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

  test('run in order: nested parts run after their outer part, whose results replace all checks with its prefix', async () => {
    let isDown = true
    const run = runnerOf(
      part('first', () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve([FOUND]))),
      passing('first.inner'),
    )
    const { checks, isPending } = await submitSession()
    await run()
    isDown = false
    identity.clock.advance(6)
    await run()
    expect(await isPending()).toBe(false)
    expect(await checks()).toEqual([
      ['first.inner', 'passed'],
      ['first.thing', 'passed'],
    ])
  })

  test('remain queued if the session is submitted again while they are made', async () => {
    const { move, isPending } = await submitSession()
    let isFirst = true
    const run = runnerOf(
      part('first', async () => {
        if (isFirst) {
          isFirst = false
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

  test('are discarded and made again if the evidence changes while they are made', async () => {
    const { target, checks, isPending } = await submitSession()
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

  test('are made once more if the next attempt is late', async () => {
    let calls = 0
    const run = runnerOf(
      part('broken', () => Promise.reject(new Error('unavailable'))),
      passing('first', () => (calls += 1)),
    )
    await submitSession()
    await run()
    identity.clock.advance(5)
    await run()
    expect(calls).toBe(1)
    identity.clock.advance(30 + 181)
    await run()
    expect(calls).toBe(2)
  })

  test('are compared again if the version changes before all other checks are done', async () => {
    let [broken, version] = [true, 'v1']
    const compared: string[] = []
    const decidedOn: unknown[] = []
    const { isPending, versions } = await submitSession()
    const run = runnerWith(
      { onChecked: async () => void decidedOn.push(await versions()) },
      comparing(
        () => version,
        (by) => void compared.push(by),
      ),
      part('screener', () => (broken ? Promise.reject(new Error('silent')) : Promise.resolve([]))),
    )
    await run()
    version = 'v2'
    broken = false
    identity.clock.advance(6)
    await run()
    expect([compared, decidedOn, await isPending()]).toEqual([['v1', 'v2'], [['v2']], false])
  })

  test('are compared again if the version changes during the comparison', async () => {
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
    const { versions } = await submitSession()
    await run()
    expect([compared, await versions()]).toEqual([['v1', 'v2'], ['v2']])
  })

  test('are compared again before a failed decision is retried, if the version has changed', async () => {
    let version: string | null = 'v1'
    const compared: string[] = []
    let [single, decisions] = [0, 0]
    const createRunner = () =>
      runnerWith(
        {
          onChecked: async () => {
            decisions += 1
            if (decisions < 4) throw new Error('failed')
          },
        },
        comparing(
          () => version,
          (by) => void compared.push(by),
        ),
        passing('first', () => (single += 1)),
      )
    const run = createRunner()
    await submitSession()
    await run()
    identity.clock.advance(181)
    await run()
    expect([compared, decisions]).toEqual([['v1'], 2])
    version = 'v2'
    identity.clock.advance(181)
    await run()
    expect([compared, decisions]).toEqual([['v1', 'v2'], 3])
    // Another process does not have the compared version.
    version = null
    identity.clock.advance(181)
    await createRunner()()
    expect([compared, decisions, single]).toEqual([['v1', 'v2'], 4, 1])
  })

  test('are followed by a decision that waits for linked checks, without counting attempts', async () => {
    const { isPending } = await submitSession()
    let decisions = 0
    const onChecked = async (): Promise<void> => {
      decisions += 1
      if (decisions < 6) throw new LinkedChecksPendingError()
    }
    const run = runnerWith({ onChecked }, passing())
    for (let second = 0; second < 25; second += 5) {
      await run()
      identity.clock.advance(5)
    }
    const [queued] = await identity.store.sessionChecks.claim(1, 0)
    expect([queued?.attempts, errors]).toEqual([0, []])
    await run()
    expect([decisions, await isPending()]).toEqual([6, false])
  })

  test('are claimed by one of two runners, and by another once the claim expires', async () => {
    const { isPending } = await submitSession()
    const { store } = identity
    expect(await store.sessionChecks.claim(4, 180)).toHaveLength(1)
    expect(await store.sessionChecks.claim(4, 180)).toHaveLength(0)
    identity.clock.advance(181)
    expect(await runnerOf(passing())()).toBe(1)
    expect(await isPending()).toBe(false)
  })

  test('are made at once after a restart; failed checks wait for their retry', async () => {
    const { isPending } = await submitSession()
    const { sessionChecks } = identity.store
    expect(await sessionChecks.claim(4, 180)).toHaveLength(1)
    await sessionChecks.releaseClaims()
    const broken = part('first', () => Promise.reject(new Error('broken')))
    expect(await runnerOf(broken)()).toBe(1)
    await sessionChecks.releaseClaims()
    expect(await runnerOf(broken)()).toBe(0)
    expect(await isPending()).toBe(true)
  })

  test('are reported once all are stored, and again if the report fails', async () => {
    const { checks, isPending, target } = await submitSession()
    const reports: unknown[] = []
    let [isBroken, failsToReport, made] = [true, true, 0]
    const run = runnerWith(
      {
        onChecked: async ({ id }) => {
          reports.push([id, await checks()])
          if (failsToReport) throw new Error('failed')
        },
      },
      passing(),
      part('second', () => {
        made += 1
        return isBroken ? Promise.reject(new Error('broken')) : Promise.resolve([])
      }),
    )
    await run()
    expect(reports).toEqual([])
    isBroken = false
    identity.clock.advance(6)
    await run()
    const report = [target.sessionId, [['first.thing', 'passed']]]
    expect(reports).toEqual([report])
    // Only the report is pending, and a person can decide meanwhile.
    expect([made, await isPending()]).toEqual([2, false])
    failsToReport = false
    identity.clock.advance(181)
    expect(await run()).toBe(1)
    expect([reports, made]).toEqual([[report, report], 2])
    identity.clock.advance(181)
    expect(await run()).toBe(0)
  })
})

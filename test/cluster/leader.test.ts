// One process at a time runs the leader's tasks: two stores on one file, each with its own clock.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createLeader, type Lead, type Leader, type LeaderTask, TRUSTED_MS } from '../../src/cluster/leader.ts'
import type { LeaderLeaseTable } from '../../src/store/leader-lease.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import type { StoreTarget } from '../../src/store/store-address.ts'
import { temporaryFolder } from '../store/temporary-store.ts'
import { createTurnedTime, settle, type TurnedTime } from '../support/turned-time.ts'

interface Node {
  readonly time: TurnedTime
  readonly store: Store
  readonly leader: Leader
  readonly changes: string[]
  readonly errors: unknown[]
  lead: Lead | null
  isWorking: boolean
}

let folder: ReturnType<typeof temporaryFolder>
let nodes: Node[] = []
let target: StoreTarget

interface NodeOptions {
  readonly time?: TurnedTime
  readonly isBroken?: () => boolean
  readonly otherTasks?: readonly LeaderTask[]
}

const startNode = async (
  id: string,
  { time = createTurnedTime(), isBroken = () => false, otherTasks = [] }: NodeOptions = {},
): Promise<Node> => {
  const store = await openStore({ target, clock: time })
  const failing = <Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
    (async (...given: Arguments) => {
      if (isBroken()) throw new Error('no store')
      return call(...given)
    }) satisfies (...given: Arguments) => Promise<Result>
  const { read, take, renew, release, holds } = store.leaderLeases.attestation
  const counted: LeaderTask = {
    name: 'counted',
    start: (lead) => {
      node.isWorking = true
      node.lead = lead
    },
    stop: async () => {
      node.isWorking = false
    },
  }
  const node: Node = {
    time,
    store,
    changes: [],
    errors: [],
    lead: null,
    isWorking: false,
    leader: createLeader({
      id,
      clock: time,
      after: time.after,
      lease: { read: failing(read), take: failing(take), renew: failing(renew), release, holds },
      leaderTasks: [...otherTasks, counted],
      onChange: (leads, term) => node.changes.push(`${leads ? 'leads' : 'led'} ${term}`),
      onError: (error) => node.errors.push(error),
    }),
  }
  nodes.push(node)
  await node.leader.start()
  await settle()
  return node
}
/** Whether a transaction of the node confirms that the node still leads. */
const holdsLead = ({ store, lead }: Node) => store.database.transaction(async (transaction) => lead?.holds(transaction))
const working = (...some: readonly Node[]) => some.map(({ isWorking }) => isWorking)

beforeEach(() => {
  folder = temporaryFolder()
  target = { kind: 'sqlite', path: join(folder.path, 'countersign.db') }
})
afterEach(async () => {
  for (const { leader, store } of nodes) {
    await leader.stop()
    await store.close()
  }
  nodes = []
  folder.remove()
})

describe('the lease', () => {
  test('is taken immediately by the first process, which keeps it', async () => {
    const time = createTurnedTime()
    const [first, second] = [await startNode('first', { time }), await startNode('second', { time })]
    await time.advance(60_000)
    expect([working(first, second), first.changes]).toEqual([[true, false], ['leads 1']])
    expect([first.leader.holder(), second.leader.holder()]).toEqual(['first', 'first'])
  })

  test('is taken by another process within two seconds after its holder stops', async () => {
    const time = createTurnedTime()
    const [first, second] = [await startNode('first', { time }), await startNode('second', { time })]
    await first.leader.stop()
    expect(first.isWorking).toBe(false)
    await time.advance(2_000)
    expect([second.isWorking, second.changes]).toEqual([true, ['leads 2']])
  })

  test.each([0, 500, 1_000, 1_990])(
    'is taken within ten seconds from a silent holder, %i ms after a check',
    async (phaseMs) => {
      const first = await startNode('first')
      const time = createTurnedTime()
      time.freeze(phaseMs)
      const second = await startNode('second', { time })
      // The last renewal comes just before a check, the worst case for a check every two seconds.
      await time.advance(1_990)
      await first.leader.look()
      let tookMs = 10
      for (; !second.isWorking && tookMs < 20_000; tookMs += 10) await time.advance(10)
      expect(tookMs).toBeLessThanOrEqual(8_500)
    },
  )
})

test('a task that cannot start is reported, and the others are started and stopped', async () => {
  const start = () => {
    throw new Error('not today')
  }
  const node = await startNode('first', { otherTasks: [{ name: 'failing', start, stop: async () => undefined }] })
  expect([node.isWorking, node.errors.map(String)]).toEqual([true, ['Error: not today']])
  await node.leader.stop()
  expect(node.isWorking).toBe(false)
})

describe('of two processes, at most one leads', () => {
  test('if a process was suspended: it notices at its first check', async () => {
    const frozen = createTurnedTime()
    const [first, time] = [await startNode('first', { time: frozen }), createTurnedTime()]
    const second = await startNode('second', { time })
    await time.advance(10_000)
    expect(second.isWorking).toBe(true)
    frozen.freeze(10_000)
    expect([first.lead?.leads(), await holdsLead(first), await holdsLead(second)]).toEqual([false, false, true])
    await frozen.advance(2_000)
    expect([first.isWorking, first.changes]).toEqual([false, ['leads 1', 'led 1']])
  })

  test('if the clock of a suspended machine stopped, because the term of the lease changed', async () => {
    const [first, time] = [await startNode('first'), createTurnedTime()]
    await startNode('second', { time })
    await time.advance(10_000)
    expect([first.lead?.leads(), await holdsLead(first)]).toEqual([true, false])
  })

  test('if a process cannot renew its lease: it stops before another takes over, and does not lead again', async () => {
    let broken = false
    const time = createTurnedTime()
    const first = await startNode('first', { time, isBroken: () => broken })
    const second = await startNode('second', { time })
    broken = true
    for (let atMs = 0; atMs < 12_000; atMs += 10) {
      await time.advance(10)
      expect(first.leader.leads() && second.leader.leads()).toBe(false)
      expect(first.isWorking && second.isWorking).toBe(false)
    }
    expect(working(first, second)).toEqual([false, true])
    expect(first.errors.length).toBeGreaterThan(0)
    broken = false
    await time.advance(10_000)
    expect(working(first, second)).toEqual([false, true])
  })
})

describe('a slow store', () => {
  /** A leader with a fake lease. */
  const leadOver = (lease: Partial<LeaderLeaseTable>, leaderTask: Partial<LeaderTask> = {}) => {
    const time = createTurnedTime()
    const seen: string[] = []
    const leader = createLeader({
      id: 'me',
      clock: time,
      after: time.after,
      lease: {
        read: async () => null,
        take: async () => {
          seen.push('take')
          return { holder: 'me', term: 1, beat: 1 }
        },
        renew: async () => true,
        release: async () => void seen.push('release'),
        holds: async () => true,
        ...lease,
      },
      leaderTasks: [
        {
          name: 'counted',
          start: () => void seen.push('start'),
          stop: async () => void seen.push('stop'),
          ...leaderTask,
        },
      ],
      onError: (error) => seen.push(String(error)),
    })
    return { time, seen, leader }
  }

  test('that does not respond to a renewal ends the tasks when the lease may have expired', async () => {
    const { time, seen, leader } = leadOver({ renew: () => new Promise<never>(() => undefined) })
    await leader.start()
    await settle()
    await time.advance(TRUSTED_MS - 10)
    expect(seen).toEqual(['take', 'start'])
    await time.advance(10)
    await settle()
    expect(seen).toEqual(['take', 'start', 'stop'])
  })

  test('that reports the loss of the lease ends the tasks at once', async () => {
    const { time, seen, leader } = leadOver({ renew: async () => false })
    await leader.start()
    await settle()
    await time.advance(TRUSTED_MS - 1)
    await settle()
    expect(seen.slice(0, 3)).toEqual(['take', 'start', 'stop'])
  })

  test('that responds after the stop is not queried for the lease', async () => {
    const answer = Promise.withResolvers<null>()
    const { seen, leader } = leadOver({ read: () => answer.promise })
    const started = leader.start()
    const stopped = leader.stop()
    answer.resolve(null)
    await Promise.all([started, stopped])
    expect(seen).toEqual([])
  })

  test('keeps the lease until the tasks of a stopping process have stopped', async () => {
    const taskStopped = Promise.withResolvers<void>()
    const { seen, leader } = leadOver({}, { stop: () => taskStopped.promise })
    await leader.start()
    await settle()
    const stopped = leader.stop()
    await settle()
    expect(seen).toEqual(['take', 'start'])
    taskStopped.resolve()
    await stopped
    expect(seen).toEqual(['take', 'start', 'release'])
  })

  test('does not wait longer than its time limit for a task that does not stop', async () => {
    let term = 0
    const leads: Lead[] = []
    const { seen, leader, time } = leadOver(
      { take: async () => ({ holder: 'me', term: ++term, beat: 1 }) },
      { start: (lead) => void leads.push(lead), stop: () => new Promise(() => undefined) },
    )
    await leader.start()
    await settle()
    time.freeze(TRUSTED_MS)
    await leader.look()
    await time.advance(16_000)
    // Work from the first term never counts as work of the second.
    expect(leads.map((lead) => lead.leads())).toEqual([false, true])
    const stopped = leader.stop()
    await settle()
    await time.advance(16_000)
    await stopped
    const stuck = 'LeaderTaskTimeoutError: the task counted did not stop in time'
    expect(seen).toEqual([stuck, stuck, 'release'])
  })
})

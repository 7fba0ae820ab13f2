// One process at a time does the duties: over two stores on one file, each with a clock of its own.
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
  leaderTask: 'idle' | 'at work'
}

let folder: ReturnType<typeof temporaryFolder>
let nodes: Node[] = []
let target: StoreTarget

/** `broken`: its store fails. */
const startNode = async (
  id: string,
  time = createTurnedTime(),
  broken = () => false,
  startFails = false,
): Promise<Node> => {
  const store = await openStore({ target, clock: time })
  const failing = <Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
    (async (...given: Arguments) => {
      if (broken()) throw new Error('no store')
      return call(...given)
    }) satisfies (...given: Arguments) => Promise<Result>
  const node: Node = {
    time,
    store,
    changes: [],
    errors: [],
    lead: null,
    leaderTask: 'idle',
    leader: createLeader({
      id,
      clock: time,
      after: time.after,
      lease: {
        read: failing(store.leaderLeases.attestation.read),
        take: failing(store.leaderLeases.attestation.take),
        renew: failing(store.leaderLeases.attestation.renew),
        release: store.leaderLeases.attestation.release,
        holds: store.leaderLeases.attestation.holds,
      },
      leaderTasks: [
        ...(startFails
          ? [
              {
                name: 'one that can not begin',
                start: () => {
                  throw new Error('not today')
                },
                stop: async () => undefined,
              },
            ]
          : []),
        {
          name: 'counted',
          start: (lead) => {
            node.leaderTask = 'at work'
            node.lead = lead
          },
          stop: async () => {
            node.leaderTask = 'idle'
          },
        },
      ],
      onChange: (leads, term) => node.changes.push(`${leads ? 'leads' : 'led'} ${term}`),
      onError: (error) => node.errors.push(error),
    }),
  }
  nodes.push(node)
  await node.leader.start()
  await settle()
  return node
}

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
  test('goes to the first, at once, and stays with it', async () => {
    const time = createTurnedTime()
    const first = await startNode('first', time)
    const second = await startNode('second', time)
    await time.advance(60_000)
    expect([first.leaderTask, second.leaderTask]).toEqual(['at work', 'idle'])
    expect(first.changes).toEqual(['leads 1'])
    expect([first.leader.holder(), second.leader.holder()]).toEqual(['first', 'first'])
  })

  test('a duty that can not begin is said, and keeps no other from beginning or from being stopped', async () => {
    const node = await startNode('first', createTurnedTime(), () => false, true)
    expect(node.leaderTask).toBe('at work')
    expect(node.errors.map(String)).toEqual(['Error: not today'])
    await node.leader.stop()
    expect(node.leaderTask).toBe('idle')
  })

  test('goes over within two seconds when its holder stops', async () => {
    const time = createTurnedTime()
    const first = await startNode('first', time)
    const second = await startNode('second', time)
    await first.leader.stop()
    expect(first.leaderTask).toBe('idle')
    await time.advance(2_000)
    expect([second.leaderTask, second.changes]).toEqual(['at work', ['leads 2']])
  })

  test('is taken within ten seconds from one that says nothing more, wherever its last renewal fell', async () => {
    for (const phaseMs of [0, 500, 1_000, 1_990]) {
      const frozen = createTurnedTime()
      const first = await startNode(`first ${phaseMs}`, frozen)
      if (!first.leader.leads()) await nodes.at(-2)?.leader.stop()
      await first.leader.look()
      await settle()
      expect(first.leader.leads()).toBe(true)
      const time = createTurnedTime()
      time.freeze(phaseMs)
      const second = await startNode(`second ${phaseMs}`, time)
      // The last renewal comes just before a look: the worst case for whoever looks every two seconds.
      await time.advance(1_990)
      await first.leader.look()
      let tookMs = 10
      for (; second.leaderTask === 'idle' && tookMs < 20_000; tookMs += 10) await time.advance(10)
      expect(tookMs).toBeLessThanOrEqual(8_500)
      await second.leader.stop()
      await first.leader.stop()
    }
  })
})

describe('never two', () => {
  test('one that was frozen knows it on waking, before it does anything', async () => {
    const frozen = createTurnedTime()
    const first = await startNode('first', frozen)
    const time = createTurnedTime()
    const second = await startNode('second', time)
    await time.advance(10_000)
    expect(second.leaderTask).toBe('at work')
    frozen.freeze(10_000)
    expect(first.lead?.leads()).toBe(false)
    expect(await first.store.database.transaction(async (transaction) => first.lead?.holds(transaction))).toBe(false)
    expect(await second.store.database.transaction(async (transaction) => second.lead?.holds(transaction))).toBe(true)
    await frozen.advance(2_000)
    expect([first.leaderTask, first.changes]).toEqual(['idle', ['leads 1', 'led 1']])
  })

  test('one that still thinks it leads, its clock having stood, is stopped by its term', async () => {
    const frozen = createTurnedTime()
    const first = await startNode('first', frozen)
    const time = createTurnedTime()
    await startNode('second', time)
    await time.advance(10_000)
    // A clock that stood still meanwhile, as some do in a machine that is suspended.
    expect(first.lead?.leads()).toBe(true)
    expect(await first.store.database.transaction(async (transaction) => first.lead?.holds(transaction))).toBe(false)
  })

  test('one that can not renew stops before anyone may take over', async () => {
    let broken = false
    const time = createTurnedTime()
    const first = await startNode('first', time, () => broken)
    const second = await startNode('second', time)
    broken = true
    for (let atMs = 0; atMs < 12_000; atMs += 10) {
      await time.advance(10)
      expect(first.leader.leads() && second.leader.leads()).toBe(false)
      expect(first.leaderTask === 'at work' && second.leaderTask === 'at work').toBe(false)
    }
    expect([first.leaderTask, second.leaderTask]).toEqual(['idle', 'at work'])
    expect(first.errors.length).toBeGreaterThan(0)
    // It may look again, and waits for its turn.
    broken = false
    await time.advance(10_000)
    expect([first.leaderTask, second.leaderTask]).toEqual(['idle', 'at work'])
  })

  test('two that take a lease at the same moment: one gets it', async () => {
    const time = createTurnedTime()
    const { store } = await startNode('first', time)
    const other = await openStore({ target, clock: time })
    const seen = await store.leaderLeases.attestation.read()
    const taken = await Promise.all([
      store.leaderLeases.attestation.take('a', seen),
      other.leaderLeases.attestation.take('b', seen),
    ])
    expect(taken.filter((lease) => lease !== null)).toHaveLength(1)
    await other.close()
  })
})

describe('a store that does not answer', () => {
  /** A lease that answers when it is told to. */
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

  test('to a renewal ends the duties when the lease is no longer to be trusted, without another look', async () => {
    const { time, seen, leader } = leadOver({ renew: () => new Promise<never>(() => undefined) })
    await leader.start()
    await settle()
    await time.advance(TRUSTED_MS - 10)
    expect(seen).toEqual(['take', 'start'])
    await time.advance(10)
    await settle()
    expect(seen).toEqual(['take', 'start', 'stop'])
  })

  test('that the lease is lost ends the duties at once', async () => {
    const { time, seen, leader } = leadOver({ renew: async () => false })
    await leader.start()
    await settle()
    await time.advance(TRUSTED_MS - 1)
    await settle()
    expect(seen.slice(0, 3)).toEqual(['take', 'start', 'stop'])
  })

  test('before the process stops is not asked for the lease after it', async () => {
    const answer = Promise.withResolvers<null>()
    const { seen, leader } = leadOver({ read: () => answer.promise })
    const started = leader.start()
    const stopped = leader.stop()
    answer.resolve(null)
    await Promise.all([started, stopped])
    expect(seen).toEqual([])
  })

  test('keeps the lease of a process that stops until its duties have', async () => {
    const dutyStopped = Promise.withResolvers<void>()
    const { seen, leader } = leadOver({}, { stop: () => dutyStopped.promise })
    await leader.start()
    await settle()
    const stopped = leader.stop()
    await settle()
    expect(seen).toEqual(['take', 'start'])
    dutyStopped.resolve()
    await stopped
    expect(seen).toEqual(['take', 'start', 'release'])
  })

  test('is not needed to go on without a task that does not end', async () => {
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
    // The work that is left from the first term never counts as the second term's.
    expect(leads.map((lead) => lead.leads())).toEqual([false, true])
    const stopped = leader.stop()
    await settle()
    await time.advance(16_000)
    await stopped
    const stuck = 'LeaderTaskTimeoutError: the task counted did not stop in time'
    expect(seen).toEqual([stuck, stuck, 'release'])
  })
})

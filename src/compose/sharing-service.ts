// State shared with other processes: live processes, leaders, remaining rate limits, counts per wallet.
import { hostname } from 'node:os'
import { createLeader, type Lead, type Leader, type LeaderTask } from '../cluster/leader.ts'
import { createLeaseWatch, type LeaseWatch } from '../cluster/lease-watch.ts'
import { createProcessRegistry, createSharedTime } from '../cluster/live-processes.ts'
import { createRepeatedTask } from '../cluster/repeated-task.ts'
import { randomBase62 } from '../domain/identifier.ts'
import { LEADER_ROLES, type LeaderRole } from '../domain/process-role.ts'
import { createVelocityCounters } from '../facts/velocity.ts'
import { createVelocityExchange } from '../facts/velocity-exchange.ts'
import type { Clock, Timers } from '../lib/time.ts'
import { SharedRateLimiter } from '../server/shared-rate-limit.ts'
import type { Store } from '../store/store.ts'
import { VELOCITY_WRITE_MAX } from '../store/velocity-tallies.ts'
import type { Logger } from '../telemetry/log.ts'
import type { SharingMetrics } from '../telemetry/metrics.ts'

interface SharingDependencies {
  readonly store: Pick<Store, 'liveProcesses' | 'leaderLeases' | 'rateLeases' | 'velocityTallies' | 'tasks'>
  /** Index of this process on its machine, from 0. */
  readonly index: number
  /** Names of the running modules, sorted. */
  readonly modules: readonly string[]
  /** Called once this process beats again after the others counted it as stopped. */
  readonly onReturn: () => Promise<void>
  readonly clock: Clock
  readonly timers: Pick<Timers, 'after'>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

interface SharingState {
  /** `here` if this process leads one of its roles; undefined if its roles have no leader tasks. */
  readonly leader?: 'here' | 'elsewhere' | 'nobody'
  /** Roles that no process serves, separated by commas. */
  readonly unserved?: string
}

const SWEEP_MS = 60_000
/** Time after which a process killed before this startup counts as stopped. */
const FIRST_SWEEP_MS = 10_000

export const createSharing = (dependencies: SharingDependencies) => {
  const { store, index, modules, onReturn, clock, timers, log } = dependencies
  const { after } = timers
  // The id is short, because the row of each used key contains the ids of all its processes.
  const id = randomBase62(12)
  const time = createSharedTime(clock)
  const registry = createProcessRegistry({
    id,
    modules,
    onReturn,
    clock,
    time,
    after,
    table: store.liveProcesses,
    name: `${hostname()}/${index}`,
    onError: (error) => log.warn('this process could not renew its registration', { error }),
  })
  const leaders = new Map<LeaderRole, Leader>()
  const watches = new Map<LeaderRole, LeaseWatch>()
  const limiter = new SharedRateLimiter({
    clock,
    after,
    processes: registry.count,
    exchange: async (settlements) => {
      const { answers, clockMs } = await store.rateLeases.exchange(id, time.nowMs(), settlements)
      time.see(clockMs)
      return answers
    },
    onError: (error) => log.warn('rate limits could not be shared with the other processes', { error }),
  })
  const velocity = createVelocityCounters()
  const velocityExchange = createVelocityExchange({
    clock,
    after,
    counters: velocity,
    tallies: store.velocityTallies,
    writeMax: VELOCITY_WRITE_MAX,
    processId: id,
    processes: registry.count,
    onError: (error) => log.warn('attestation counts could not be shared with the other processes', { error }),
  })

  /** Marks tasks of ended processes as interrupted. Rejects if the store is unavailable. */
  const failInterruptedTasks = async (): Promise<void> => {
    await store.tasks.failInterrupted(registry.living())
  }
  const sweep = async ({ leads }: Lead): Promise<void> => {
    await registry.sweep()
    await failInterruptedTasks()
    while (leads() && (await store.rateLeases.sweep(time.nowMs())) > 0);
    while (leads() && (await store.velocityTallies.sweep()) > 0);
  }

  /** Deletes only outdated rows, so several leaders may run it concurrently. */
  const upkeep = createRepeatedTask({
    name: 'cleanup of shared state',
    firstMs: FIRST_SWEEP_MS,
    intervalMs: SWEEP_MS,
    after,
    work: sweep,
    onError: (error) => log.warn('could not clean up the state that processes share; will retry', { error }),
  })
  const leadRole = async (role: LeaderRole, leaderTasks: readonly LeaderTask[]): Promise<void> => {
    const leader = createLeader({
      id,
      clock,
      after,
      lease: store.leaderLeases[role],
      leaderTasks,
      onChange: (leads, term) => {
        if (leads) log.info('this process is now the leader', { role, term })
        else log.info('this process is no longer the leader', { role, term })
      },
      onError: (error) => log.warn('the leader could not be determined; will retry', { role, error }),
    })
    leaders.set(role, leader)
    await leader.start()
  }
  const watchRole = async (role: LeaderRole): Promise<void> => {
    const watch = createLeaseWatch({
      lease: store.leaderLeases[role],
      clock,
      after,
      onAbandoned: () => log.warn('no process serves this role, so its leader tasks do not run', { role }),
      onError: (error) => log.warn('the leader could not be determined; will retry', { role, error }),
    })
    watches.set(role, watch)
    await watch.start()
  }
  const placeOf = (leader: Leader): SharingState['leader'] => {
    const holder = leader.holder()
    if (holder === null) return 'nobody'
    return holder === id ? 'here' : 'elsewhere'
  }
  const leads = (): boolean => [...leaders.values()].some((leader) => leader.leads())

  return {
    /** Id of this process, new at each startup; identifies the executor of a task. */
    processId: id,
    failInterruptedTasks,
    /** Registers this process and reads the others. Call it before serving. Rejects if the store is unavailable. */
    join: async (): Promise<void> => {
      await registry.start()
      await velocityExchange.load()
      velocityExchange.start()
    },
    /** Runs the leader tasks of held leases, and watches other roles' leases. Resolves after the first attempts. */
    lead: async (leaderTasks: ReadonlyMap<LeaderRole, readonly LeaderTask[]>): Promise<void> => {
      // Runs with this process's first role only, so that a leader of both roles doesn't run it twice.
      const upkeepRole = LEADER_ROLES.find((role) => leaderTasks.has(role))
      for (const role of LEADER_ROLES) {
        const ofRole = leaderTasks.get(role)
        if (ofRole === undefined) await watchRole(role)
        else await leadRole(role, role === upkeepRole ? [...ofRole, upkeep] : ofRole)
      }
    },
    limiter,
    velocity,
    leads,
    /** Returns the state for `/readyz`, which is public and must not name processes. */
    describe: (): SharingState => {
      const places = [...leaders.values()].map(placeOf)
      const leader = (['nobody', 'here', 'elsewhere'] as const).find((place) => places.includes(place))
      const unserved = [...watches].flatMap(([role, watch]) => (watch.isAbandoned() ? [role] : []))
      return {
        ...(leader === undefined ? {} : { leader }),
        ...(unserved.length === 0 ? {} : { unserved: unserved.join(',') }),
      }
    },
    metrics: (): SharingMetrics => ({
      leads: [...leaders].map(([role, leader]) => ({ role, leads: leader.leads() })),
      liveProcesses: registry.count(),
      limitsCut: limiter.cut(),
    }),
    stopLeading: async (): Promise<void> => {
      for (const watch of watches.values()) watch.stop()
      await Promise.all([...leaders.values()].map((leader) => leader.stop()))
    },
    stop: async (): Promise<void> => {
      await limiter.stop()
      await velocityExchange.stop()
      await registry.stop()
    },
  }
}

export type Sharing = ReturnType<typeof createSharing>

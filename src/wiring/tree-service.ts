// Makes the tree over the decision log, by a process of its own at the lowest priority. Started by the node's first process.
// What it signs is kept in the store as well, where an older copy of the tree's tables can be told by it.
import type { TreeInput, TreeOrder, TreeReport } from '../../workers/tree/decision-tree-protocol.ts'
import type { Config } from '../config/config.ts'
import { SettingInvalidError } from '../config/settings.ts'
import { ShipAccessMissingError } from '../decisions/ship-access.ts'
import type { Clock } from '../domain/time.ts'
import type { Duty } from '../processes/leader.ts'
import { sendToChild } from '../processes/send.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { LogKey } from '../setup/log-key.ts'
import { type PassphraseSource, readPassphrases } from '../signing/passphrase.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import type { Logger } from '../telemetry/log.ts'
import type { TreeMetrics } from '../telemetry/tree-metrics.ts'
import { encodeVerifierKey } from '../transparency/note.ts'
import { bucketAccessOf, type ShipSettings } from './ship-service.ts'

export interface TreeDependencies {
  readonly config: ShipSettings & Pick<Config, 'decisionsSync'>
  readonly folder: Pick<DataFolder, 'decisions' | 'decisionTree' | 'decisionTreeHead'>
  /** The deployment's store: over PostgreSQL the tree is there as well. */
  readonly target: StoreTarget
  readonly logKey: LogKey
  readonly passphrase: PassphraseSource
  readonly store: Pick<Store, 'deployment'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export interface Tree {
  /** Over PostgreSQL one node makes the tree of all. */
  readonly duty: Duty
  metrics(): TreeMetrics
  /** Takes in what was written last, and ends. */
  stop(): Promise<void>
}

/** Name of the deployment's value that keeps the newest signed head; empty where a tree begins anew. */
export const STORED_HEAD = 'decision_tree_checkpoint'

const FINISH_MS = 10_000
const FIRST_RESTART_MS = 1_000
const LONGEST_RESTART_MS = 60_000
/** The store's copy is for telling an older tree: it need not be of this second. */
const KEEP_EVERY_MS = 10_000
const ENTRY = Bun.fileURLToPath(new URL('../../workers/tree/decision-tree.process.ts', import.meta.url))

/** Where the tree's tables are. */
export const treeTargetOf = (target: StoreTarget, folder: Pick<DataFolder, 'decisionTree'>): StoreTarget =>
  target.kind === 'sqlite' ? { kind: 'sqlite', path: folder.decisionTree } : target

const shipOf = (config: ShipSettings): TreeInput['ship'] => {
  const place = config.decisionsShip
  if (place === null) return null
  try {
    return { place, access: bucketAccessOf(config, place), intervalMs: config.decisionsShipIntervalSeconds * 1_000 }
  } catch (error) {
    if (error instanceof ShipAccessMissingError) throw new SettingInvalidError(error.message)
    throw error
  }
}

/** @throws SettingInvalidError when the credentials of the place to ship to are missing or malformed */
export const startTree = async (dependencies: TreeDependencies): Promise<Tree> => {
  const { config, folder, target, logKey, passphrase, store, clock, log } = dependencies
  const ship = shipOf(config)
  let leads = false
  let child: Bun.Subprocess | null = null
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let restartMs = FIRST_RESTART_MS
  let failing: string | null = null
  let refusal: string | null = null
  let failures = 0
  let size: number | null = null
  let passedMs = clock.monotonicMs()
  let checkpoint: string | null = null
  let keptCheckpoint: string | null = null
  let keptAtMs = Number.NEGATIVE_INFINITY

  const keepHead = async (): Promise<void> => {
    if (checkpoint === null || checkpoint === keptCheckpoint) return
    keptAtMs = clock.monotonicMs()
    const newest = checkpoint
    try {
      await store.deployment.replace(STORED_HEAD, newest, { survives: 'process-crash' })
      keptCheckpoint = newest
    } catch (error) {
      log.warn('the head of the decision log could not be kept in the store; it is tried again', { error })
    }
  }

  const noteFailure = (errorClass: string): void => {
    failures += 1
    if (failing !== errorClass) log.warn('the tree of the decision log could not be continued', { errorClass })
    failing = errorClass
  }

  const take = (report: TreeReport): void => {
    if (report.refusal !== null && report.refusal !== refusal) {
      log.error('no head of the decision log is signed until this is looked into', { reason: report.refusal })
    }
    refusal = report.refusal
    if (report.errorClass !== null) {
      noteFailure(report.errorClass)
      if (report.size === null) return
    } else {
      if (failing !== null) log.info('the tree of the decision log goes on')
      failing = null
    }
    restartMs = FIRST_RESTART_MS
    size = report.size
    passedMs = clock.monotonicMs()
    checkpoint = report.checkpoint ?? checkpoint
    if (clock.monotonicMs() - keptAtMs >= KEEP_EVERY_MS) void keepHead()
  }

  const send = (order: TreeOrder): void => {
    if (child !== null) sendToChild(child, order)
  }

  const startLater = (reason: string): void => {
    child = null
    if (stopped) return
    noteFailure(reason)
    timer = setTimeout(() => void start(), restartMs)
    timer.unref()
    restartMs = Math.min(restartMs * 2, LONGEST_RESTART_MS)
  }

  const start = async (): Promise<void> => {
    try {
      const stored = await store.deployment.read(STORED_HEAD)
      const input: TreeInput = {
        directory: folder.decisions,
        tree: treeTargetOf(target, folder),
        saltKey: Buffer.from(logKey.saltKey).toString('hex'),
        key: encodeVerifierKey(logKey.key),
        keystorePath: logKey.keystorePath,
        passphrases: await readPassphrases(passphrase),
        headFile: folder.decisionTreeHead,
        knownHeads: stored === null || stored === '' ? [] : [stored],
        ship,
        flush: !config.decisionsSync,
      }
      if (stopped) return
      child = Bun.spawn([process.execPath, ENTRY], {
        // Neither a secret nor a proxy of the service's environment.
        env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
        stdin: new TextEncoder().encode(JSON.stringify(input)),
        stdout: 'ignore',
        stderr: 'ignore',
        serialization: 'json',
        ipc: (report: TreeReport) => take(report),
        onExit: () => startLater('the process ended'),
      })
      if (leads) send('lead')
    } catch (error) {
      // No memory, no process left to have, or a store that is away: in a timer it would end this process.
      startLater(error instanceof Error ? error.name : 'the process could not be started')
    }
  }

  await start()
  return {
    duty: {
      name: 'the tree of the decision log',
      start: () => {
        leads = true
        send('lead')
      },
      stop: async () => {
        leads = false
        send('rest')
      },
    },
    metrics: () => ({
      size,
      ageSeconds: (clock.monotonicMs() - passedMs) / 1_000,
      failures,
      refused: refusal !== null,
    }),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      const running = child
      if (running !== null) {
        send('finish')
        const cut = setTimeout(() => running.kill('SIGKILL'), FINISH_MS)
        await running.exited
        clearTimeout(cut)
      }
      await keepHead()
    },
  }
}

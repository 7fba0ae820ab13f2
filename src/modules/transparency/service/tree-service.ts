// Builds the tree in a process with the lowest priority. The store also has signed heads, to detect an older copy of
// the tree's tables.

import { type BackgroundChild, jsonInput, startBackgroundChild } from '../../../cluster/background-child.ts'
import { SettingInvalidError } from '../../../config/settings.ts'
import type { AttestationCore } from '../../../module-interface/module.ts'
import { SHIPPING, ShipAccessMissingError, type ShippingService } from '../../../object-store/ship-access.ts'
import { keepProcess } from '../../../program/kept-process.ts'
import type { DataFolder } from '../../../setup/data-folder.ts'
import { readPassphrases } from '../../../signing/passphrase.ts'
import { auditProblem } from '../../../store/audit.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { createFailureLog } from '../../../telemetry/failure-log.ts'
import { type WitnessSettings, witnessSettingsOf } from '../settings.ts'
import { readCheckpoint } from '../tree/checkpoint.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import type { TreeInput, TreeOrder, TreeReport } from '../worker/decision-tree-protocol.ts'
import type { LogKey } from './log-key.ts'
import type { TreeMetrics } from './tree-metrics.ts'

/** Deployment value: latest signed head; empty after a new tree was started. */
export const STORED_HEAD = 'decision_tree_checkpoint'

const FINISH_MS = 10_000
const FIRST_RESTART_MS = 1_000
const LONGEST_RESTART_MS = 60_000
const KEEP_EVERY_MS = 10_000

export const treeTargetOf = (target: StoreTarget, folder: Pick<DataFolder, 'decisionTree'>): StoreTarget =>
  target.kind === 'sqlite' ? { kind: 'sqlite', path: folder.decisionTree } : target

const shipOf = (shipping: ShippingService | null): TreeInput['ship'] => {
  const place = shipping?.place ?? null
  if (shipping === null || place === null) return null
  try {
    return { place, access: shipping.accessTo(place), intervalMs: shipping.intervalMs }
  } catch (error) {
    if (error instanceof ShipAccessMissingError) throw new SettingInvalidError(error.message)
    throw error
  }
}

const witnessesOf = ({ witnesses, required, withinSeconds }: WitnessSettings): TreeInput['witnesses'] =>
  witnesses.length === 0
    ? null
    : {
        list: witnesses.map(({ key, url }) => ({ key: encodeVerifierKey(key), url })),
        required,
        withinMs: withinSeconds * 1_000,
      }

export const startTree = (core: AttestationCore, logKey: LogKey) => {
  const { config, folder, target, passphrase, store, clock, after, log } = core
  const ship = shipOf(core.findService(SHIPPING))
  let leads = false
  let refusal: string | null = null
  let failures = 0
  let auditFailing: string | null = null
  let auditAtMs = Number.NEGATIVE_INFINITY
  let latest: TreeReport | null = null
  let cosigning: TreeReport['cosigning'] = null
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
      const stored = (await store.deployment.read(STORED_HEAD)) || null
      const known = stored === null ? null : readCheckpoint(stored)
      // Another leader may have stored a newer head.
      const isNewer = known?.origin === logKey.key.name && known.size > readCheckpoint(newest).size
      const options = { survives: 'process-crash' } as const
      // If another node stores a head at the same time, the next pass retries.
      if (isNewer || (await store.deployment.exchange(STORED_HEAD, stored, newest, options))) keptCheckpoint = newest
    } catch (error) {
      log.warn('could not store the head of the decision log; will retry', { error })
    }
  }

  /** Requests a signature for the latest audit entry if the audit log extends the stored head. */
  const keepAudit = async ({ audit: held, auditErrorClass: errorClass }: TreeReport): Promise<void> => {
    auditAtMs = clock.monotonicMs()
    if (errorClass !== null) {
      if (errorClass !== auditFailing) log.warn('could not store the head of the audit log', { errorClass })
      auditFailing = errorClass
      return
    }
    try {
      const problem = held === null ? null : await auditProblem(store.audit, held)
      if (problem !== null && problem !== auditFailing) {
        log.error('the audit log was truncated, rolled back or rewritten: investigate', { reason: problem })
      }
      auditFailing = problem
      const [newest] = (await store.audit.page({}, { after: null, limit: 1 })).items
      if (problem !== null || newest === undefined || newest.sequence <= (held?.sequence ?? 0)) return
      kept.running()?.send({ audit: { sequence: newest.sequence, hash: newest.hash } })
    } catch (error) {
      log.warn('could not store the head of the audit log; will retry', { error })
    }
  }

  const outcome = createFailureLog(log, {
    failed: 'could not extend the tree of the decision log',
    works: 'resumed extending the tree of the decision log',
  })
  const noteFailure = (errorClass: string): void => {
    failures += 1
    outcome.failed(errorClass)
  }

  const takeCosigning = (next: TreeReport['cosigning']): void => {
    const before = new Map(cosigning?.witnesses.map(({ name, problem }) => [name, problem]))
    for (const { name, problem } of next?.witnesses ?? []) {
      const known = before.get(name) ?? null
      if (problem === known) continue
      if (problem === null) log.info('a witness resumed cosigning the log', { witness: name })
      else log.warn('a witness did not cosign the log; will retry', { witness: name, reason: problem })
    }
    const keeping = next?.errorClass ?? null
    if (keeping !== null && keeping !== (cosigning?.errorClass ?? null)) {
      log.warn('could not store cosignatures of the log', { errorClass: keeping })
    }
    cosigning = next
  }

  const shipOutcome = createFailureLog(log, {
    failed: 'could not ship the head of the decision log; will retry',
    works: 'resumed shipping the head of the decision log',
  })
  const takeShipping = (errorClass: string | null): void => {
    if (errorClass === null) shipOutcome.works()
    else {
      failures += 1
      shipOutcome.failed(errorClass)
    }
  }

  const take = (report: TreeReport): void => {
    takeCosigning(report.cosigning)
    takeShipping(report.shipErrorClass)
    if (report.refusal !== null && report.refusal !== refusal) {
      log.error('stopped signing heads of the decision log until this is resolved: investigate', {
        reason: report.refusal,
      })
    }
    refusal = report.refusal
    if (report.errorClass !== null) {
      noteFailure(report.errorClass)
      return
    }
    outcome.works()
    kept.works()
    size = report.size
    passedMs = clock.monotonicMs()
    checkpoint = report.checkpoint ?? checkpoint
    if (report.size !== null) latest = report
    if (clock.monotonicMs() - keptAtMs >= KEEP_EVERY_MS) void keepHead()
    if (latest === report && clock.monotonicMs() - auditAtMs >= KEEP_EVERY_MS) void keepAudit(report)
  }

  const start = async (onExit: () => void): Promise<BackgroundChild<TreeOrder>> => {
    const stored = await store.deployment.read(STORED_HEAD)
    const input: TreeInput = {
      directory: folder.decisions,
      tree: treeTargetOf(target, folder),
      saltKey: Buffer.from(logKey.saltKey).toString('hex'),
      key: encodeVerifierKey(logKey.key),
      keystorePath: logKey.keystorePath,
      passphrases: await readPassphrases(passphrase.source),
      headFile: folder.decisionTreeHead,
      auditFile: folder.auditHead,
      knownHeads: stored === null || stored === '' ? [] : [stored],
      ship,
      witnesses: witnessesOf(witnessSettingsOf(config)),
      flush: !config.decisionsSync,
    }
    const child = startBackgroundChild<TreeReport, TreeOrder>({
      commandLine: ['src/modules/transparency/worker/decision-tree.process.ts'],
      input: jsonInput(input),
      onMessage: take,
      onExit,
    })
    if (leads) child.send('lead')
    return child
  }
  const kept = keepProcess({
    start,
    after,
    firstRestartMs: FIRST_RESTART_MS,
    longestRestartMs: LONGEST_RESTART_MS,
    onLost: noteFailure,
  })

  return {
    /** With PostgreSQL, one node builds the tree for all. */
    leaderTask: {
      name: 'the tree of the decision log',
      start: () => {
        leads = true
        kept.running()?.send('lead')
      },
      stop: async () => {
        leads = false
        kept.running()?.send('rest')
      },
    },
    metrics: (): TreeMetrics => ({
      size,
      ageSeconds: (clock.monotonicMs() - passedMs) / 1_000,
      failures,
      refused: refusal !== null,
      cosigning,
    }),
    stop: async (): Promise<void> => {
      kept.close()
      if (latest !== null) await keepAudit(latest)
      await kept.running()?.end('finish', FINISH_MS)
      await keepHead()
    },
  }
}

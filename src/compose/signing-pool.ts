// Configures the pool: keys, log location, recovery of dead workers, and logging.
import { join } from 'node:path'
import { createInlinePort } from '../../workers/signing/inline-worker.ts'
import { openWorkerParts } from '../../workers/signing/setup.ts'
import { signersOf } from '../admin/live/processes.ts'
import type { Config } from '../config/config.ts'
import { answerOf } from '../decision-log/answer.ts'
import { recoverDecisions } from '../decision-log/recover.ts'
import { slotName } from '../decision-log/segment-name.ts'
import { createThrottle } from '../lib/throttle.ts'
import { type Clock, systemTimers } from '../lib/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { RuleFailureReason } from '../policy/evaluation-errors.ts'
import { createPool, type Pool } from '../pool/pool.ts'
import { isLogFailure, logPoolEvent } from '../pool/pool-options.ts'
import type { AttesterReference } from '../pool/protocol.ts'
import { createThreadPort, type OpenPort } from '../pool/wire.ts'
import { threadEntry } from '../program/entries.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import type { PassphraseSource } from '../signing/passphrase.ts'
import { chooseSecp256k1Backend } from '../signing/secp256k1-backends.ts'
import type { TokenSettings } from '../signing/types.ts'
import type { Logger } from '../telemetry/log.ts'

export interface SigningPoolDependencies {
  readonly config: Config
  readonly folder: DataFolder
  readonly passphrase: PassphraseSource
  readonly token: TokenSettings | null
  readonly attesters: readonly AttesterReference[]
  /** Returns the weight of an organization's share of the workers' time. */
  readonly weightOf: ((organizationId: string) => number) | undefined
  /** Slot of the first worker in the decision log. */
  readonly firstSlot: number
  readonly catalog: Catalog
  readonly clock: Clock
  readonly log: Logger
}

const inThread: OpenPort = (listener) =>
  createThreadPort(new Worker(threadEntry('workers/signing/attest.worker.ts')), listener)

const inline =
  (clock: Clock): OpenPort =>
  (listener) =>
    createInlinePort(
      {
        open: (settings, isClosing) => openWorkerParts(settings, Date.now, isClosing),
        clock: { monotonicMs: clock.monotonicMs, unixMs: Date.now },
        nextTurn: systemTimers.endOfTurn,
      },
      listener,
    )

/** Age at which a log failure is outdated: without requests, nothing is written. */
const LOG_FAILURE_VALID_MS = 5_000

export const createSigningPool = (dependencies: SigningPoolDependencies) => {
  const { config, folder, catalog, clock, log } = dependencies
  // Selected once, so that no worker uses a slower backend. Only the self-test signs here, without a key of the
  // service.
  const { backend, skipped } = chooseSecp256k1Backend(config.signer)
  for (const { name, reason } of skipped) log.info('signing backend not available', { backend: name, reason })
  const signer = backend.name
  if (signer === 'noble') {
    log.warn(
      'attestations are signed in JavaScript, which is about three times slower: install libsecp256k1, then restart',
      {
        platform: `${process.platform}-${process.arch}`,
      },
    )
  }
  /** Latest failure, and the number of jobs answered until then. */
  let failure: { readonly answered: number; readonly atMs: number } | null = null
  let logFailures = 0
  const ruleFailures = { unavailable: 0, absent: 0, expression: 0, other: 0 }
  const throttle = createThrottle({ monotonicMs: clock.monotonicMs })
  const pool: Pool = createPool({
    workers: signersOf(config.workers),
    spawn: config.workers === 0 ? inline(clock) : inThread,
    settings: {
      signer,
      attesters: dependencies.attesters,
      passphrase: dependencies.passphrase,
      token: dependencies.token,
      decisionsDirectory: folder.decisions,
      decisionsSync: config.decisionsSync,
      segmentMaxBytes: config.decisionsSegmentBytes,
      revisionCacheSize: config.policyCacheSize,
      warmUp: config.warmUp,
      solanaMessagePrefix: config.solanaMessagePrefix,
    },
    weightOf: dependencies.weightOf,
    firstSlot: dependencies.firstSlot,
    queueLimit: config.queueLimit,
    recover: ({ slot, uuids }) => {
      const records = recoverDecisions(join(folder.decisions, slotName(slot)), uuids, { sync: config.decisionsSync })
      return new Map(
        [...records].map(([uuid, record]) => [
          uuid,
          { compliant: record.compliant, ruleId: record.rule, body: answerOf(record) },
        ]),
      )
    },
    definitions: { revision: (revisionId) => catalog.cachedRevision(revisionId) },
    clock,
    limits: { hangMs: config.hangMs },
    onEvent: (event) => {
      logPoolEvent(log, throttle, event)
      if (event.type === 'rule-failed') ruleFailures[event.reason] += 1
      if (event.type !== 'job-failed' || !isLogFailure(event.errorClass)) return
      failure = { answered: pool.stats().answered, atMs: clock.monotonicMs() }
      logFailures += 1
    },
  })
  const isLogHealthy = (): boolean =>
    failure === null ||
    pool.stats().answered > failure.answered ||
    clock.monotonicMs() - failure.atMs > LOG_FAILURE_VALID_MS
  return {
    pool,
    signer,
    isLogHealthy,
    logFailures: (): number => logFailures,
    ruleFailures: (): Readonly<Record<RuleFailureReason, number>> => ruleFailures,
  }
}

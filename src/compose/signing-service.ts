// Starts the signing pool in processes that serve attestations. Other processes have no workers and read no keystores
// or passphrases.
import type { SigningReadiness } from '../cluster/readiness.ts'
import type { Closers } from '../lib/closers.ts'
import type { AttestationCore, AttestationParts, Module } from '../module-interface/module.ts'
import { openAttestationModules } from '../module-interface/open-modules.ts'
import { type AttesterReload, createAttesterReload } from '../pool/attester-reload.ts'
import { createIdlePool } from '../pool/idle-pool.ts'
import type { Pool } from '../pool/pool.ts'
import { presentAttesters, readAttesters } from '../setup/attesters.ts'
import type { MetricsOptions } from '../telemetry/metrics.ts'
import { createSigningPool, type SigningPoolDependencies } from './signing-pool.ts'

interface SigningDependencies extends Pick<SigningPoolDependencies, 'weightOf' | 'firstSlot' | 'catalog'> {
  readonly core: Omit<AttestationCore, 'attesters'>
  readonly modules: readonly Module[]
  readonly closers: Closers
}

export interface Signing {
  readonly pool: Pool
  readonly signer: string
  readonly attesterReload: AttesterReload
  readonly metrics: Pick<MetricsOptions, 'pool' | 'attestersCurrent' | 'decisionLogFailures' | 'ruleFailures'>
  readonly readiness: SigningReadiness | null
  describe(): Readonly<Record<string, string | number>>
  readonly leaderTasks: NonNullable<AttestationParts['leaderTasks']>
  readonly addMetrics: NonNullable<AttestationParts['addMetrics']>
}

export const openSigning = async (dependencies: SigningDependencies): Promise<Signing> => {
  const { modules, closers, weightOf, firstSlot, catalog } = dependencies
  const { config, folder, store, passphrase, clock, after, log } = dependencies.core
  const readStored = () => readAttesters(store, folder)
  const attesters = presentAttesters(await readStored(), log)
  // Closed after the pool, whose last records modules also process.
  const { token, leaderTasks, addMetrics } = await openAttestationModules(
    modules,
    { ...dependencies.core, attesters },
    closers,
  )
  const { pool, signer, isLogHealthy, logFailures, ruleFailures } = createSigningPool({
    config,
    folder,
    passphrase: passphrase.source,
    token,
    attesters,
    weightOf,
    firstSlot,
    catalog,
    clock,
    log,
  })
  const attesterReload = createAttesterReload({ pool, log, after, clock, inUse: attesters, read: readStored })
  closers.add(attesterReload.stop)
  const workers = (): number => (config.workers === 0 ? 0 : pool.stats().workers)
  return {
    pool,
    signer,
    attesterReload,
    metrics: {
      pool: pool.stats,
      attestersCurrent: attesterReload.isCurrent,
      decisionLogFailures: logFailures,
      ruleFailures,
    },
    readiness: { workers: () => pool.stats().workers, isLogHealthy, hasKeys: attesterReload.hasEveryKind },
    describe: () => ({ signer, workers: workers(), attesters: attesterReload.isCurrent() ? 'current' : 'outdated' }),
    leaderTasks,
    addMetrics,
  }
}

export const createNoSigning = (): Signing => ({
  pool: createIdlePool(),
  signer: 'none',
  attesterReload: {
    reload: () => undefined,
    isCurrent: () => true,
    hasEveryKind: () => true,
    behindSinceMs: () => null,
    stop: () => undefined,
  },
  metrics: {},
  readiness: null,
  describe: () => ({}),
  leaderTasks: [],
  addMetrics: () => undefined,
})

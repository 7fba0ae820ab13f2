// Opens the idempotency claims, and the memory of interrupted requests' decisions.
import { createDecisionMemory } from '../attestation/recall-answers.ts'
import { createClaimTeller } from '../cluster/claim-teller.ts'
import type { Config } from '../config/config.ts'
import { nodeNameOf } from '../decision-log/node-name.ts'
import { type Clock, systemTimers } from '../lib/time.ts'
import { KEEP_SLACK_SECONDS } from '../server/idempotency.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { openLoggedClaims } from '../store/claim-log/claims.ts'
import { withMovedClaims } from '../store/claim-log/moved.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import { longestUse } from './expiry-service.ts'
import { claimSecondsOf } from './request-path.ts'

interface ClaimsDependencies {
  readonly config: Pick<Config, 'chainSettings' | 'deadlineMs' | 'serve'>
  readonly store: Store
  readonly folder: Pick<DataFolder, 'decisions'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
}

export const openClaims = async ({ config, store, folder, clock, log }: ClaimsDependencies) => {
  const node = nodeNameOf(folder.decisions)
  const usableSeconds = longestUse(config) + KEEP_SLACK_SECONDS
  const { database } = store
  const claimed = { database, clock, usableSeconds, node: config.serve.has('attestation') ? node : null }
  const logged = store.kind === 'postgres' ? null : await openLoggedClaims(claimed)
  const memory = createDecisionMemory(folder.decisions, clock, {
    // Nodes share a PostgreSQL database; a SQLite file belongs to one node.
    node: store.kind === 'postgres' ? node : '',
    usableSeconds,
  })
  return {
    claims: logged ?? (await withMovedClaims(store.idempotency, { database, clock })),
    memory,
    backlogMs: (logged ?? store.database).backlogMs,
    /** Starts to report decisions of interrupted requests to other nodes. Returns a function that stops it. */
    startTeller: (): (() => void) => {
      if (memory.node === '') return () => undefined
      const teller = createClaimTeller({
        memory,
        clock,
        claimSeconds: claimSecondsOf(config),
        after: systemTimers.after,
        claims: store.idempotency,
        onError: (error) => log.warn('decisions of interrupted requests could not be shared', { error }),
      })
      teller.start()
      return teller.stop
    },
  }
}

// Builds the evidence service, for the service and for commands.

import { type Lead, type LeaderTask, LeadLostError, whileLeading } from '../cluster/leader.ts'
import { createRepeatedTask } from '../cluster/repeated-task.ts'
import { createPdfChecker } from '../identity/evidence/check-pdf.ts'
import { createClamd, type ScannerAddress } from '../identity/evidence/clamd.ts'
import { createDocumentScan } from '../identity/evidence/document-scan.ts'
import { requireErasureClock } from '../identity/evidence/erasure-clock.ts'
import { createEvidence } from '../identity/evidence/evidence.ts'
import { createEvidenceFiles } from '../identity/evidence/evidence-files.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import { createReencoder, type Reencoder } from '../identity/evidence/reencode.ts'
import { createRetentionSweep, type SweepResult } from '../identity/evidence/retention-sweep.ts'
import { createSealedNote } from '../identity/evidence/sealed-note.ts'
import { createVault } from '../identity/evidence/vault.ts'
import type { DecisionFacts, DocumentReading, DocumentReadings, EvidenceService } from '../identity/evidence-types.ts'
import { createSteadyClock, systemClock, systemTimers } from '../lib/time.ts'
import type { Store } from '../store/store.ts'
import type { IdentityMetrics } from '../telemetry/identity-metrics.ts'
import type { Logger } from '../telemetry/log.ts'

interface EvidencePartsDependencies {
  readonly store: Store
  readonly keys: OrganizationKeys
  readonly folder: string
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly changed?: Parameters<typeof createEvidence>[0]['changed']
  readonly reencoder?: Reencoder
  readonly scanner?: ScannerAddress | null
  readonly scannerAway?: 'refuse' | 'allow'
}

export interface EvidenceParts {
  readonly evidence: EvidenceService
  readonly readings: DocumentReadings
  /** Facts on which policies decided sessions. */
  readonly decisionFacts: DecisionFacts
  metrics(): Pick<IdentityMetrics, 'evidencePieces' | 'evidenceBytesStored' | 'retentionRuns'>
  sweep(): Promise<SweepResult>
  /** Erases expired evidence every hour. */
  readonly leaderTask: LeaderTask
  close(): Promise<void>
}

const SWEEP_INTERVAL_MS = 3_600_000

export const createEvidenceParts = (dependencies: EvidencePartsDependencies): EvidenceParts => {
  const { store, keys, folder, log, changed = () => undefined, reencoder = createReencoder() } = dependencies
  const pdfChecker = createPdfChecker()
  const { scanner = null, scannerAway: whenAway = 'refuse' } = dependencies
  const files = createEvidenceFiles(folder)
  const vault = createVault({ files, keys })
  const scan =
    scanner === null
      ? undefined
      : createDocumentScan({
          scanner: createClamd({ address: scanner }),
          whenAway,
          found: async ({ organizationId, id }, signature) => {
            log.warn('the scanner found malware in a document, which was refused', { session: id, signature })
            await store.audit.append({
              organizationId,
              subject: id,
              detail: { signature },
              requestId: '',
              actor: 'person',
              actorName: 'person',
              action: 'evidence.infected',
            })
          },
          away: (error) => log.warn('the document scanner is unavailable', { error, uploads: whenAway }),
        })
  const evidencePieces = { stored: 0, erased: 0 }
  const retentionRuns = { completed: 0, failed: 0 }
  let evidenceBytesStored = 0
  const evidence = createEvidence({
    reencoder,
    pdfChecker,
    changed,
    scan,
    counted: (change, pieces, bytes) => {
      evidencePieces[change] += pieces
      evidenceBytesStored += bytes
    },
    store: store.evidence,
    findSession: store.sessions.find,
    vault,
    clock: systemClock,
    onError: (error) => log.warn('the file of an erased document could not be deleted; will retry', { error }),
  })
  const requireSteadyClock = createSteadyClock(systemClock)
  const sweep = async (lead: Pick<Lead, 'leads'>): Promise<SweepResult> => {
    await requireErasureClock(store.deployment, systemClock.unixSeconds())
    const run = createRetentionSweep({
      clock: systemClock,
      requireSteadyClock,
      files: { list: files.list, remove: whileLeading(lead, files.remove) },
      store: store.evidenceRetention,
      erase: whileLeading(lead, evidence.eraseExpired),
    })
    return run()
  }

  const sweepOnce = async (lead: Lead): Promise<void> => {
    const { sessions, files: removed } = await sweep(lead)
    retentionRuns.completed += 1
    if (sessions + removed > 0) log.info('evidence was erased after its retention period', { sessions, files: removed })
  }

  const notes = { vault, store: store.evidence, clock: systemClock }
  return {
    evidence,
    readings: createSealedNote<DocumentReading>({ ...notes, kind: 'reading' }),
    decisionFacts: createSealedNote({ ...notes, kind: 'decision' }),
    metrics: () => ({ evidencePieces, evidenceBytesStored, retentionRuns }),
    sweep: () => sweep({ leads: () => true }),
    leaderTask: createRepeatedTask({
      name: 'retention of evidence',
      intervalMs: SWEEP_INTERVAL_MS,
      after: systemTimers.after,
      work: sweepOnce,
      onError: (error) => {
        if (error instanceof LeadLostError) return
        retentionRuns.failed += 1
        log.warn('evidence could not be erased after its retention period; will retry', { error })
      },
    }),
    close: async () => {
      await Promise.all([reencoder.close(), pdfChecker.close()])
    },
  }
}

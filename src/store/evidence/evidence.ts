// Submitted evidence: one row per document, and one for the fields. Each change locks the session and adds an event.

import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import { newOrderedId } from '../../domain/identifier.ts'
import { isSessionOpen, type Session, type SessionState } from '../../domain/session.ts'
import { EvidenceErasedError, SessionClosedError } from '../../domain/session-errors.ts'
import { among, computed, hidden, integer, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { requireBrowser } from '../sessions/portal-browsers.ts'
import { acceptParts } from '../sessions/portal-progress.ts'
import { announceSession, noteChange, requireFewChanges, type SessionNote } from '../sessions/session-changes.ts'
import { lockSession, lockSessionAsItIs, readState, SESSIONS } from '../sessions/session-rows.ts'
import { defineTable } from '../table.ts'
import { eraseSessionEvidence } from './evidence-erasure.ts'
import { isExpired } from './evidence-retention.ts'
import { EVIDENCE, eraseEvidence, FIELDS_KIND, insertEvidence, keptOf } from './evidence-rows.ts'

const OF_SESSIONS = defineTable('session_evidence', { ...EVIDENCE.shape, sessionId: text })

const READS = defineTable('evidence_reads', {
  id: hidden(text),
  organizationId: hidden(text),
  sessionId: hidden(text),
  evidenceId: text,
  kind: computed(
    text,
    '(SELECT session_evidence.kind FROM session_evidence WHERE session_evidence.id = evidence_reads.evidence_id)',
  ),
  actor: text,
  readAtSeconds: integer,
})

interface EvidenceChange {
  readonly state: SessionState
  readonly obsoleteFiles: readonly string[]
}

const announceChange = async (
  transaction: Transaction,
  session: Session,
  note: SessionNote,
  nowSeconds: number,
): Promise<SessionState> => {
  await noteChange(transaction, session, note, nowSeconds)
  const state = await readState(transaction, session.organizationId, session.id)
  if (state === null) throw new Error('the session was deleted while it was locked')
  await announceSession(transaction, state, nowSeconds)
  return state
}

/** Evidence was submitted again, so the session can be decided again. */
const clearErasure = (transaction: Transaction, { organizationId, sessionId }: EvidenceTarget): Promise<number> =>
  SESSIONS.updateAll(transaction, { organizationId, id: sessionId }, { evidenceErasedAtSeconds: null })

/** Call in the transaction that completes a session. @throws EvidenceErasedError if nothing has been submitted since */
export const requireEvidenceKept = async (
  transaction: Transaction,
  { organizationId, id }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  const erased = { organizationId, id, evidenceErasedAtSeconds: sql`IS NOT NULL` }
  if ((await SESSIONS.find(transaction, erased)) !== null) throw new EvidenceErasedError()
}

/** Unless stated otherwise, functions return null if the organization has no such session. */
export const createEvidenceTable = (scope: TableScope) => {
  const lockOpen = async (transaction: Transaction, target: EvidenceTarget): Promise<Session | null> => {
    const nowSeconds = scope.nowSeconds()
    const session = await lockSession(transaction, target.organizationId, target.sessionId, nowSeconds)
    await requireBrowser(transaction, target, nowSeconds)
    if (session !== null && !isSessionOpen(session.status)) throw new SessionClosedError(session.status)
    return session
  }

  return {
    list: (target: EvidenceTarget): Promise<readonly EvidenceRecord[]> =>
      EVIDENCE.list(scope, keptOf(target), ['createdAtSeconds', 'id']),

    recordsOf: async (
      organizationId: string,
      sessionIds: readonly string[],
      kind: string,
    ): Promise<ReadonlyMap<string, EvidenceRecord>> => {
      const which = { organizationId, sessionId: among(sessionIds), kind, erasedAtSeconds: null }
      const rows = await OF_SESSIONS.list(scope, which, ['id'])
      return new Map(rows.map(({ sessionId, ...record }) => [sessionId, record]))
    },

    /**
     * Returns false if the row `replacedId` was replaced concurrently.
     * @throws SessionClosedError, PartNotRequestedError, SessionChangesLimitError, OrganizationKeyExchangedError
     */
    replaceFields: (
      target: EvidenceTarget,
      record: NewEvidenceRecord,
      { replacedId, changed }: { readonly replacedId: string | null; readonly changed: readonly string[] },
      actor: string,
    ): Promise<EvidenceChange | false | null> =>
      scope.write(async (transaction) => {
        const session = await lockOpen(transaction, target)
        if (session === null) return null
        await requireFewChanges(transaction, session)
        const current = await EVIDENCE.find(transaction, { ...keptOf(target), kind: FIELDS_KIND })
        if ((current?.id ?? null) !== replacedId) return false
        await acceptParts(transaction, target, changed, true)
        const nowSeconds = scope.nowSeconds()
        const replaced = await eraseEvidence(transaction, target, nowSeconds, { kind: FIELDS_KIND })
        await insertEvidence(transaction, target, record)
        await clearErasure(transaction, target)
        const privateComment = `fields: ${record.fieldNames.join(', ')}`
        const state = await announceChange(
          transaction,
          session,
          { kind: 'evidence-changed', actor, privateComment },
          nowSeconds,
        )
        return { state, obsoleteFiles: replaced.map((row) => row.storageName) }
      }),

    /**
     * Replaces a note of the service. Returns files that can no longer be decrypted; null if the session doesn't exist
     * or its evidence was erased.
     */
    replaceNote: (target: EvidenceTarget, record: NewEvidenceRecord): Promise<readonly string[] | null> =>
      scope.write(async (transaction) => {
        const session = await lockSessionAsItIs(transaction, target.organizationId, target.sessionId)
        if (session === null) return null
        const kept = await EVIDENCE.find(transaction, { ...keptOf(target), kind: sql`<> ${record.kind}` })
        if (kept === null) return null
        const replaced = await eraseEvidence(transaction, target, scope.nowSeconds(), { kind: record.kind })
        await insertEvidence(transaction, target, record)
        return replaced.map((row) => row.storageName)
      }),

    /**
     * Returns false if the session has the maximum number of documents of this kind. @throws SessionClosedError,
     * PartNotRequestedError, SessionChangesLimitError, OrganizationKeyExchangedError
     */
    addDocument: (
      target: EvidenceTarget,
      record: NewEvidenceRecord,
      maximum: number,
      actor: string,
    ): Promise<EvidenceChange | false | null> =>
      scope.write(async (transaction) => {
        const session = await lockOpen(transaction, target)
        if (session === null) return null
        await requireFewChanges(transaction, session)
        const count = await EVIDENCE.count(transaction, { ...keptOf(target), kind: record.kind })
        if (count >= maximum) return false
        await acceptParts(transaction, target, [record.kind], true)
        await insertEvidence(transaction, target, record)
        await clearErasure(transaction, target)
        const note = { kind: 'evidence-changed', actor, privateComment: `${record.kind} added` } as const
        return { state: await announceChange(transaction, session, note, scope.nowSeconds()), obsoleteFiles: [] }
      }),

    /** Returns false if there is no such document. @throws SessionClosedError, PartNotRequestedError */
    removeDocument: (
      target: EvidenceTarget,
      evidenceId: string,
      actor: string,
    ): Promise<EvidenceChange | false | null> =>
      scope.write(async (transaction) => {
        const session = await lockOpen(transaction, target)
        if (session === null) return null
        const nowSeconds = scope.nowSeconds()
        const which = { ...keptOf(target), id: evidenceId, kind: sql`<> ${FIELDS_KIND}` }
        const document = await EVIDENCE.find(transaction, which)
        if (document === null) return false
        await acceptParts(transaction, target, [document.kind], false)
        const erased = await eraseEvidence(transaction, target, nowSeconds, { id: evidenceId })
        const note = { kind: 'evidence-changed', actor, privateComment: `${document.kind} removed` } as const
        return {
          state: await announceChange(transaction, session, note, nowSeconds),
          obsoleteFiles: erased.map((row) => row.storageName),
        }
      }),

    /** Destroys all keys, in any status. @param onlyExpired true to do nothing during the retention period */
    eraseAll: (
      target: EvidenceTarget,
      actor: string,
      { onlyExpired = false }: { readonly onlyExpired?: boolean } = {},
    ): Promise<EvidenceChange | null> =>
      scope.write(async (transaction) => {
        const nowSeconds = scope.nowSeconds()
        const { organizationId, sessionId } = target
        if (onlyExpired) {
          // The lock below would restart the retention period.
          await lockSessionAsItIs(transaction, organizationId, sessionId)
          if (!(await isExpired(transaction, target, nowSeconds))) {
            const state = await readState(transaction, organizationId, sessionId)
            return state === null ? null : { state, obsoleteFiles: [] }
          }
        }
        const session = await lockSession(transaction, organizationId, sessionId, nowSeconds)
        if (session === null) return null
        const rows = await eraseSessionEvidence(transaction, session, { actor, privateComment: null }, nowSeconds)
        const state = await readState(transaction, organizationId, sessionId)
        return state === null ? null : { state, obsoleteFiles: rows.map((row) => row.storageName) }
      }),

    /** Returns one piece of evidence and records the access atomically; null if it doesn't exist or was erased. */
    recordRead: (target: EvidenceTarget, evidenceId: string, actor: string): Promise<EvidenceRecord | null> =>
      scope.write(async (own) => {
        const { organizationId, sessionId } = target
        const record = await EVIDENCE.find(own, { ...keptOf(target), id: evidenceId })
        if (record === null) return null
        const read = { organizationId, sessionId, evidenceId, actor, readAtSeconds: scope.nowSeconds() }
        await READS.insert(own, { id: newOrderedId(), ...read })
        return record
      }),

    /** Returns the records of access, oldest first, which outlive the evidence. */
    listReads: ({ organizationId, sessionId }: EvidenceTarget) =>
      READS.list(scope, { organizationId, sessionId }, ['readAtSeconds', 'id']),
  }
}

// Reads the evidence of a session: an overview, and the typed values once it is opened, which the audit log records.
import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../api/client.ts'
import type { SessionDetail } from '../api/types.ts'
import { type Query, useQuery, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'

export type EvidenceList = AnswerOf<'GET /organizations/{organization}/sessions/{session}/evidence'>
export type Fields = AnswerOf<'POST /organizations/{organization}/sessions/{session}/evidence/fields'>

export interface OpenedEvidence {
  /** Overview of the evidence, without typed values. */
  readonly list: Query<EvidenceList>
  /** Typed values; null until they are read, and if there are none. */
  readonly fields: Query<Fields | null>
  readonly isOpen: boolean
  readonly open: () => void
}

/** Open at once if the session awaits a decision; otherwise on request. */
export const useEvidence = (session: SessionDetail): OpenedEvidence => {
  const { params } = useWorkplace()
  const [isOpen, setOpen] = useState(session.status === 'submitted')
  const path = { ...params, session: session.id }
  const list = useRead('GET /organizations/{organization}/sessions/{session}/evidence', { params: path })
  const isRead = isOpen && (list.value?.fields.length ?? 0) > 0
  const fields = useQuery(
    async (signal) =>
      isRead
        ? await call('POST /organizations/{organization}/sessions/{session}/evidence/fields', { params: path, signal })
        : null,
    [path, isRead],
  )
  return { list, fields, isOpen, open: () => setOpen(true) }
}

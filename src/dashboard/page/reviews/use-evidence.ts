// Typed values are read only when the reviewer opens the evidence, because the audit log records it.
import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../api/client.ts'
import type { SessionDetail } from '../api/types.ts'
import { type Query, useQuery, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'

export type EvidenceList = AnswerOf<'GET /organizations/{organization}/sessions/{session}/evidence'>
export type Fields = AnswerOf<'POST /organizations/{organization}/sessions/{session}/evidence/fields'>

export interface OpenedEvidence {
  /** Evidence without typed values. */
  readonly list: Query<EvidenceList>
  /** Null until the values are read, or if there are none. */
  readonly fields: Query<Fields | null>
  readonly isOpen: boolean
  readonly open: () => void
}

/** Evidence opens immediately if the session awaits a decision. */
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

// A draft survives navigation within the dashboard; closing the window shows a warning.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Revision, RevisionWithSource } from '../api/types.ts'
import { useLeaveWarning } from '../data/use-leave-warning.ts'
import { useWorkplace } from '../shell/session.ts'

interface Kept {
  readonly base: RevisionWithSource
  readonly text: string
}

/** Drafts by policy, kept until the window is closed. */
const kept = new Map<string, Kept>()

export interface Draft {
  readonly base: RevisionWithSource | null
  readonly text: string
  /** Incremented when another document replaces `text`. */
  readonly generation: number
  readonly changed: boolean
  readonly error: unknown
  readonly write: (text: string) => void
  readonly open: (revisionId: string) => void
  readonly undo: () => void
  /** Must be called after the text is saved as this revision. */
  readonly saved: (revision: Revision) => void
}

/** @param newest base of a new draft; null while unknown */
export const useDraft = (policyId: string, newest: string | null): Draft => {
  const { params } = useWorkplace()
  const [state, setState] = useState<Kept | null>(kept.get(policyId) ?? null)
  const [generation, setGeneration] = useState(0)
  const [error, setError] = useState<unknown>(null)

  const set = (next: Kept): void => {
    if (next.text === next.base.source) kept.delete(policyId)
    else kept.set(policyId, next)
    setState(next)
    setError(null)
  }
  const replace = (next: Kept): void => {
    set(next)
    setGeneration((now) => now + 1)
  }
  const open = (revisionId: string): void => {
    call('GET /organizations/{organization}/policies/{policy}/revisions/{revision}', {
      params: { ...params, policy: policyId, revision: revisionId },
    }).then((base) => replace({ base, text: base.source }), setError)
  }
  const changed = state !== null && state.text !== state.base.source

  useEffect(() => {
    if (newest !== null && state === null) open(newest)
  }, [newest, state === null])

  useLeaveWarning(changed, 'window')

  return {
    base: state?.base ?? null,
    text: state?.text ?? '',
    changed,
    error,
    open,
    generation,
    undo: () => {
      if (state !== null) replace({ base: state.base, text: state.base.source })
    },
    write: (text) => {
      if (state !== null) set({ ...state, text })
    },
    saved: (revision) => {
      if (state !== null) set({ base: { ...revision, source: state.text }, text: state.text })
    },
  }
}

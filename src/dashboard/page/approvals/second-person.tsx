// Handles changes that need approval: repeats the call with the author's comment, and links to the request.
import { useEffect, useRef, useState } from 'preact/hooks'
import { onChangeWaits, onCommentNeeded } from '../api/client.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Notice } from '../ui/problem.tsx'

const CommentDialog = lazy(async () => (await import('./comment-dialog.tsx')).CommentDialog, { meanwhile: null })

export const ApprovalComment = () => {
  const [open, setOpen] = useState(false)
  const waiting = useRef<((comment: string | null) => void)[]>([])
  useEffect(
    () =>
      onCommentNeeded(() => {
        setOpen(true)
        return new Promise((resolve) => waiting.current.push(resolve))
      }),
    [],
  )
  if (!open) return null
  return (
    <CommentDialog
      onDone={(comment) => {
        setOpen(false)
        for (const resolve of waiting.current.splice(0)) resolve(comment)
      }}
    />
  )
}

/** Notice shown on a page after the user requested approval of a change, until the user leaves the page. */
export const ChangeWaits = ({ path }: { readonly path: string }) => {
  const [approvals, setApprovals] = useState<string | null>(null)
  const place = useRef<HTMLDivElement>(null)
  useEffect(
    () =>
      onChangeWaits((where) => {
        setApprovals(where)
        readWaitingAgain()
        requestAnimationFrame(() => place.current?.scrollIntoView({ block: 'nearest' }))
      }),
    [],
  )
  useEffect(() => setApprovals(null), [path])
  if (approvals === null) return null
  return (
    <div ref={place} class="change-waits">
      <Notice
        title="This change awaits approval"
        urgent
        actions={
          <>
            <ButtonLink small href={approvals}>
              View approvals
            </ButtonLink>
            <IconButton icon="cross" label="Dismiss" onClick={() => setApprovals(null)} />
          </>
        }
      >
        <p>Nothing has changed yet. The request expires after a week.</p>
      </Notice>
    </div>
  )
}

// A change that a second person has to approve: whoever asks for it says why, and the page says where it waits. The call that
// needs it waits for the answer and is then made again, so that no page has to know which calls these are.
import { useEffect, useRef, useState } from 'preact/hooks'
import { onChangeWaits, onCommentNeeded } from '../api/client.ts'
import { readWaitingAgain } from '../shell/waiting.ts'
import { ButtonLink, IconButton } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Notice } from '../ui/problem.tsx'

const CommentDialog = lazy(async () => (await import('./comment-dialog.tsx')).CommentDialog, { meanwhile: null })

/** Asks for the comment, wherever a change turns out to need a second person. */
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

/** Above a page, until it is left: something that was asked for on it waits. @param path of the page */
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
        title="It waits for a second person"
        urgent
        actions={
          <>
            <ButtonLink small href={approvals}>
              See it under Approvals
            </ButtonLink>
            <IconButton icon="cross" label="Close this notice" onClick={() => setApprovals(null)} />
          </>
        }
      >
        <p>Nothing has changed yet. It lapses after a week.</p>
      </Notice>
    </div>
  )
}

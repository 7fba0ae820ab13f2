// Leaves a shared device: deletes the typed values, then this browser's access.
import { useState } from 'preact/hooks'
import type { SessionCalls } from '../api.ts'
import { forgetBegun } from '../begun.ts'
import { keepDraft } from '../details/draft.ts'
import { useMessages } from '../language.ts'
import { problemText } from '../problem-text.ts'
import { Icon } from '../ui/icons.tsx'
import { Button, Notice, Screen } from '../ui/parts.tsx'

interface LeaveProps {
  readonly calls: Pick<SessionCalls, 'leave'>
  readonly sessionId: string
  readonly organizationName: string
  readonly onStay: () => void
  readonly onLeft: () => void
}

const Emblem = () => (
  <div class="emblem emblem-plain">
    <Icon name="lock" size={40} />
  </div>
)

export const Leave = ({ calls, sessionId, organizationName, onStay, onLeft }: LeaveProps) => {
  const messages = useMessages()
  const { leave, common } = messages
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)

  const go = async (): Promise<void> => {
    setBusy(true)
    setFailure(null)
    // Local data is removed first, because this works without a network.
    keepDraft(sessionId, null)
    forgetBegun(sessionId)
    try {
      await calls.leave()
      onLeft()
    } catch (error) {
      setFailure(problemText(error, messages))
      setBusy(false)
    }
  }

  return (
    <Screen
      emblem={<Emblem />}
      title={leave.title}
      lead={leave.text}
      actions={
        <>
          <Button kind="quiet" onClick={onStay}>
            {common.cancel}
          </Button>
          <Button kind="primary" busy={busy} onClick={() => void go()}>
            {leave.action}
          </Button>
        </>
      }
    >
      {failure !== null && (
        <Notice tone="bad" urgent title={leave.failed}>
          <p>{failure}</p>
        </Notice>
      )}
      <p>{leave.goOn(organizationName)}</p>
    </Screen>
  )
}

export const Left = () => {
  const { leave } = useMessages()
  return (
    <Screen emblem={<Emblem />} title={leave.leftTitle} lead={leave.leftText}>
      <p>{leave.leftDo}</p>
    </Screen>
  )
}

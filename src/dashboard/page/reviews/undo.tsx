// What an organization admin may do beyond a decision: take a completed session back, and erase what was handed in.

import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { SessionDetail } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useWorkplace } from '../shell/session.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { RadioField, TextArea, TextField } from '../ui/field.tsx'
import { say } from '../ui/toast.tsx'
import { REASON_NEEDED } from './reasons.ts'

interface DialogProps {
  readonly session: SessionDetail
  readonly onClose: () => void
}

const oneLine = (text: string): string | null => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line === '' ? null : line
}

export const Revoke = ({
  session,
  onClose,
  onDone,
}: DialogProps & { readonly onDone: (session: SessionDetail) => void }) => {
  const { params } = useWorkplace()
  const form = useForm({
    check: (values): Readonly<Record<string, string>> =>
      values.status === 'retry' ||
      [values.public_comment, values.private_comment].some((text) => oneLine(text) !== null)
        ? {}
        : {
            public_comment: REASON_NEEDED,
          },
    initial: { status: 'rejected' as 'rejected' | 'retry', public_comment: '', private_comment: '' },
    submit: async ({ status, public_comment: toPerson, private_comment: toColleagues }) => {
      const answer = await call('POST /organizations/{organization}/sessions/{session}/revoke', {
        params: { ...params, session: session.id },
        body: {
          status,
          sequence: session.sequence,
          public_comment: oneLine(toPerson),
          private_comment: oneLine(toColleagues),
        },
      })
      say('Session revoked')
      onDone(answer)
      onClose()
    },
  })
  return (
    <FormDialog title="Revoke the session" form={form} submitLabel="Revoke now" submitKind="danger" onClose={onClose}>
      <p class="soft">
        {counted(session.wallets.length, 'wallet stops', 'wallets stop')} being verified within a second, and your
        backend is told.
      </p>
      <RadioField
        legend="What becomes of it"
        name="status"
        value={form.values.status}
        onValue={(value) => form.set('status', value === 'retry' ? 'retry' : 'rejected')}
        choices={[
          { value: 'rejected', label: 'Rejected', hint: 'Final: the session can’t be opened again.' },
          { value: 'retry', label: 'Sent back', hint: 'The person may change it and hand it in again.' },
        ]}
      />
      <TextArea
        label="To the person"
        optional={form.values.status === 'retry'}
        rows={3}
        {...form.text('public_comment')}
      />
      <TextArea label="For colleagues" optional rows={2} {...form.text('private_comment')} />
    </FormDialog>
  )
}

const WORD = 'erase'

export const Erase = ({ session, onClose, onDone }: DialogProps & { readonly onDone: () => void }) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: { word: '' },
    check: ({ word }): Readonly<Record<string, string>> =>
      word.trim().toLowerCase() === WORD ? {} : { word: `Type ${WORD} to confirm.` },
    submit: async () => {
      const { erased } = await call('POST /organizations/{organization}/sessions/{session}/evidence/erase', {
        params: { ...params, session: session.id },
      })
      say(erased === 0 ? 'There was nothing to erase' : 'Evidence erased')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog
      title="Erase the evidence"
      form={form}
      submitLabel="Erase for good"
      submitKind="danger"
      onClose={onClose}
    >
      <p class="soft">
        What was typed and every document of this session go for good: their keys are destroyed, then the files. No
        backup brings them back. The decision, the wallets and the history stay.
        {session.status === 'submitted' && ' It waits for a decision: without its evidence it can not be completed.'}
      </p>
      <TextField label={`Type “${WORD}” to confirm`} input={{ autofocus: true }} {...form.text('word')} />
    </FormDialog>
  )
}

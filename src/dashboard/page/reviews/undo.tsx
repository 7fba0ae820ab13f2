import { counted } from '../../../lib/counted.ts'
import { call } from '../api/client.ts'
import type { SessionDetail } from '../api/types.ts'
import { type Action, action } from '../ui/actions.tsx'
import { REASON_NEEDED } from './reasons.ts'

const oneLine = (text: string | null): string | null => text?.replaceAll(/\s+/g, ' ') ?? null

interface Params {
  readonly organization: string
  readonly session: string
}

export const revoke = (session: SessionDetail, params: Params, onDone: (session: SessionDetail) => void): Action =>
  action({
    label: 'Revoke',
    icon: 'turn',
    danger: true,
    title: 'Revoke session',
    submit: 'Revoke session',
    text: `${counted(session.wallets.length, 'wallet loses', 'wallets lose')} verification within a second, and your backend is notified.`,
    fields: {
      status: {
        label: 'New status',
        radio: true,
        choices: {
          rejected: ['Rejected', 'Final: the session can’t be reopened.'],
          retry: ['Sent back', 'The person can change and resubmit it.'],
        },
      },
      public_comment: { label: 'Message to the person', rows: 3, nullable: true },
      private_comment: { label: 'Internal note', rows: 2, nullable: true },
    },
    check: ({ status, public_comment, private_comment }) =>
      status === 'retry' || public_comment !== null || private_comment !== null
        ? {}
        : { public_comment: REASON_NEEDED },
    run: async ({ status, public_comment, private_comment }) =>
      onDone(
        await call('POST /organizations/{organization}/sessions/{session}/revoke', {
          params,
          body: {
            status,
            sequence: session.sequence,
            public_comment: oneLine(public_comment),
            private_comment: oneLine(private_comment),
          },
        }),
      ),
    done: 'Session revoked',
  })

export const erase = (session: SessionDetail, params: Params, onDone: () => void): Action =>
  action({
    label: 'Erase evidence',
    icon: 'trash',
    danger: true,
    title: 'Erase evidence',
    submit: 'Erase permanently',
    text: `The form data and all documents are erased permanently: first their keys are destroyed, then the files. Backups can’t restore them. The decision, wallets and history remain.${
      session.status === 'submitted' ? ' The session awaits a decision and can’t be completed without evidence.' : ''
    }`,
    fields: { word: { label: 'Type “erase” to confirm', pattern: [/^erase$/i, 'Type erase to confirm.'] } },
    run: () => call('POST /organizations/{organization}/sessions/{session}/evidence/erase', { params }),
    done: ({ erased }) => {
      onDone()
      return erased === 0 ? 'There was no evidence to erase' : 'Evidence erased'
    },
  })

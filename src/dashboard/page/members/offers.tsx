// Who was asked to become a member and has not answered yet. Shown only while there is someone.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { MemberOffer, OneTimeLink } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useForm } from '../data/use-form.ts'
import type { Pages } from '../data/use-pages.ts'
import { ROLE_WORDS, useWorkplace } from '../shell/session.ts'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { RowMenu } from '../ui/menu.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { RoleField } from './roles.tsx'

interface DialogProps {
  readonly offer: MemberOffer
  readonly onClose: () => void
  readonly onDone: () => void
}

const ChangeOffer = ({ offer, onClose, onDone }: DialogProps) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: { role: offer.role },
    submit: async (body): Promise<void> => {
      await call('PATCH /organizations/{organization}/member-offers/{offer}', {
        params: { ...params, offer: offer.id },
        body,
      })
      say('Role changed')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog title={`Role for ${offer.email}`} form={form} submitLabel="Change the role" onClose={onClose}>
      <RoleField value={form.values.role} onRole={(role) => form.set('role', role)} />
    </FormDialog>
  )
}

const WithdrawOffer = ({ offer, onClose, onDone }: DialogProps) => {
  const { params } = useWorkplace()
  const action = useAction(async () => {
    await call('DELETE /organizations/{organization}/member-offers/{offer}', {
      params: { ...params, offer: offer.id },
    })
    say('Taken back')
    onDone()
    onClose()
  })
  return (
    <ConfirmDialog
      title={`Take back the question to ${offer.email}?`}
      confirmLabel="Take it back"
      action={action}
      onClose={onClose}
    >
      <p>The link that you sent them stops working.</p>
    </ConfirmDialog>
  )
}

interface OffersProps {
  readonly pages: Pages<MemberOffer>
  readonly onLink: (link: OneTimeLink) => void
}

export const Offers = ({ pages, onLink }: OffersProps) => {
  const { params, may } = useWorkplace()
  const [dialogAction, setDialogAction] = useState<{
    readonly kind: 'role' | 'withdraw'
    readonly offer: MemberOffer
  } | null>(null)
  const renew = useAction(async ({ id: offer }: MemberOffer) => {
    onLink(
      await call('POST /organizations/{organization}/member-offers/{offer}/link', { params: { ...params, offer } }),
    )
    pages.reload()
  })
  const close = (): void => setDialogAction(null)
  return (
    <>
      <Problem error={renew.failure} />
      {pages.items !== null && pages.items.length > 0 && (
        <Card
          flush
          title="Asked, not yet members"
          text="They have an account already: they become members when they open their link, sign in and accept."
        >
          <PagedTable<MemberOffer>
            caption="Asked, not yet members"
            pages={pages}
            rowKey={({ id }) => id}
            columns={[
              { label: 'Email', cell: ({ email }) => <strong>{email}</strong> },
              { label: 'Role', cell: ({ role }) => ROLE_WORDS[role] },
              { label: 'Asked by', cell: ({ asked_by_name: name }) => name },
              { label: 'Asked', narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
              { label: 'Ends', narrow: true, cell: ({ expires_at: at }) => <Time at={at} /> },
              {
                label: '',
                align: 'end',
                narrow: true,
                cell: (offer) =>
                  may('organization-admin') && (
                    <RowMenu
                      label={`Actions for ${offer.email}`}
                      items={[
                        {
                          label: 'Change the role…',
                          icon: 'person',
                          onSelect: () => setDialogAction({ kind: 'role', offer }),
                        },
                        { label: 'Make another link', icon: 'link', onSelect: () => renew.run(offer) },
                        {
                          label: 'Take it back…',
                          icon: 'trash',
                          danger: true,
                          onSelect: () => setDialogAction({ kind: 'withdraw', offer }),
                        },
                      ]}
                    />
                  ),
              },
            ]}
            empty={null}
          />
        </Card>
      )}
      {dialogAction?.kind === 'role' && (
        <ChangeOffer offer={dialogAction.offer} onClose={close} onDone={pages.reload} />
      )}
      {dialogAction?.kind === 'withdraw' && (
        <WithdrawOffer offer={dialogAction.offer} onClose={close} onDone={pages.reload} />
      )}
    </>
  )
}

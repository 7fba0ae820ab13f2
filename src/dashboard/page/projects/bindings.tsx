// Which contracts and programs belong to a project: a request that names only its target is decided by the project that
// the target is bound to.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Binding, Project } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useDeployment } from '../data/use-deployment.ts'
import { useForm } from '../data/use-form.ts'
import { useList } from '../data/use-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Card, Empty } from '../ui/parts.tsx'
import { PagedTable } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'

interface DialogProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

const LABEL_MAX = 100
const LABEL_HINT = 'What people call it, as “Router”. Shown beside the address wherever a decision is about it.'

const LabelAddress = ({ binding, onClose, onDone }: DialogProps & { readonly binding: Binding }) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: { label: binding.label ?? '' },
    submit: async ({ label }): Promise<void> => {
      await call('PATCH /organizations/{organization}/bindings/{binding}', {
        params: { ...params, binding: binding.id },
        body: { label: label.trim() || null },
      })
      say('Label saved')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog title={`Label on ${binding.chain}`} form={form} submitLabel="Save it" onClose={onClose}>
      <p class="confirm-text">
        <code>{binding.address}</code>
      </p>
      <TextField
        {...form.text('label')}
        label="Label"
        hint={`${LABEL_HINT} Empty: none.`}
        input={{ maxLength: LABEL_MAX, autofocus: true }}
      />
    </FormDialog>
  )
}

const BindAddress = ({ project, onClose, onDone }: DialogProps & { readonly project: Project }) => {
  const { params } = useWorkplace()
  const deployment = useDeployment()
  const form = useForm({
    initial: { chain: '', address: '', label: '' },
    check: ({ chain, address }) => ({
      ...(chain === '' ? { chain: 'Choose a chain.' } : {}),
      ...(address.trim() === '' ? { address: 'Enter the address.' } : {}),
    }),
    submit: async ({ chain, address, label }): Promise<void> => {
      await call('POST /organizations/{organization}/bindings', {
        params,
        body: {
          project_id: project.id,
          chain,
          address: address.trim(),
          ...(label.trim() === '' ? {} : { label: label.trim() }),
        },
      })
      say('Address bound')
      onDone()
      onClose()
    },
  })
  return (
    <FormDialog title="Bind a contract or program" form={form} submitLabel="Bind it" onClose={onClose}>
      <SelectField
        {...form.text('chain')}
        label="Chain"
        choices={[
          { value: '', label: 'Choose one' },
          ...(deployment.value?.chains ?? []).map(({ name, chain_id: id }) => ({
            value: name,
            label: id === null ? name : `${name} (${id})`,
          })),
        ]}
      />
      <TextField
        {...form.text('address')}
        label="Address"
        mono
        hint="0x… for EVM chains, base58 for Solana."
        input={{ maxLength: 100 }}
      />
      <TextField {...form.text('label')} label="Label" optional hint={LABEL_HINT} input={{ maxLength: LABEL_MAX }} />
    </FormDialog>
  )
}

const Unbind = ({ binding, onClose, onDone }: DialogProps & { readonly binding: Binding }) => {
  const { params } = useWorkplace()
  const action = useAction(async () => {
    await call('DELETE /organizations/{organization}/bindings/{binding}', {
      params: { ...params, binding: binding.id },
    })
    say('Binding removed')
    onDone()
    onClose()
  })
  return (
    <ConfirmDialog title="Remove this binding?" confirmLabel="Remove the binding" action={action} onClose={onClose}>
      <p>
        Requests that name only {binding.label !== null && `${binding.label}, `}
        <code>{binding.address}</code> on {binding.chain} find no policy from then on, and are refused. Requests with
        the verification hash go on as before.
      </p>
    </ConfirmDialog>
  )
}

export const Bindings = ({ project }: { readonly project: Project }) => {
  const { params, may } = useWorkplace()
  const mayChange = may('organization-admin')
  const [adding, setAdding] = useState(false)
  const [labelling, setLabelling] = useState<Binding | null>(null)
  const [removing, setRemoving] = useState<Binding | null>(null)
  const pages = useList('GET /organizations/{organization}/bindings', { params, query: { project_id: project.id } })
  return (
    <Card
      flush
      title="Contracts and programs"
      text="A request that names one of these as its target needs no verification hash."
      actions={
        mayChange && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Bind an address
          </Button>
        )
      }
    >
      <PagedTable<Binding>
        caption="Contracts and programs of this project"
        pages={pages}
        rowKey={({ id }) => id}
        columns={{
          Label: (binding) => (
            <>
              {binding.label ?? (!mayChange && <span class="faint">none</span>)}{' '}
              {mayChange && (
                <Button kind="quiet" small onClick={() => setLabelling(binding)}>
                  {binding.label === null ? 'Add a label' : 'Change'}
                  <span class="sr-only">
                    : {binding.address} on {binding.chain}
                  </span>
                </Button>
              )}
            </>
          ),
          Address: ({ address }) => <Copyable text={address} label="address" />,
          Chain: ({ chain }) => chain,
          Bound: { narrow: true, cell: ({ created_at: at }) => <Time at={at} /> },
          '': (binding) =>
            mayChange && (
              <IconButton
                icon="trash"
                label={`Remove ${binding.address} on ${binding.chain}`}
                onClick={() => setRemoving(binding)}
              />
            ),
        }}
        empty={
          <Empty icon="link" title="Nothing is bound yet">
            <p>
              Bind your contract or program to this project, chain by chain. The same address on another chain may
              belong to another project.
            </p>
          </Empty>
        }
      />
      {adding && <BindAddress project={project} onClose={() => setAdding(false)} onDone={pages.reload} />}
      {labelling !== null && (
        <LabelAddress binding={labelling} onClose={() => setLabelling(null)} onDone={pages.reload} />
      )}
      {removing !== null && <Unbind binding={removing} onClose={() => setRemoving(null)} onDone={pages.reload} />}
    </Card>
  )
}

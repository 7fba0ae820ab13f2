// Making a project, and changing one: its name, its policy, how long its attestations are valid.
import { useEffect } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Project } from '../api/types.ts'
import { type Form, useForm } from '../data/use-form.ts'
import { useSearchParam } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Notice } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import type { Policies } from './policies.ts'

const LIFETIME_DEFAULT = '300'

interface Values {
  readonly name: string
  readonly policy_id: string
  readonly lifetime_seconds: string
  readonly verification_hash: string
}

const check = ({ name, policy_id, lifetime_seconds }: Values) => {
  const lifetime = Number(lifetime_seconds)
  return {
    ...(name.trim() === '' ? { name: 'Give it a name.' } : {}),
    ...(policy_id === '' ? { policy_id: 'Choose a policy.' } : {}),
    ...(Number.isInteger(lifetime) && lifetime >= 10 && lifetime <= 3600
      ? {}
      : { lifetime_seconds: 'A whole number from 10 to 3600.' }),
  }
}

const Fields = ({ form, policies }: { readonly form: Form<Values>; readonly policies: Policies }) => (
  <>
    <TextField {...form.text('name')} label="Name" input={{ maxLength: 100, autofocus: true }} />
    {policies.ofRequests?.length === 0 ? (
      <Notice tone="warn" title="There is no policy yet">
        <p>A project needs one that decides. Make a policy first, from one of the templates.</p>
      </Notice>
    ) : (
      <SelectField
        {...form.text('policy_id')}
        label="Policy"
        hint="Decides for every request of this project. Can be changed at any time."
        choices={[
          { value: '', label: policies.ofRequests === null ? 'Loading…' : 'Choose one' },
          ...(policies.ofRequests ?? []).map(({ id, name, active_revision_id: active }) => ({
            value: id,
            label: active === null ? `${name} (nothing active yet)` : name,
          })),
        ]}
      />
    )}
    <TextField
      {...form.text('lifetime_seconds')}
      label="Attestations are valid for (seconds)"
      type="number"
      hint="Long enough for a person to send the transaction, short enough that a change of mind counts."
      input={{ min: 10, max: 3600 }}
    />
  </>
)

interface CreateProps {
  readonly policies: Policies
  readonly onClose: () => void
  readonly onCreated: (project: Project) => void
}

export const CreateProject = ({ policies, onClose, onCreated }: CreateProps) => {
  const { params } = useWorkplace()
  const form = useForm<Values>({
    initial: { name: '', policy_id: '', lifetime_seconds: LIFETIME_DEFAULT, verification_hash: '' },
    check,
    submit: async ({ name, policy_id, lifetime_seconds, verification_hash }): Promise<void> => {
      const project = await call('POST /organizations/{organization}/projects', {
        params,
        body: {
          name: name.trim(),
          policy_id,
          lifetime_seconds: Number(lifetime_seconds),
          ...(verification_hash.trim() === '' ? {} : { verification_hash: verification_hash.trim() }),
        },
      })
      say('Project made')
      onCreated(project)
    },
  })
  // Of the address, where a policy leads here; else the only one there is.
  const [named] = useSearchParam('policy')
  const all = policies.ofRequests ?? []
  const wanted = all.find(({ id }) => id === named) ?? (all.length === 1 ? all[0] : undefined)
  const { policy_id, name } = form.values
  const { set } = form
  useEffect(() => {
    if (wanted === undefined || policy_id !== '') return
    set('policy_id', wanted.id)
    if (name === '') set('name', wanted.name)
  }, [wanted?.id, policy_id, set])
  return (
    <FormDialog title="Make a project" form={form} submitLabel="Make the project" onClose={onClose}>
      <Fields form={form} policies={policies} />
      <TextField
        {...form.text('verification_hash')}
        label="Verification hash"
        optional
        mono
        hint="Only to keep one that contracts already carry: x- and 16 to 62 lower-case hex digits. Left empty, one is made."
        input={{ maxLength: 64 }}
      />
    </FormDialog>
  )
}

interface ChangeProps {
  readonly project: Project
  readonly policies: Policies
  readonly onClose: () => void
  readonly onChanged: (project: Project) => void
}

export const ChangeProject = ({ project, policies, onClose, onChanged }: ChangeProps) => {
  const { params } = useWorkplace()
  const form = useForm<Values>({
    initial: {
      name: project.name,
      policy_id: project.policy_id,
      verification_hash: '',
      lifetime_seconds: String(project.lifetime_seconds),
    },
    check,
    submit: async ({ name, policy_id, lifetime_seconds }): Promise<void> => {
      const changed = await call('PATCH /organizations/{organization}/projects/{project}', {
        params: { ...params, project: project.id },
        body: { name: name.trim(), policy_id, lifetime_seconds: Number(lifetime_seconds) },
      })
      say('Project changed')
      onChanged(changed)
      onClose()
    },
  })
  return (
    <FormDialog title={`Change ${project.name}`} form={form} submitLabel="Change the project" onClose={onClose}>
      <Fields form={form} policies={policies} />
      <p class="soft">Live within a second. The verification hash stays: contracts carry it.</p>
    </FormDialog>
  )
}

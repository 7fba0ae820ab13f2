// A request that names one of a project's contracts or programs needs no verification hash.
import { call } from '../api/client.ts'
import type { Binding, Project } from '../api/types.ts'
import { useDeployment } from '../data/use-deployment.ts'
import { useList } from '../data/use-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { action } from '../ui/actions.tsx'
import { Copyable } from '../ui/copy.tsx'
import { ResourceCard } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'

const LABEL = {
  label: 'Label',
  hint: 'Such as “Router”. Shown next to the address in decisions.',
  maxLength: 100,
} as const

export const Bindings = ({ project }: { readonly project: Project }) => {
  const { params, may } = useWorkplace()
  const chains = useDeployment().value?.chains ?? []
  return (
    <ResourceCard<Binding>
      title="Contracts and programs"
      text="Requests to these targets need no verification hash."
      pages={useList('GET /organizations/{organization}/bindings', { params, query: { project_id: project.id } })}
      rowKey={({ id }) => id}
      name={({ address, chain }) => `${address} on ${chain}`}
      columns={{
        Address: ({ address }) => <Copyable text={address} label="address" />,
        Chain: ({ chain }) => chain,
        Label: ({ label }) => label,
        Added: time('created_at'),
      }}
      mayChange={may('organization-admin')}
      create={action({
        label: 'Add address',
        title: 'Add contract or program',
        submit: 'Add',
        fields: {
          chain: {
            label: 'Chain',
            choices: {
              '': 'Select a chain',
              ...Object.fromEntries(
                chains.map(({ name, chain_id: id }) => [name, id === null ? name : `${name} (${id})`]),
              ),
            },
          },
          address: { label: 'Address', hint: '0x… for EVM chains, base58 for Solana.', mono: true, maxLength: 100 },
          label: { ...LABEL, optional: true },
        },
        run: (body) =>
          call('POST /organizations/{organization}/bindings', { params, body: { ...body, project_id: project.id } }),
        done: 'Address added',
      })}
      actions={({ id, address, chain, label }) => {
        const one = { ...params, binding: id }
        return [
          action({
            label: 'Edit label',
            icon: 'settings',
            title: `Label on ${chain}`,
            text: address,
            submit: 'Save',
            fields: { label: { ...LABEL, nullable: true, value: label } },
            run: (body) => call('PATCH /organizations/{organization}/bindings/{binding}', { params: one, body }),
            done: 'Label saved',
          }),
          {
            label: 'Remove',
            icon: 'trash',
            danger: true,
            title: 'Remove this address?',
            submit: 'Remove address',
            text: `The service refuses requests that name only ${label === null ? '' : `${label}, `}${address} on ${chain}. Requests with the verification hash are not affected.`,
            run: () => call('DELETE /organizations/{organization}/bindings/{binding}', { params: one }),
            done: 'Address removed',
          },
        ]
      }}
      empty={[
        'link',
        'No contracts or programs',
        'Add your contracts and programs chain by chain. The same address on another chain can belong to another project.',
      ]}
    />
  )
}

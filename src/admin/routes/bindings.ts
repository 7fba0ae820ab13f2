import { parseAddress, type WalletAddress } from '../../domain/address.ts'
import { FieldInvalidError } from '../../domain/errors.ts'
import { walletAddressText } from '../../domain/wallet.ts'
import type { Binding } from '../../store/organizations/bindings.ts'
import type { FieldOverride } from '../command-override.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { requireFound } from '../errors.ts'
import { requirePolicy } from '../policies/find.ts'
import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, label, named, nullable, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { shown } from '../shown.ts'
import { FIND_PROJECT, policyText, projectText, requireProject } from './projects.ts'

const route = declareRoutes('Bindings')

const BINDING = named(
  'Binding',
  closed({
    id: Type.String(),
    project_id: Type.String(),
    chain: Type.String(),
    address: Type.String({ description: 'Address in EIP-55 format for EVM, or in base58 for Solana' }),
    label: nullable(Type.String({ description: 'Label of the contract or program' })),
    created_at: time(),
  }),
  ['id', 'chain', 'address', 'label', 'project_id'],
)

const showBinding = (binding: Binding) =>
  shown(BINDING, binding, {
    chain: binding.chainName,
    address: walletAddressText(binding.address as WalletAddress),
  })

const FIND_BINDING: FieldOverride = { find: { in: 'listBindings', by: ['id', 'address'], narrows: true } }

const LABEL = label('Label of the contract or program, for example `Router`')

const contractText = (contract: { readonly label: string | null; readonly address: string; readonly chain: string }) =>
  `${contract.label === null ? '' : `${contract.label}, `}${contract.address} on ${contract.chain}`

export const BINDING_ROUTES = [
  route('listBindings', 'GET', '/organizations/{organization}/bindings', {
    access: VIEWER,
    command: { fields: { project_id: FIND_PROJECT } },
    summary: 'List bound contracts and programs, oldest first',
    query: Type.Object({
      ...PAGE_QUERY,
      project_id: Type.Optional(Type.String({ maxLength: 100 })),
      chain: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    answer: pageOf(BINDING),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.bindings.page(
          {
            organizationId: organization.id,
            ...(query.project_id === undefined ? {} : { projectId: query.project_id }),
            ...(query.chain === undefined ? {} : { chainName: query.chain }),
          },
          pageRequest(query, ['number', 'string']),
        ),
        showBinding,
      ),
  }),
  route('bindAddress', 'POST', '/organizations/{organization}/bindings', {
    access: ORGANIZATION_ADMIN,
    command: { fields: { project_id: FIND_PROJECT } },
    summary: 'Bind a contract or program to a project',
    body: closed({
      project_id: Type.String({ maxLength: 100 }),
      chain: Type.String({ maxLength: 100, description: 'Name of the chain, for example base or solana' }),
      address: Type.String({ maxLength: 100 }),
      label: Type.Optional(LABEL),
    }),
    status: 201,
    answer: BINDING,
    errors: [409],
    secondPerson: {
      action: 'binding.create',
      see: async (tables, { organization, body }) => {
        const project = await requireProject(tables, organization.id, body.project_id)
        const policy = await requirePolicy(tables, organization.id, project.policyId)
        return {
          subject: body.address,
          name: contractText({ label: body.label ?? null, address: body.address, chain: body.chain }),
          changes: [
            { what: 'project', before: null, after: projectText(project) },
            { what: 'policy', before: null, after: policyText(policy) },
            { what: 'lifetime in seconds', before: null, after: String(project.lifetimeSeconds) },
          ],
          basis: [policy.id, policy.activeRevisionId, project.lifetimeSeconds],
        }
      },
    },
    handle: ({ services, organization, body, write }) => {
      const chain = services.chains.byName(body.chain)
      if (chain === undefined) {
        const names = services.chains.chains.map(({ name }) => name).join(', ')
        throw new FieldInvalidError('chain', `must be one of ${names}`)
      }
      const address = parseAddress(chain.family, body.address)
      if (address === null) throw new FieldInvalidError('address', `must be a valid address on ${chain.name}`)
      return write(async (tables, note) => {
        const project = await requireProject(tables, organization.id, body.project_id)
        const binding = await tables.bindings.create({
          organizationId: organization.id,
          projectId: body.project_id,
          chainName: chain.name,
          address,
          label: body.label ?? null,
        })
        const { id, created_at: _at, ...detail } = showBinding(binding)
        note({ action: 'binding.create', subject: id, detail: { ...detail, project: project.name } })
        return showBinding(binding)
      })
    },
  }),
  route('labelAddress', 'PATCH', '/organizations/{organization}/bindings/{binding}', {
    access: ORGANIZATION_ADMIN,
    command: { fields: { binding: FIND_BINDING } },
    alone: 'texts',
    summary: 'Label a bound contract or program',
    body: closed({ label: nullable(LABEL) }),
    answer: BINDING,
    handle: ({ organization, params, body, write }) =>
      write(async (tables, note) => {
        const before = requireFound(await tables.bindings.find(organization.id, params.binding), 'binding')
        await tables.bindings.setLabel(organization.id, before.id, body.label)
        const { chain, address } = showBinding(before)
        note({
          action: 'binding.label',
          subject: before.id,
          detail: { label: [before.label, body.label], chain, address },
        })
        return showBinding({ ...before, label: body.label })
      }),
  }),
  route('unbindAddress', 'DELETE', '/organizations/{organization}/bindings/{binding}', {
    access: ORGANIZATION_ADMIN,
    command: { fields: { binding: FIND_BINDING } },
    summary: 'Remove a binding',
    secondPerson: {
      action: 'binding.remove',
      see: async (tables, { organization, params }) => {
        const binding = requireFound(await tables.bindings.find(organization.id, params.binding), 'binding')
        const project = await requireProject(tables, organization.id, binding.projectId)
        return {
          subject: binding.id,
          name: contractText(showBinding(binding)),
          changes: [{ what: 'project', before: projectText(project), after: null }],
        }
      },
    },
    handle: async ({ organization, params, write }) => {
      await write(async (tables, note) => {
        const removed = requireFound(await tables.bindings.remove(organization.id, params.binding), 'binding')
        const project = await requireProject(tables, organization.id, removed.projectId)
        const { id, created_at: _at, ...detail } = showBinding(removed)
        note({ action: 'binding.remove', subject: id, detail: { ...detail, project: project.name } })
      })
      return undefined
    },
  }),
]

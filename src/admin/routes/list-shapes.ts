import { AUTHOR_LENGTH_MAX, LIST_KEEPERS } from '../../domain/list.ts'
import type { AddressList } from '../../store/lists/lists.ts'
import type { Organization } from '../../store/organizations/organizations.ts'
import { type Actor, authorName } from '../actor.ts'
import type { Write } from '../lists.ts'
import { DEPLOYMENT, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, oneOf, Type, time } from '../schema.ts'
import type { Services } from '../services.ts'
import { shown } from '../shown.ts'

/** An organization's lists and the deployment's shared lists have the same routes. */
export interface ListOwner<Prefix extends string> {
  readonly tag: string
  readonly prefix: Prefix
  readonly suffix: string
  readonly access: {
    readonly read: typeof VIEWER | typeof DEPLOYMENT
    readonly write: typeof ORGANIZATION_ADMIN | typeof DEPLOYMENT
  }
}

export const OWN_LISTS = {
  tag: 'Lists',
  prefix: '/organizations/{organization}',
  suffix: '',
  access: { read: VIEWER, write: ORGANIZATION_ADMIN },
} as const
export const SHARED_LISTS = {
  tag: 'Shared lists',
  prefix: '',
  suffix: 'Shared',
  access: { read: DEPLOYMENT, write: DEPLOYMENT },
} as const

export const LIST = named(
  'AddressList',
  closed({
    name: Type.String(),
    description: Type.String(),
    shared: Type.Boolean({
      description: 'Whether the list belongs to the deployment, so that the policies of all organizations can read it',
    }),
    entries: Type.Integer(),
    version: Type.Integer(),
    kept_by: oneOf(LIST_KEEPERS, '`screening`: wallets from a sanctions list'),
    confirmed_at: Type.Union([Type.String(), Type.Null()], {
      description: 'Time when the source last confirmed the content; null before that, and for lists without a source',
    }),
    created_at: time(),
    updated_at: time(),
  }),
  ['name', 'shared', 'entries', 'updated_at', 'kept_by', 'confirmed_at'],
)

export const showList = (list: AddressList) =>
  shown(LIST, list, { shared: list.organizationId === null, entries: list.entryCount })

interface ListCall {
  readonly services: Services
  readonly organization: Organization | null
  readonly actor: Actor
  readonly write: Write
  readonly stillAllowed: () => Promise<boolean>
}

export const ownerOf = ({ organization }: Pick<ListCall, 'organization'>): string | null => organization?.id ?? null

export const editContext = ({ services, organization, actor, write, stillAllowed }: ListCall, name: string) => ({
  store: services.store,
  write,
  owner: ownerOf({ organization }),
  name,
  author: authorName(actor).slice(0, AUTHOR_LENGTH_MAX),
  nowSeconds: services.clock.unixSeconds(),
  stillAllowed,
  uploads: services.listUploads,
})

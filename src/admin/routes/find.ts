import { addressKey } from '../../domain/address-key.ts'
import { parseWalletAddress } from '../../domain/wallet.ts'
import { nextTurn } from '../../lib/time.ts'
import type { OrganizationRole } from '../../store/accounts/role.ts'
import { FOUND_KINDS } from '../../store/find.ts'
import { mayIn } from '../actor.ts'
import { walletOf } from '../decisions/filter.ts'
import { scopeBeyond } from '../rights.ts'
import { declareRoutes, VIEWER } from '../route.ts'
import { closed, oneOf, Type } from '../schema.ts'

const route = declareRoutes('Organizations')

const SESSIONS_MAX = 5
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const FIND_ROUTES = [
  route('findListsOfWallet', 'GET', '/organizations/{organization}/wallets/{wallet}/lists', {
    access: VIEWER,
    command: false,
    summary: 'List the organization’s and the shared lists that contain a wallet',
    answer: closed({ data: Type.Array(closed({ name: Type.String(), shared: Type.Boolean() })) }),
    handle: async ({ services: { store, listUploads }, organization, params }) => {
      const key = addressKey(walletOf('wallet', params.wallet))
      const data: { name: string; shared: boolean }[] = []
      await listUploads.read(organization.id, async () => {
        for (const list of [...(await store.lists.list(organization.id)), ...(await store.lists.list(null))]) {
          if ((await store.lists.findListed(list, [key])).size > 0)
            data.push({ name: list.name, shared: list.organizationId === null })
          await nextTurn()
        }
      })
      return { data }
    },
  }),
  route('find', 'GET', '/organizations/{organization}/find', {
    access: VIEWER,
    command: false,
    summary: 'Search an organization’s resources by part of a name, by ID or by wallet',
    description:
      'Returns a few results of each kind that the caller can view: webhooks only for organization admins, sessions (by ID or wallet) only for reviewers. A result of the kind `decisions` links to the wallet’s decisions.',
    query: Type.Object({ text: Type.String({ minLength: 1, maxLength: 100 }) }),
    answer: closed({
      found: Type.Array(
        closed({
          kind: oneOf([...FOUND_KINDS, 'session', 'decision', 'decisions']),
          id: Type.String({ description: 'ID of the result; for `decisions`, the wallet to search for' }),
          name: Type.String(),
          detail: Type.String({ description: 'Distinguishes results with the same name' }),
        }),
      ),
    }),
    errors: [503],
    handle: async ({ services, organization, actor, query }) => {
      const text = query.text.trim()
      const id = text.toLowerCase()
      const wallet = parseWalletAddress(text)
      const may = (needed: OrganizationRole): boolean => mayIn(actor, organization.id, needed)
      const isUuid = UUID.test(id)
      const [things, sessions, decision] = await Promise.all([
        text === ''
          ? []
          : services.store.find.find({
              text,
              may,
              organizationId: organization.id,
              withoutScope: scopeBeyond(actor, organization.id),
            }),
        !may('reviewer') || (wallet === null && !isUuid)
          ? []
          : services.store.sessions
              .page(
                { organizationId: organization.id, ...(wallet === null ? { id } : { wallet: wallet.address }) },
                { limit: SESSIONS_MAX, after: null },
              )
              .then(({ items }) => items),
        isUuid ? services.decisions.ask({ operation: 'find', organizationId: organization.id, uuid: id }) : null,
      ])
      return {
        found: [
          ...sessions.map((session) => ({
            kind: 'session' as const,
            id: session.id,
            name: session.id,
            detail: session.status,
          })),
          ...(decision === null || decision.record.kind === 'withheld'
            ? []
            : [{ kind: 'decision' as const, id, name: id, detail: '' }]),
          ...(wallet === null ? [] : [{ kind: 'decisions' as const, id: text, name: text, detail: '' }]),
          ...things,
        ],
      }
    },
  }),
]

import { DUTY_LIST_NAMES, LIST_NAME_RULE } from '../../domain/list.ts'
import { requireList, requireNotScreening } from '../lists.ts'
import { declareRoutes } from '../route.ts'
import { closed, Type } from '../schema.ts'
import { seeCreation, seeRemoval } from '../second-person/see-list.ts'
import { listEntryRoutes } from './list-entries.ts'
import { listFileRoutes } from './list-files.ts'
import { LIST, type ListOwner, OWN_LISTS, ownerOf, SHARED_LISTS, showList } from './list-shapes.ts'

const NAME = Type.String({ minLength: 1, maxLength: 64, description: LIST_NAME_RULE })

const listRoutes = <Prefix extends string>(owner: ListOwner<Prefix>) => {
  const { tag, prefix, suffix, access } = owner
  const route = declareRoutes(tag, prefix)
  return [
    route(`list${suffix}Lists`, 'GET', '/lists', {
      access: access.read,
      command: { deploymentFlag: 'shared' },
      summary: 'List the address lists by name',
      description: 'For an organization, also returns the shared lists.',
      answer: closed({ data: Type.Array(LIST) }),
      handle: async ({ services, organization }) => {
        const shared = await services.store.lists.list(null)
        const own = organization === null ? [] : await services.store.lists.list(organization.id)
        return { data: [...own, ...shared].map(showList) }
      },
    }),
    route(`create${suffix}List`, 'POST', '/lists', {
      access: access.write,
      command: { deploymentFlag: 'shared', fields: { name: { word: 'NAME' } } },
      summary: 'Create an empty list',
      description: 'An organization’s lists `allow` and `deny` are checked before its policies.',
      body: closed({ name: NAME, description: Type.Optional(Type.String({ maxLength: 200, printable: true })) }),
      status: 201,
      answer: LIST,
      errors: [409],
      secondPerson: {
        action: 'list.create',
        // A policy fails without its list, but not with an empty list. The allow and deny lists always exist for
        // policies.
        needs: (_tables, { organization, body }) =>
          organization !== null && DUTY_LIST_NAMES.includes(body.name) ? 'nothing' : 'second-person',
        see: (_tables, { organization, body }) => seeCreation(ownerOf({ organization }), body.name),
      },
      handle: ({ organization, body, write }) =>
        write(async (tables, note) => {
          const owner = ownerOf({ organization })
          const list = await tables.lists.create({ owner, name: body.name, description: body.description ?? '' })
          note({ action: 'list.create', subject: list.name, organizationId: owner })
          return showList(list)
        }),
    }),
    route(`read${suffix}List`, 'GET', '/lists/{list}', {
      access: access.read,
      command: { deploymentFlag: 'shared' },
      summary: 'Show a list',
      answer: LIST,
      handle: async ({ services, organization, params }) =>
        showList(await requireList(services.store, ownerOf({ organization }), params.list)),
    }),
    route(`remove${suffix}List`, 'DELETE', '/lists/{list}', {
      access: access.write,
      command: { deploymentFlag: 'shared' },
      summary: 'Delete a list with all its entries',
      description: 'Policies that read the list then fail.',
      secondPerson: {
        action: 'list.remove',
        see: (tables, { organization, params }) => seeRemoval(tables, ownerOf({ organization }), params.list),
      },
      handle: async ({ organization, params, write }) => {
        await write(async (tables, note) => {
          const owner = ownerOf({ organization })
          const list = await requireList(tables, owner, params.list)
          // Once the sanctions list is disabled, screening no longer writes this list.
          if (list.isOfSanctioned) requireNotScreening(list)
          await tables.lists.remove(owner, list.name)
          note({
            action: 'list.remove',
            subject: list.name,
            organizationId: owner,
            detail: { entries: list.entryCount },
          })
        })
        return undefined
      },
    }),
    ...listEntryRoutes(owner),
    ...listFileRoutes(owner),
  ]
}

export const LIST_ROUTES = [...listRoutes(OWN_LISTS), ...listRoutes(SHARED_LISTS)]

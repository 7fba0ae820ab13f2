import { DEFAULT_RATE_LIMIT } from '../../domain/api-key.ts'
import { LEVELS, type LevelName, levelName, parseLevel } from '../../domain/level.ts'
import type { Organization } from '../../store/organizations/organizations.ts'
import type { Tables } from '../../store/store.ts'
import { visibleOrganizations } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { requireFound } from '../errors.ts'
import { CALLER, DEPLOYMENT, declareRoutes, ORGANIZATION_ADMIN, SecretReply, VIEWER } from '../route.ts'
import { closed, label, named, oneOf, PAGE_QUERY, pageOf, partial, Type, time } from '../schema.ts'
import { beginRule } from '../second-person/approvers.ts'
import { change } from '../second-person/declaration.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Organizations')

const LEVEL = oneOf(
  Object.keys(LEVELS) as LevelName[],
  'Amount of evidence required. Wallets verified at a lower level do not count as verified',
)

const ORGANIZATION_FIELDS = {
  id: Type.String(),
  slug: Type.String({ description: 'Slug; paths accept it instead of the ID' }),
  name: Type.String(),
  level: LEVEL,
  created_at: time(),
}
const ORGANIZATION = named('Organization', closed(ORGANIZATION_FIELDS))
const CREATED_ORGANIZATION = named(
  'CreatedOrganization',
  closed({
    ...ORGANIZATION_FIELDS,
    admin_key: Type.Union([Type.String(), Type.Null()], {
      description: 'The requested key, shown only once; null if no key was requested or the request is retried',
    }),
  }),
  ['slug', 'id', 'level', 'created_at', 'name'],
)

const SETTINGS = named(
  'OrganizationSettings',
  closed({
    second_person: Type.Boolean({
      description: 'Whether changes that affect signing require a second person',
    }),
  }),
)

const showOrganization = (organization: Organization) =>
  shown(ORGANIZATION, organization, { level: levelName(organization.level) })

const reread = async (tables: Tables, id: string) => {
  const organization = requireFound(await tables.organizations.find(id), 'organization')
  return showOrganization(organization)
}

export const ORGANIZATION_ROUTES = [
  route('listOrganizations', 'GET', '/organizations', {
    access: CALLER,
    summary: 'List the organizations that the caller can view, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(ORGANIZATION),
    handle: async ({ services, actor, query }) =>
      pageAnswer(
        await services.store.organizations.page(visibleOrganizations(actor), pageRequest(query, ['number', 'string'])),
        showOrganization,
      ),
  }),
  route('createOrganization', 'POST', '/organizations', {
    access: DEPLOYMENT,
    command: { fields: { slug: { word: 'SLUG' } } },
    alone: 'new-organization',
    summary: 'Create an organization',
    fresh: ({ admin_key }) => admin_key === true,
    body: closed({
      slug: Type.String({
        pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
        rule: 'must be 1 to 63 lowercase letters, digits and hyphens, not starting with a hyphen',
        description: 'Slug, unique in the deployment',
      }),
      name: Type.Optional(label('Display name. Defaults to the slug')),
      level: Type.Optional(LEVEL),
      admin_key: Type.Optional(
        Type.Boolean({ description: 'Whether to create a first admin key for this organization' }),
      ),
    }),
    status: 201,
    answer: CREATED_ORGANIZATION,
    errors: [409],
    handle: async ({ body, write }) => {
      const { shown, key } = await write(async (tables, note) => {
        const { slug, name = slug } = body
        const level = body.level === undefined ? null : parseLevel(body.level)
        const created = await tables.organizations.create({ slug, name, ...(level === null ? {} : { level }) })
        const shown = showOrganization(created)
        note({
          action: 'organization.create',
          subject: created.id,
          organizationId: created.id,
          detail: { slug, name, level: shown.level },
        })
        if (body.admin_key !== true) return { shown, key: null }
        const issued = await tables.apiKeys.issue({
          organizationId: created.id,
          kind: 'admin',
          environment: 'live',
          name: 'first admin key',
          expiresAtSeconds: null,
          rateLimit: DEFAULT_RATE_LIMIT,
        })
        const { keyId } = issued.record
        note({ action: 'key.issue', subject: keyId, organizationId: created.id, detail: { kind: 'admin' } })
        return { shown, key: issued.text }
      })
      return new SecretReply(201, { ...shown, admin_key: key }, { ...shown, admin_key: null })
    },
  }),
  route('readOrganization', 'GET', '/organizations/{organization}', {
    access: VIEWER,
    summary: 'Show an organization',
    answer: ORGANIZATION,
    handle: async ({ organization }) => showOrganization(organization),
  }),
  route('changeOrganization', 'PATCH', '/organizations/{organization}', {
    access: ORGANIZATION_ADMIN,
    summary: 'Change an organization’s name or level',
    description: 'If you raise the level, wallets verified at a lower level stop counting as verified within a second.',
    body: partial({ name: label('Display name'), level: LEVEL }),
    answer: ORGANIZATION,
    secondPerson: {
      action: 'organization.level',
      needs: (_tables, { body }) => (body.level === undefined ? 'nothing' : 'second-person'),
      see: async (_tables, { organization, body }) => ({
        subject: organization.id,
        name: organization.name,
        changes: [
          ...change('name', organization.name, body.name),
          ...change('level', levelName(organization.level), body.level),
        ],
      }),
    },
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        const level = body.level === undefined ? null : parseLevel(body.level)
        if (body.name !== undefined) await tables.organizations.rename(organization.id, body.name)
        if (level !== null) await tables.organizations.setLevel(organization.id, level)
        const after = await reread(tables, organization.id)
        note({
          action: 'organization.change',
          subject: organization.id,
          detail: { name: [organization.name, after.name], level: [levelName(organization.level), after.level] },
        })
        return after
      }),
  }),

  route('readSettings', 'GET', '/organizations/{organization}/settings', {
    access: VIEWER,
    command: { name: 'second-person-rule show' },
    summary: 'Show whether changes in the organization require a second person',
    answer: SETTINGS,
    handle: async ({ services, organization }) => {
      const { secondPerson } = await services.store.organizationSettings.read(organization.id)
      return { second_person: secondPerson }
    },
  }),
  route('changeSettings', 'PATCH', '/organizations/{organization}/settings', {
    access: ORGANIZATION_ADMIN,
    command: { name: 'second-person-rule update', fields: { second_person: { option: 'required' } } },
    summary: 'Turn the second-person rule on or off',
    description:
      'Fails if fewer than two people could approve changes. Turning the rule on withdraws open membership offers. Turning it off requires a second person.',
    body: closed({ second_person: Type.Boolean({ description: 'Whether changes require a second person' }) }),
    answer: SETTINGS,
    errors: [409],
    secondPerson: {
      action: 'settings.second-person-off',
      needs: (_tables, { body }) => (body.second_person ? 'nothing' : 'second-person'),
      see: async (_tables, { organization }) => ({
        subject: organization.id,
        name: organization.name,
        changes: [{ what: 'second person', before: 'yes', after: 'no' }],
      }),
    },
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        const before = (await tables.organizationSettings.read(organization.id)).secondPerson
        if (before !== body.second_person) {
          if (body.second_person) await beginRule(tables, organization.id)
          // Nobody approved these offers.
          const withdrawn = body.second_person ? await tables.membershipOffers.withdrawAll(organization.id) : 0
          await tables.organizationSettings.setSecondPerson(organization.id, body.second_person)
          note({
            action: 'settings.second-person',
            subject: organization.id,
            detail: { second_person: [before, body.second_person], offers_withdrawn: withdrawn },
          })
        }
        return { second_person: body.second_person }
      }),
  }),
]

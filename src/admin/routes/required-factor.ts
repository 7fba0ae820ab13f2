import type { Tables } from '../../store/store.ts'
import { setSecondFactorRule } from '../accounts/required-factor.ts'
import type { Actor } from '../actor.ts'
import { DEPLOYMENT, declareRoutes, type Note, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, Type } from '../schema.ts'

const route = declareRoutes('Organizations')
const deployment = declareRoutes('Deployment')

const PATH = '/organizations/{organization}/second-factor-rule'
const DEPLOYMENT_PATH = '/deployment/second-factor-rule'

const RULE = named(
  'SecondFactorRule',
  closed({
    required: Type.Boolean({
      description: 'Whether people must add a second factor before they can access anything else',
    }),
  }),
)
const ORGANIZATION_RULE = named(
  'OrganizationSecondFactorRule',
  closed({
    required: Type.Boolean({ description: 'Whether this organization requires a second factor' }),
    required_everywhere: Type.Boolean({
      description: 'Whether the deployment requires a second factor for all accounts',
    }),
  }),
)
const DESCRIPTION =
  'If a second factor is required, requests from people without one fail with 403 `SECOND_FACTOR_MISSING`, except requests under ' +
  '`/me` that add one. Keys are not affected. Only a person with a second factor can turn this on.'

const change = async (tables: Tables, note: Note, actor: Actor, organizationId: string | null, required: boolean) => {
  const user = actor.kind === 'person' ? actor.user : null
  const { before } = await setSecondFactorRule(tables, { organizationId, required, user })
  if (before === required) return
  note({
    action: 'settings.second-factor',
    subject: organizationId ?? 'deployment',
    organizationId,
    detail: { required: [before, required] },
  })
}

export const REQUIRED_FACTOR_ROUTES = [
  route('readSecondFactorRule', 'GET', PATH, {
    access: VIEWER,
    summary: 'Show whether the organization requires a second factor',
    answer: ORGANIZATION_RULE,
    handle: async ({ services, organization }) => {
      const rules = await services.store.organizationSettings.readSecondFactorRules()
      return { required: rules.organizationIds.includes(organization.id), required_everywhere: rules.deployment }
    },
  }),
  route('changeSecondFactorRule', 'PUT', PATH, {
    access: ORGANIZATION_ADMIN,
    alone: 'factor-rule',
    summary: 'Turn the organization’s second-factor requirement on or off',
    description: DESCRIPTION,
    fresh: true,
    body: RULE,
    answer: ORGANIZATION_RULE,
    errors: [409],
    handle: ({ organization, actor, body, write }) =>
      write(async (tables, note) => {
        await change(tables, note, actor, organization.id, body.required)
        const { deployment } = await tables.organizationSettings.readSecondFactorRules()
        return { required: body.required, required_everywhere: deployment }
      }),
  }),
  deployment('readDeploymentSecondFactorRule', 'GET', DEPLOYMENT_PATH, {
    access: DEPLOYMENT,
    summary: 'Show whether the deployment requires a second factor for all accounts',
    answer: RULE,
    handle: async ({ services }) => ({
      required: (await services.store.organizationSettings.readSecondFactorRules()).deployment,
    }),
  }),
  deployment('changeDeploymentSecondFactorRule', 'PUT', DEPLOYMENT_PATH, {
    access: DEPLOYMENT,
    alone: 'factor-rule',
    summary: 'Turn the second-factor requirement for all accounts on or off',
    description: DESCRIPTION,
    fresh: true,
    body: RULE,
    answer: RULE,
    errors: [409],
    handle: ({ actor, body, write }) =>
      write(async (tables, note) => {
        await change(tables, note, actor, null, body.required)
        return { required: body.required }
      }),
  }),
]

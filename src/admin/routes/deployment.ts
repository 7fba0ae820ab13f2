import { CALLER, DEPLOYMENT, declareRoutes } from '../route.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'
import { beginRule } from '../second-person/approvers.ts'

const deployment = declareRoutes('Deployment')

const DEPLOYMENT_SETTINGS = named(
  'DeploymentSettings',
  closed({
    second_person: Type.Boolean({
      description: 'Whether changes to attester keys, deployment admins and shared lists require a second person',
    }),
  }),
)

export const DEPLOYMENT_ROUTES = [
  deployment('readDeployment', 'GET', '/deployment', {
    access: CALLER,
    summary: 'Show the deployment',
    answer: closed({
      id: Type.String(),
      version: Type.String(),
      signer: Type.String({ description: 'Signing backend' }),
      api_url: Type.String({ description: 'Base URL of the attestation and identity APIs, without a trailing slash' }),
      reference: Type.Boolean({ description: 'Whether the API reference is served at `/docs`' }),
      chains: Type.Array(
        closed({ name: Type.String(), family: oneOf(['evm', 'solana']), chain_id: nullable(Type.Integer()) }),
      ),
    }),
    handle: async ({ services }) => ({
      id: services.store.deploymentId,
      version: services.version,
      signer: services.signer,
      api_url: services.apiUrl,
      reference: services.documents !== null,
      chains: services.chains.chains.map((chain) => ({
        name: chain.name,
        family: chain.family,
        chain_id: chain.family === 'evm' ? chain.chainId : null,
      })),
    }),
  }),
  deployment('readDeploymentSettings', 'GET', '/deployment/settings', {
    access: DEPLOYMENT,
    command: { name: 'second-person-rule show' },
    summary: 'Show whether changes to the deployment require a second person',
    answer: DEPLOYMENT_SETTINGS,
    handle: async ({ services }) => ({
      second_person: await services.store.organizationSettings.readDeploymentSecondPerson(),
    }),
  }),
  deployment('changeDeploymentSettings', 'PATCH', '/deployment/settings', {
    access: DEPLOYMENT,
    command: { name: 'second-person-rule update', fields: { second_person: { option: 'required' } } },
    summary: 'Turn the second-person rule for attester keys, deployment admins and shared lists on or off',
    description: 'Fails if fewer than two people could approve changes. Turning the rule off requires a second person.',
    body: closed({ second_person: Type.Boolean() }),
    answer: DEPLOYMENT_SETTINGS,
    errors: [409],
    secondPerson: {
      action: 'settings.second-person-off',
      needs: (_tables, { body }) => (body.second_person ? 'nothing' : 'second-person'),
      see: async () => ({
        subject: 'deployment',
        name: 'the deployment',
        changes: [{ what: 'second person', before: 'yes', after: 'no' }],
      }),
    },
    handle: ({ body, write }) =>
      write(async (tables, note) => {
        const before = await tables.organizationSettings.readDeploymentSecondPerson()
        if (before !== body.second_person) {
          if (body.second_person) await beginRule(tables, null)
          await tables.organizationSettings.setDeploymentSecondPerson(body.second_person)
          note({
            action: 'settings.second-person',
            subject: 'deployment',
            organizationId: null,
            detail: { second_person: [before, body.second_person] },
          })
        }
        return { second_person: body.second_person }
      }),
  }),
]

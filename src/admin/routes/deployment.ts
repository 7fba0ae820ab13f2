// What belongs to the deployment itself: what it is, and its settings.
import { AWAITS_APPROVAL, requestApproval, showApproval } from '../approvals.ts'
import { CALLER, DEPLOYMENT, declareRoutes, Reply } from '../route.ts'
import { closed, named, nullable, oneOf, Type } from '../schema.ts'

const deployment = declareRoutes('Deployment')

const DEPLOYMENT_SETTINGS = named(
  'DeploymentSettings',
  closed({ second_person: Type.Boolean({ description: 'Attester keys change only when someone else approves' }) }),
)

export const DEPLOYMENT_ROUTES = [
  deployment('readDeployment', 'GET', '/deployment', {
    access: CALLER,
    summary: 'What runs here',
    answer: closed({
      id: Type.String(),
      version: Type.String(),
      signer: Type.String({ description: 'Signing backend' }),
      api_url: Type.String({ description: 'Where the attestation and identity APIs answer, without a trailing slash' }),
      chains: Type.Array(
        closed({ name: Type.String(), family: oneOf(['evm', 'solana']), chain_id: nullable(Type.Integer()) }),
      ),
    }),
    handle: async ({ services }) => ({
      id: services.store.deploymentId,
      version: services.version,
      signer: services.signer,
      api_url: services.apiUrl,
      chains: services.chains.chains.map((chain) => ({
        name: chain.name,
        family: chain.family,
        chain_id: chain.family === 'evm' ? chain.chainId : null,
      })),
    }),
  }),
  deployment('readDeploymentSettings', 'GET', '/deployment/settings', {
    access: DEPLOYMENT,
    summary: 'What the deployment asks of its own administration',
    answer: DEPLOYMENT_SETTINGS,
    handle: async ({ services }) => ({
      second_person: await services.store.organizationSettings.readDeploymentSecondPerson(),
    }),
  }),
  deployment('changeDeploymentSettings', 'PATCH', '/deployment/settings', {
    access: DEPLOYMENT,
    summary: 'Ask for a second person for attester keys, or no longer',
    description: 'No longer asking for one needs a second person itself.',
    body: closed({ second_person: Type.Boolean() }),
    answer: DEPLOYMENT_SETTINGS,
    others: [AWAITS_APPROVAL],
    handle: ({ actor, body, write }) =>
      write(async (tables, note) => {
        const before = await tables.organizationSettings.readDeploymentSecondPerson()
        if (before && !body.second_person) {
          const approval = await requestApproval(tables, note, actor, {
            organizationId: null,
            action: 'settings.second-person-off',
            subject: 'deployment',
            detail: {},
          })
          return new Reply(202, await showApproval(tables.users, approval))
        }
        if (before !== body.second_person) {
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

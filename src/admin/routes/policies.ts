import { diffPolicies } from '../../policy/document/diff.ts'
import { draftSteps, revisionSteps } from '../../policy/revision.ts'
import { POLICY_SUBJECTS } from '../../policy/types/document.ts'
import type { Policy, RevisionHead, StoredRevision } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import type { FieldOverride } from '../command-override.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { requireFound } from '../errors.ts'
import { compileAhead } from '../policies/compile-ahead.ts'
import { knownSources, requirePolicy, requireRevision, requireSameSubject } from '../policies/find.ts'
import { showIssues, WARNINGS } from '../policies/issue.ts'
import { activate, requireVersion } from '../policies/live.ts'
import { seeActivation, seeEffects } from '../policies/see-activation.ts'
import { SOURCE, SOURCE_BYTES_MAX } from '../policies/source.ts'
import { declareRoutes, type Note, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, oneOf, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Policies')

const POLICY_FIELDS = {
  id: Type.String(),
  name: Type.String({ description: 'Name of the policy, returned as `policy_name` with attestations' }),
  decides: oneOf(POLICY_SUBJECTS, 'Subject of the policy’s decisions; set by its first document'),
  active_revision_id: Type.Union([Type.String(), Type.Null()], {
    description: 'ID of the active revision, which decides',
  }),
  shadow_revision_id: Type.Union([Type.String(), Type.Null()], {
    description:
      'ID of the shadow revision, which is evaluated alongside the active revision. Its verdicts are only recorded',
  }),
  revisions: Type.Integer(),
  version: Type.Integer({ description: 'Increases when the name, the active or the shadow revision changes' }),
  created_at: time(),
}
const POLICY_COLUMNS = ['id', 'name', 'decides', 'active_revision_id', 'shadow_revision_id', 'revisions'] as const
export const POLICY = named('Policy', closed(POLICY_FIELDS), POLICY_COLUMNS)
const ACTIVATED_POLICY = named(
  'ActivatedPolicy',
  closed({
    ...POLICY_FIELDS,
    warnings: Type.Array(Type.String(), {
      description: 'Sources of facts that the policy reads and the running service lacks',
    }),
  }),
)

const REVISION_FIELDS = {
  id: Type.String(),
  policy_id: Type.String(),
  number: Type.Integer(),
  content_hash: Type.String({ description: 'SHA-256 of the document' }),
  quorum: Type.Integer({ description: 'Number of attester keys that sign v1 tasks' }),
  active: Type.Boolean(),
  shadow: Type.Boolean(),
  created_at: time(),
}
const REVISION = named('Revision', closed(REVISION_FIELDS), [
  'number',
  'id',
  'active',
  'shadow',
  'created_at',
  'content_hash',
])
const SAVED_REVISION = named('SavedRevision', closed({ ...REVISION_FIELDS, warnings: WARNINGS }))
const REVISION_WITH_SOURCE = named('RevisionWithSource', closed({ ...REVISION_FIELDS, source: Type.String() }))

export const showPolicy = (policy: Policy) => shown(POLICY, policy, { revisions: policy.revisionCount })

const showRevision = (revision: RevisionHead, policy: Policy) =>
  shown(REVISION, revision, {
    active: policy.activeRevisionId === revision.id,
    shadow: policy.shadowRevisionId === revision.id,
  })

const showRevisionWithSource = (revision: StoredRevision, policy: Policy) => ({
  ...showRevision(revision, policy),
  source: revision.source,
})

const save = async (
  tables: Tables,
  note: Note,
  input: {
    readonly organizationId: string
    readonly policyId: string
    readonly source: string
    readonly quorum: number
  },
): Promise<StoredRevision> => {
  const revision = requireFound(await tables.policies.saveRevision(input), 'policy')
  note({
    action: 'policy.save',
    subject: input.policyId,
    detail: { revision: revision.id, number: revision.number, content_hash: revision.contentHash },
  })
  return revision
}

/** Operations for commands, which identify a revision without its policy. */
export const POLICY_COMMANDS = [
  route('findRevisionHere', 'GET', '/organizations/{organization}/revisions/{revision}', {
    access: VIEWER,
    command: false,
    summary: 'Show a revision of any policy, with its document',
    answer: REVISION_WITH_SOURCE,
    handle: async ({ services, organization, params }) => {
      const revision = requireFound(
        await services.store.policies.findRevision(organization.id, params.revision),
        'revision',
      )
      const policy = await requirePolicy(services.store, organization.id, revision.policyId)
      return showRevisionWithSource(revision, policy)
    },
  }),
]

export const FIND_REVISION: FieldOverride = { find: { in: 'listRevisions', by: ['id', 'number'] } }

export const POLICY_ROUTES = [
  route('listPolicies', 'GET', '/organizations/{organization}/policies', {
    access: VIEWER,
    summary: 'List an organization’s policies, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(POLICY),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.policies.page(organization.id, pageRequest(query, ['number', 'string'])),
        showPolicy,
      ),
  }),
  route('createPolicy', 'POST', '/organizations/{organization}/policies', {
    access: ORGANIZATION_ADMIN,
    command: false,
    alone: 'not-live',
    summary: 'Create a policy with its first revision',
    description: 'The document contains the policy’s name. The policy takes effect when the revision is activated.',
    body: closed({ source: SOURCE }),
    bodyMaxBytes: SOURCE_BYTES_MAX,
    status: 201,
    answer: closed({ policy: POLICY, revision: REVISION, warnings: WARNINGS }),
    handle: async ({ services, organization, body, deadline, write }) => {
      const known = await knownSources(services.store, organization.id, services.policyFacts)
      const draft = draftSteps(body.source, known)
      const { compiled, warnings } = await services.policyWork.run(organization.id, draft, deadline)
      const { name, quorum, decides } = compiled.document
      return write(async (tables, note) => {
        const policy = await tables.policies.create({ organizationId: organization.id, name, decides })
        const revision = await save(tables, note, {
          organizationId: organization.id,
          policyId: policy.id,
          source: body.source,
          quorum,
        })
        note({ action: 'policy.create', subject: policy.id, detail: { name } })
        const after = await requirePolicy(tables, organization.id, policy.id)
        return {
          policy: showPolicy(after),
          revision: showRevision(revision, after),
          warnings: showIssues(warnings),
        }
      })
    },
  }),
  route('readPolicy', 'GET', '/organizations/{organization}/policies/{policy}', {
    access: VIEWER,
    command: false,
    summary: 'Show a policy',
    answer: POLICY,
    handle: async ({ services, organization, params }) =>
      showPolicy(await requirePolicy(services.store, organization.id, params.policy)),
  }),
  route('listRevisions', 'GET', '/organizations/{organization}/policies/{policy}/revisions', {
    access: VIEWER,
    command: { name: 'policy list-revisions' },
    summary: 'List a policy’s revisions, newest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(REVISION),
    handle: async ({ services, organization, params, query }) => {
      const policy = await requirePolicy(services.store, organization.id, params.policy)
      const page = await services.store.policies.pageRevisions(
        organization.id,
        policy.id,
        pageRequest(query, ['number']),
      )
      return pageAnswer(page, (revision) => showRevision(revision, policy))
    },
  }),
  route('saveRevision', 'POST', '/organizations/{organization}/policies/{policy}/revisions', {
    access: ORGANIZATION_ADMIN,
    command: false,
    alone: 'not-live',
    summary: 'Save a document as the policy’s next revision',
    description: 'Revisions are never changed or deleted, and have no effect until activated.',
    body: closed({ source: SOURCE }),
    bodyMaxBytes: SOURCE_BYTES_MAX,
    status: 201,
    answer: SAVED_REVISION,
    handle: async ({ services, organization, params, body, deadline, write }) => {
      const known = await knownSources(services.store, organization.id, services.policyFacts)
      const draft = draftSteps(body.source, known)
      const { compiled, warnings } = await services.policyWork.run(organization.id, draft, deadline)
      const { quorum } = compiled.document
      return write(async (tables, note) => {
        const policy = await requirePolicy(tables, organization.id, params.policy)
        requireSameSubject(policy.decides, compiled)
        const revision = await save(tables, note, {
          organizationId: organization.id,
          policyId: policy.id,
          source: body.source,
          quorum,
        })
        return { ...showRevision(revision, policy), warnings: showIssues(warnings) }
      })
    },
  }),
  route('readRevision', 'GET', '/organizations/{organization}/policies/{policy}/revisions/{revision}', {
    access: VIEWER,
    command: false,
    summary: 'Show a revision, with its document',
    answer: REVISION_WITH_SOURCE,
    handle: async ({ services, organization, params }) => {
      const policy = await requirePolicy(services.store, organization.id, params.policy)
      const revision = await requireRevision(services.store, organization.id, policy.id, params.revision)
      return showRevisionWithSource(revision, policy)
    },
  }),
  route('readRevisionEffects', 'GET', '/organizations/{organization}/policies/{policy}/revisions/{revision}/effects', {
    access: VIEWER,
    command: false,
    summary: 'Show the results of a revision’s shadow mode and newest replay',
    answer: closed({ effects: Type.Array(Type.String(), { description: 'One sentence per result' }) }),
    handle: async ({ services, organization, params: { policy, revision } }) => ({
      effects: [...(await seeEffects(services, organization.id, policy, revision))],
    }),
  }),
  route('diffRevisions', 'GET', '/organizations/{organization}/policies/{policy}/diff', {
    access: VIEWER,
    command: false,
    summary: 'Compare two revisions',
    query: Type.Object({ from: Type.String({ maxLength: 100 }), to: Type.String({ maxLength: 100 }) }),
    answer: closed({
      differences: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: 'Rules and tests that were added, removed, changed or reordered',
      }),
    }),
    handle: async ({ services, organization, params, query, deadline }) => {
      const { id } = await requirePolicy(services.store, organization.id, params.policy)
      const from = await requireRevision(services.store, organization.id, id, query.from)
      const to = await requireRevision(services.store, organization.id, id, query.to)
      const compile = (revision: StoredRevision) =>
        services.policyWork.run(organization.id, revisionSteps(revision), deadline)
      const differences = diffPolicies(await compile(from), await compile(to))
      return { differences: differences.map((difference) => ({ ...difference })) }
    },
  }),
  route('activateRevision', 'POST', '/organizations/{organization}/policies/{policy}/activate', {
    access: ORGANIZATION_ADMIN,
    command: { fields: { revision_id: FIND_REVISION } },
    summary: 'Activate a revision',
    description:
      'Takes effect within a second. To roll back, activate an earlier revision. With `version`, the request fails if the policy has changed since that version.',
    body: closed({
      revision_id: Type.String({ maxLength: 100 }),
      version: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    answer: ACTIVATED_POLICY,
    errors: [409],
    secondPerson: {
      action: 'policy.activate',
      ahead: async ({ services, organization, params, body, deadline }) => {
        const policy = await services.store.policies.find(organization.id, params.policy)
        await compileAhead(services, organization.id, [policy?.activeRevisionId, body.revision_id], deadline)
      },
      see: (tables, { organization, params, body }) =>
        seeActivation(tables, organization.id, params.policy, body.revision_id),
      effects: ({ services, organization, params, body }) =>
        seeEffects(services, organization.id, params.policy, body.revision_id),
    },
    handle: ({ services, organization, params, body, write }) =>
      write(async (tables, note) => {
        const policy = await requirePolicy(tables, organization.id, params.policy)
        requireVersion(policy, body.version)
        const revision = await requireRevision(tables, organization.id, policy.id, body.revision_id)
        const activated = await activate(tables, note, organization.id, policy.id, revision.id)
        const warnings = await services.policyFacts.describeMissing(tables, activated.needs)
        return { ...showPolicy(activated.policy), warnings: [...warnings] }
      }),
  }),
]

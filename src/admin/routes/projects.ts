import { ATTESTATION_PATHS } from '../../attestation/paths.ts'
import { LIFETIME_SECONDS_MAX } from '../../domain/attestation.ts'
import { revisionSteps } from '../../policy/revision.ts'
import { PROGRAM } from '../../program/labels.ts'
import type { Policy } from '../../store/organizations/policies.ts'
import { DEFAULT_LIFETIME_SECONDS, type Project } from '../../store/organizations/projects.ts'
import type { Tables } from '../../store/store.ts'
import { type FieldOverride, memberOptions } from '../command-override.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { requireFound } from '../errors.ts'
import { requirePolicy, requirePolicyOf } from '../policies/find.ts'
import { declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, label, named, PAGE_QUERY, pageOf, partial, Type, time } from '../schema.ts'
import { change } from '../second-person/declaration.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Projects')

const LIFETIME = Type.Integer({
  minimum: 10,
  maximum: LIFETIME_SECONDS_MAX,
  description: 'Lifetime of an attestation in seconds',
})

const PROJECT = named(
  'Project',
  closed({
    id: Type.String(),
    name: Type.String(),
    verification_hash: Type.String({ description: 'Policy ID of the project’s contracts; part of the signed data' }),
    policy_id: Type.String(),
    policy_active: Type.Boolean({
      description: 'Whether the policy has an active revision. If not, requests for the project are refused',
    }),
    lifetime_seconds: LIFETIME,
    version: Type.Integer({ description: 'Increases with every change' }),
    created_at: time(),
  }),
  ['id', 'name', 'verification_hash', 'policy_id', 'policy_active', 'lifetime_seconds'],
)

export const FIND_PROJECT: FieldOverride = { find: { in: 'listProjects', by: ['id', 'verification_hash'] } }

const inactivePolicy = ({ name, policy_id: policy, policy_active: active }: Readonly<Record<string, unknown>>) =>
  active === false
    ? `requests for ${name} are refused, because ${policy} has no active revision: run ${PROGRAM} policy activate ${policy} --revision N`
    : null

const showProject = (project: Project) => shown(PROJECT, project)

const CALL_DATA_MAX = 131_074
/** The attestation API checks all rules except the length. */
const CALL_TEXT = Type.String({ maxLength: 200 })
const TRIED_REQUEST = Type.Partial(
  closed({
    chain: CALL_TEXT,
    from: CALL_TEXT,
    to: CALL_TEXT,
    data: Type.String({ maxLength: CALL_DATA_MAX }),
    msg_value: CALL_TEXT,
    user_ip: CALL_TEXT,
    on_behalf: CALL_TEXT,
  }),
  { additionalProperties: false },
)

export const requireProject = async (
  tables: Pick<Tables, 'projects'>,
  organizationId: string,
  projectId: string,
): Promise<Project> => requireFound(await tables.projects.find(organizationId, projectId), 'project')

/** Includes the id, because names aren't unique. */
export const projectText = ({ name, id }: Project): string => `${name} (${id})`

export const policyText = ({ name, id, activeRevisionId }: Policy): string =>
  `${name} (${id}${activeRevisionId === null ? ', without a live revision' : ''})`

export const PROJECT_ROUTES = [
  route('listProjects', 'GET', '/organizations/{organization}/projects', {
    access: VIEWER,
    command: { warn: inactivePolicy },
    summary: 'List an organization’s projects, oldest first',
    query: Type.Object({ ...PAGE_QUERY, policy_id: Type.Optional(Type.String({ maxLength: 100 })) }),
    answer: pageOf(PROJECT),
    handle: async ({ services, organization, query }) =>
      pageAnswer(
        await services.store.projects.page(
          { organizationId: organization.id, ...(query.policy_id === undefined ? {} : { policyId: query.policy_id }) },
          pageRequest(query, ['number', 'string']),
        ),
        showProject,
      ),
  }),
  route('createProject', 'POST', '/organizations/{organization}/projects', {
    access: ORGANIZATION_ADMIN,
    command: { warn: inactivePolicy },
    summary: 'Create a project',
    body: closed({
      name: label('Display name'),
      policy_id: Type.String({ maxLength: 100 }),
      lifetime_seconds: Type.Optional(LIFETIME),
      verification_hash: Type.Optional(
        Type.String({
          pattern: '^x-[0-9a-f]{16,62}$',
          rule: 'must be x- followed by 16 to 62 lowercase hex digits',
          description: 'Set only to keep a hash that contracts already use',
        }),
      ),
    }),
    status: 201,
    answer: PROJECT,
    errors: [409],
    secondPerson: {
      action: 'project.create',
      see: async (tables, { organization, body }) => {
        const policy = await requirePolicyOf('requests', tables, organization.id, body.policy_id)
        return {
          subject: policy.id,
          name: body.name,
          changes: [
            { what: 'policy', before: null, after: policyText(policy) },
            {
              what: 'lifetime in seconds',
              before: null,
              after: String(body.lifetime_seconds ?? DEFAULT_LIFETIME_SECONDS),
            },
            { what: 'verification hash', before: null, after: body.verification_hash ?? 'a new one' },
          ],
          basis: policy.activeRevisionId,
        }
      },
    },
    handle: ({ organization, body, write }) =>
      write(async (tables, note) => {
        await requirePolicyOf('requests', tables, organization.id, body.policy_id)
        const project = await tables.projects.create({
          organizationId: organization.id,
          name: body.name,
          policyId: body.policy_id,
          ...(body.lifetime_seconds === undefined ? {} : { lifetimeSeconds: body.lifetime_seconds }),
          ...(body.verification_hash === undefined ? {} : { verificationHash: body.verification_hash }),
        })
        const { id, created_at: _at, policy_active: _active, version: _version, ...detail } = showProject(project)
        note({ action: 'project.create', subject: id, detail })
        return showProject(project)
      }),
  }),
  route('readProject', 'GET', '/organizations/{organization}/projects/{project}', {
    access: VIEWER,
    command: { warn: inactivePolicy, fields: { project: FIND_PROJECT } },
    summary: 'Show a project',
    answer: PROJECT,
    handle: async ({ services, organization, params }) => {
      return showProject(await requireProject(services.store, organization.id, params.project))
    },
  }),
  route('readProjectCall', 'GET', '/organizations/{organization}/projects/{project}/try', {
    access: VIEWER,
    command: false,
    summary: 'Show the required fields of an attestation request for a project',
    answer: closed({
      verification_hash: Type.String(),
      requires: Type.Array(Type.String(), {
        description: 'Request fields that the active policy revision requires',
      }),
    }),
    handle: async ({ services: { store, policyWork }, organization, params, deadline }) => {
      const { policyId, verificationHash } = await requireProject(store, organization.id, params.project)
      const { activeRevisionId } = await requirePolicy(store, organization.id, policyId)
      const revision =
        activeRevisionId === null ? null : await store.policies.findRevision(organization.id, activeRevisionId)
      const requires =
        revision === null ? [] : (await policyWork.run(organization.id, revisionSteps(revision), deadline)).requires
      return { verification_hash: verificationHash, requires: [...requires] }
    },
  }),
  route('tryProject', 'POST', '/organizations/{organization}/projects/{project}/try', {
    access: ORGANIZATION_ADMIN,
    command: {
      fields: {
        project: FIND_PROJECT,
        api_key: { option: 'api-key-file', file: 'text' },
        ...memberOptions('request', TRIED_REQUEST),
      },
    },
    alone: 'attest',
    summary: 'Call the attestation API for a project with an attestation key',
    description:
      'The request counts toward the rate limit and is decided, signed and recorded like a request from a backend. The dashboard ' +
      'uses this operation because its pages cannot reach the attestation API.',
    body: closed({
      api_key: Type.String({
        maxLength: 200,
        pattern: '^[ -~]+$',
        rule: 'must contain only ASCII characters',
        description: 'Attestation key; neither stored nor logged',
      }),
      request: TRIED_REQUEST,
    }),
    example: {
      api_key: 'csa_live_...',
      request: { chain: 'base', from: '0x1111111111111111111111111111111111111111' },
    },
    bodyMaxBytes: CALL_DATA_MAX + 4_096,
    answer: closed({
      status: Type.Integer({ description: 'HTTP status of the response' }),
      milliseconds: Type.Number(),
      body: Type.Unknown({ description: 'Body of the response' }),
    }),
    handle: async ({ services, organization, params, body, write }) => {
      const project = await requireProject(services.store, organization.id, params.project)
      await write(async (_tables, note) => note({ action: 'project.try', subject: project.id }))
      const startedMs = performance.now()
      const response = await services.attest(
        new Request(`${services.apiUrl}${ATTESTATION_PATHS.attestation.path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': body.api_key },
          body: JSON.stringify({ ...body.request, verification_hash: project.verificationHash }),
        }),
      )
      const answer: unknown = await response.json()
      const milliseconds = Math.round((performance.now() - startedMs) * 10) / 10
      return { milliseconds, status: response.status, body: answer }
    },
  }),
  route('changeProject', 'PATCH', '/organizations/{organization}/projects/{project}', {
    access: ORGANIZATION_ADMIN,
    command: { warn: inactivePolicy, fields: { project: FIND_PROJECT } },
    summary: 'Change a project',
    description: 'Takes effect within a second. The verification hash cannot be changed, because contracts contain it.',
    body: partial({
      name: label('Display name'),
      policy_id: Type.String({ maxLength: 100 }),
      lifetime_seconds: LIFETIME,
    }),
    answer: PROJECT,
    secondPerson: {
      action: 'project.change',
      // A new name doesn't affect signing.
      needs: (_tables, { body }) =>
        body.policy_id === undefined && body.lifetime_seconds === undefined ? 'nothing' : 'second-person',
      see: async (tables, { organization, params, body }) => {
        const project = await requireProject(tables, organization.id, params.project)
        const now = await requirePolicy(tables, organization.id, project.policyId)
        const then =
          body.policy_id === undefined
            ? now
            : await requirePolicyOf('requests', tables, organization.id, body.policy_id)
        return {
          subject: project.id,
          name: project.name,
          changes: [
            ...change('name', project.name, body.name),
            ...change('policy', policyText(now), policyText(then)),
            ...change('lifetime in seconds', project.lifetimeSeconds, body.lifetime_seconds),
          ],
          basis: [now.id, now.activeRevisionId, then.activeRevisionId],
        }
      },
    },
    handle: ({ organization, params, body, write }) =>
      write(async (tables, note) => {
        const before = await requireProject(tables, organization.id, params.project)
        const { policy_id: policyId } = body
        if (policyId !== undefined) await requirePolicyOf('requests', tables, organization.id, policyId)
        const values = { name: body.name, policyId, lifetimeSeconds: body.lifetime_seconds }
        const after = requireFound(await tables.projects.update(organization.id, before.id, values), 'project')
        note({
          action: 'project.change',
          subject: before.id,
          detail: {
            name: [before.name, after.name],
            policy_id: [before.policyId, after.policyId],
            lifetime_seconds: [before.lifetimeSeconds, after.lifetimeSeconds],
          },
        })
        return showProject(after)
      }),
  }),
]

import { DependencyUnavailableError } from '../../domain/errors.ts'
import type { ShadowOutcome } from '../../domain/verdict.ts'
import { counted } from '../../lib/counted.ts'
import { describePolicy, diffPolicies } from '../../policy/document/diff.ts'
import { compileRevision } from '../../policy/revision.ts'
import type { Policy, StoredRevision } from '../../store/organizations/policies.ts'
import type { Tables } from '../../store/store.ts'
import type { Seen } from '../second-person/declaration.ts'
import type { Services } from '../services.ts'
import { requirePolicy, requireRevision } from './find.ts'
import { REPLAY_KIND } from './tried.ts'

const NAMES_SHOWN = 10

const revisionText = ({ number }: StoredRevision): string => `revision ${number}`

const projectsOf = async (tables: Tables, organizationId: string, policy: Policy): Promise<string | null> => {
  const { items, next } = await tables.projects.page(
    { organizationId, policyId: policy.id },
    { after: null, limit: NAMES_SHOWN },
  )
  if (items.length === 0) return null
  return items.map(({ name }) => name).join(', ') + (next === null ? '' : ' and more')
}

const shadowText = async (
  { decisions }: Services,
  organizationId: string,
  policy: Policy,
  revision: StoredRevision,
): Promise<readonly string[]> => {
  if (policy.shadowRevisionId !== revision.id || policy.decides === 'sessions') return []
  const count = (outcome: ShadowOutcome) =>
    decisions.ask({
      operation: 'count',
      filter: { organizationId, shadow: { revisionId: revision.id, outcome } },
    })
  try {
    const [same, different, failed] = await Promise.all([count('same'), count('different'), count('failed')])
    if (same.count + different.count + failed.count === 0) return ['Shadow: no decisions yet']
    const exact = same.exact && different.exact && failed.exact ? '' : 'at least '
    return [`Shadow: ${exact}${same.count} unchanged, ${different.count} different, ${failed.count} failed`]
  } catch (error) {
    // The figures are optional, so that people can request the change without the index.
    if (error instanceof DependencyUnavailableError) return ['Shadow: the results are unavailable']
    throw error
  }
}

const replayText = async (
  { store }: Services,
  organizationId: string,
  policy: Policy,
  revision: StoredRevision,
): Promise<readonly string[]> => {
  const ofSessions = policy.decides === 'sessions'
  const { contentHash } = revision
  // A replay covers the policy's decisions, or for a session policy, the organization's sessions.
  const members = ofSessions ? { contentHash } : { contentHash, policyId: policy.id }
  const result = (await store.tasks.newestDone(organizationId, REPLAY_KIND, members))?.result ?? null
  if (result === null) return []
  if (ofSessions) {
    const { sessions, completed, rejected, left, agreed } = result
    const otherwise = Number(completed) + Number(rejected) - Number(agreed)
    return [
      `Replayed on ${counted(Number(sessions), 'session', 'sessions')}: ${completed} completed, ${rejected} rejected, ${left} left to reviewers; ${otherwise} different from the reviewers’ decisions`,
    ]
  }
  const { decisions, same, other_verdict: otherVerdict, other_rule: otherRule } = result
  return [
    `Replayed on ${counted(Number(decisions), 'decision', 'decisions')}: ${same} unchanged, ${otherVerdict} with a different verdict, ${otherRule} with a different rule only`,
  ]
}

export const seeActivation = async (
  tables: Tables,
  organizationId: string,
  policyId: string,
  revisionId: string,
): Promise<Seen> => {
  const policy = await requirePolicy(tables, organizationId, policyId)
  const revision = await requireRevision(tables, organizationId, policy.id, revisionId)
  const active =
    policy.activeRevisionId === null
      ? null
      : await requireRevision(tables, organizationId, policy.id, policy.activeRevisionId)
  const then = await compileRevision(revision)
  const projects = await projectsOf(tables, organizationId, policy)
  return {
    subject: policy.id,
    name: policy.name,
    changes: [
      { what: 'decides', before: active === null ? null : revisionText(active), after: revisionText(revision) },
      ...(then.document.name === policy.name ? [] : [{ what: 'name', before: policy.name, after: then.document.name }]),
      ...(projects === null ? [] : [{ what: 'projects', before: projects, after: projects }]),
    ],
    differences: (active === null ? describePolicy(then) : diffPolicies(await compileRevision(active), then)).map(
      (difference) => ({ ...difference }),
    ),
    basis: [policy.activeRevisionId, revision.contentHash],
  }
}

export const seeEffects = async (
  services: Services,
  organizationId: string,
  policyId: string,
  revisionId: string,
): Promise<readonly string[]> => {
  const policy = await requirePolicy(services.store, organizationId, policyId)
  const revision = await requireRevision(services.store, organizationId, policyId, revisionId)
  return [
    ...(await shadowText(services, organizationId, policy, revision)),
    ...(await replayText(services, organizationId, policy, revision)),
  ]
}

// `countersign policy apply|activate|shadow|list|show|diff`: the policies and revisions of an organization.
import { diffPolicies, type PolicyDifference } from '../../policy/document/diff.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import { readPages } from '../admin-client.ts'
import { CommandFailedError, print, secondsOf, UsageError } from '../output.ts'
import {
  isRevisionReference,
  type Policy,
  type PolicyStoreContext,
  printWarnings,
  type Revision,
  readRevisions,
  readSource,
  requirePolicy,
  requireRevision,
  resolvePolicyText,
} from './policy-context.ts'

/** Saves and activates a revision in one transaction. */
export const apply = async (context: PolicyStoreContext): Promise<number> => {
  const { admin, organizationId: organization, command } = context
  const source = readSource(command.positionals[1])
  const known = command.text('policy')
  const activates = !command.flag('draft')
  const applied = await admin.together(async (admin) => {
    const made =
      known === undefined
        ? await admin.call('POST /organizations/{organization}/policies', {
            params: { organization },
            body: { source },
          })
        : null
    const policy = known ?? made?.policy.id ?? ''
    const saved =
      made === null
        ? await admin.call('POST /organizations/{organization}/policies/{policy}/revisions', {
            params: { organization, policy },
            body: { source },
          })
        : { ...made.revision, warnings: made.warnings }
    if (activates) {
      await admin.call('POST /organizations/{organization}/policies/{policy}/activate', {
        params: { organization, policy },
        body: { revision_id: saved.id },
      })
    }
    const { id, number, content_hash: contentHash, warnings } = saved
    return { policy, revision: id, number, contentHash, active: activates, warnings }
  })
  const state = activates ? 'is active' : 'is saved, not active'
  print(context, applied, `${applied.policy}: revision ${applied.number} (${applied.revision}) ${state}\n`)
  printWarnings(context, source, applied.warnings)
  return 0
}

export const activate = async (context: PolicyStoreContext): Promise<number> => {
  const { admin, organizationId, command } = context
  const policy = await requirePolicy(context, command.positionals[1])
  const revision = await requireRevision(context, policy, command.required('revision'))
  await admin.call('POST /organizations/{organization}/policies/{policy}/activate', {
    params: { organization: organizationId, policy: policy.id },
    body: { revision_id: revision.id },
  })
  const activated = { policy: policy.id, revision: revision.id, number: revision.number, active: true }
  print(context, activated, `${policy.id}: revision ${revision.number} (${revision.id}) is active\n`)
  return 0
}

export const shadow = async (context: PolicyStoreContext): Promise<number> => {
  const { admin, organizationId, command } = context
  const policy = await requirePolicy(context, command.positionals[1])
  const wanted = command.flag('off') ? null : command.text('revision')
  if (wanted === undefined) throw new UsageError('say which with --revision, or --off')
  const revision = wanted === null ? null : await requireRevision(context, policy, wanted)
  await admin.call('PUT /organizations/{organization}/policies/{policy}/shadow', {
    params: { organization: organizationId, policy: policy.id },
    body: { revision_id: revision?.id ?? null },
  })
  if (revision === null) {
    print(context, { policy: policy.id, shadow: null }, `${policy.id}: no shadow\n`)
    return 0
  }
  const text = `${policy.id}: revision ${revision.number} (${revision.id}) shadows the active one\n`
  print(context, { policy: policy.id, shadow: revision.id, number: revision.number }, text)
  return 0
}

export const list = async (context: PolicyStoreContext): Promise<number> => {
  const { admin, organizationId } = context
  const found = await readPages((query) =>
    admin.call('GET /organizations/{organization}/policies', { params: { organization: organizationId }, query }),
  )
  const policies = found.map((policy) => ({
    id: policy.id,
    organizationId,
    name: policy.name,
    decides: policy.decides,
    activeRevisionId: policy.active_revision_id,
    shadowRevisionId: policy.shadow_revision_id,
    revisionCount: policy.revisions,
    version: policy.version,
    createdAtSeconds: secondsOf(policy.created_at),
  }))
  const rows = policies.map(({ id, name, revisionCount, activeRevisionId, shadowRevisionId }) => [
    id,
    name,
    String(revisionCount),
    activeRevisionId ?? '-',
    shadowRevisionId ?? '-',
  ])
  print(context, policies, [['POLICY', 'NAME', 'REVISIONS', 'ACTIVE', 'SHADOW'], ...rows])
  return 0
}

const describeRevision = ({ organizationId }: PolicyStoreContext, revision: Revision) => ({
  id: revision.id,
  organizationId,
  policyId: revision.policy_id,
  number: revision.number,
  source: revision.source,
  contentHash: revision.content_hash,
  quorum: revision.quorum,
  createdAtSeconds: secondsOf(revision.created_at),
})

const showRevisions = async (context: PolicyStoreContext, policy: Policy): Promise<number> => {
  const revisions = await readRevisions(context, policy)
  const described = []
  // Only JSON has the documents, which are read one by one.
  for (const { id } of context.command.flag('json') ? revisions : []) {
    described.push(describeRevision(context, await requireRevision(context, policy, id)))
  }
  const rows = revisions.map(({ id, number, content_hash: hash, created_at: saved, active, shadow }) => [
    String(number),
    id,
    saved,
    hash,
    active ? 'active' : shadow ? 'shadow' : '',
  ])
  print(context, described, [['NUMBER', 'REVISION', 'SAVED', 'SHA-256', ''], ...rows])
  return 0
}

export const show = async (context: PolicyStoreContext): Promise<number> => {
  const { command } = context
  const policy = await requirePolicy(context, command.positionals[1])
  // List revisions first: a policy may have none that is active.
  if (command.flag('revisions')) return showRevisions(context, policy)
  const wanted = command.text('revision') ?? policy.active_revision_id
  if (wanted === null) throw new CommandFailedError(`${policy.id} has no active revision: say which with --revision`)
  const revision = await requireRevision(context, policy, wanted)
  print(context, describeRevision(context, revision), revision.source)
  return 0
}

const lines = (prefix: string, text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${prefix} ${line}\n`)
    .join('')

const describe = (difference: PolicyDifference): string => {
  switch (difference.kind) {
    case 'rule-added':
      return `+ rule ${difference.rule}, at place ${difference.place}\n${lines('+', difference.to ?? '')}`
    case 'rule-removed':
      return `- rule ${difference.rule}, at place ${difference.place}\n${lines('-', difference.from ?? '')}`
    case 'test-added':
      return `+ test ${difference.test}\n`
    case 'test-removed':
      return `- test ${difference.test}\n`
    case 'test-changed':
      return `~ test ${difference.test}\n`
    case 'rules-reordered':
      return `~ order of rules\n${lines('-', difference.from.join(', '))}${lines('+', difference.to.join(', '))}`
    case 'changed': {
      const { what, from, to } = difference
      return `~ ${what}\n${from === null ? '' : lines('-', from)}${to === null ? '' : lines('+', to)}`
    }
  }
}

/** @returns the differences, and their text for people */
export const describeDifferences = (from: CompiledPolicy, to: CompiledPolicy) => {
  const all = diffPolicies(from, to)
  return { all, text: all.length === 0 ? 'no difference\n' : all.map(describe).join('') }
}

/** Compares OLD with NEW, or the active revision of --policy with NEW. */
export const diff = async (context: PolicyStoreContext): Promise<number> => {
  const { command } = context
  const [, first, second] = command.positionals
  if (first === undefined) throw new UsageError('say what to compare: OLD NEW, or NEW with --policy')
  const [oldReference, newReference] = second === undefined ? [await activeOf(context), first] : [first, second]
  const from = await resolvePolicyText(context, oldReference)
  const to = await resolvePolicyText(context, newReference)
  const { all, text } = describeDifferences(from.policy, to.policy)
  print(context, all, text)
  return 0
}

const activeOf = async (context: PolicyStoreContext): Promise<string> => {
  const policy = await requirePolicy(context, context.command.text('policy'))
  if (policy.active_revision_id === null) throw new CommandFailedError(`${policy.id} has no active revision`)
  return policy.active_revision_id
}

/** Whether both are files, so that no store is needed. */
export const comparesFiles = (positionals: readonly string[]): boolean =>
  positionals.length === 3 && positionals.slice(1).every((reference) => !isRevisionReference(reference))

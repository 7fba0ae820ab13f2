// `countersign policy apply|activate|shadow|list|show|diff`: the policies and revisions of an organization.
import { diffPolicies, type PolicyDifference } from '../policy/diff.ts'
import type { CompiledPolicy } from '../policy/types/program.ts'
import type { Policy } from '../store/policies.ts'
import { CommandFailedError, formatTable, print, UsageError } from './output.ts'
import {
  isRevisionReference,
  type PolicyStoreContext,
  printWarnings,
  readSource,
  requirePolicy,
  requireRevision,
  resolvePolicyText,
} from './policy-context.ts'

/** Saves and activates a revision in one transaction. */
export const apply = async (context: PolicyStoreContext): Promise<number> => {
  const { door, organizationId: organization, command } = context
  const source = readSource(command.positionals[1])
  const known = command.text('policy')
  const activates = !command.flag('draft')
  const applied = await door.together(async (door) => {
    const made =
      known === undefined
        ? await door.call('POST /organizations/{organization}/policies', { params: { organization }, body: { source } })
        : null
    const policy = known ?? made?.policy.id ?? ''
    const saved =
      made === null
        ? await door.call('POST /organizations/{organization}/policies/{policy}/revisions', {
            params: { organization, policy },
            body: { source },
          })
        : { ...made.revision, warnings: made.warnings }
    if (activates) {
      await door.call('POST /organizations/{organization}/policies/{policy}/activate', {
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
  const { door, organizationId, command } = context
  const policy = await requirePolicy(context, command.positionals[1])
  const revision = await requireRevision(context, policy, command.required('revision'))
  await door.call('POST /organizations/{organization}/policies/{policy}/activate', {
    params: { organization: organizationId, policy: policy.id },
    body: { revision_id: revision.id },
  })
  const activated = { policy: policy.id, revision: revision.id, number: revision.number, active: true }
  print(context, activated, `${policy.id}: revision ${revision.number} (${revision.id}) is active\n`)
  return 0
}

export const shadow = async (context: PolicyStoreContext): Promise<number> => {
  const { door, organizationId, command } = context
  const policy = await requirePolicy(context, command.positionals[1])
  const wanted = command.flag('off') ? null : command.text('revision')
  if (wanted === undefined) throw new UsageError('say which with --revision, or --off')
  const revision = wanted === null ? null : await requireRevision(context, policy, wanted)
  await door.call('PUT /organizations/{organization}/policies/{policy}/shadow', {
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
  const policies = await context.store.policies.list(context.organizationId)
  const row = ({ id, name, revisionCount, activeRevisionId, shadowRevisionId }: Policy): string[] => [
    id,
    name,
    String(revisionCount),
    activeRevisionId ?? '-',
    shadowRevisionId ?? '-',
  ]
  const table = formatTable([['POLICY', 'NAME', 'REVISIONS', 'ACTIVE', 'SHADOW'], ...policies.map(row)])
  print(context, policies, table)
  return 0
}

const showRevisions = async (context: PolicyStoreContext, policy: Policy): Promise<number> => {
  const revisions = await context.store.policies.listRevisions(context.organizationId, policy.id)
  const rows = revisions.map(({ id, number, contentHash, createdAtSeconds }) => [
    String(number),
    id,
    new Date(createdAtSeconds * 1000).toISOString(),
    contentHash,
    id === policy.activeRevisionId ? 'active' : id === policy.shadowRevisionId ? 'shadow' : '',
  ])
  print(context, revisions, formatTable([['NUMBER', 'REVISION', 'SAVED', 'SHA-256', ''], ...rows]))
  return 0
}

export const show = async (context: PolicyStoreContext): Promise<number> => {
  const { command } = context
  const policy = await requirePolicy(context, command.positionals[1])
  // List revisions first: a policy may have none that is active.
  if (command.flag('revisions')) return showRevisions(context, policy)
  const wanted = command.text('revision') ?? policy.activeRevisionId
  if (wanted === null) throw new CommandFailedError(`${policy.id} has no active revision: say which with --revision`)
  const revision = await requireRevision(context, policy, wanted)
  print(context, revision, revision.source)
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
  if (policy.activeRevisionId === null) throw new CommandFailedError(`${policy.id} has no active revision`)
  return policy.activeRevisionId
}

/** Whether both are files, so that no store is needed. */
export const comparesFiles = (positionals: readonly string[]): boolean =>
  positionals.length === 3 && positionals.slice(1).every((reference) => !isRevisionReference(reference))

import type { CommandContext } from '../../command-line/command.ts'
import { CommandFailedError, print, UsageError } from '../../command-line/output.ts'
import {
  inOrganization,
  isRevisionReference,
  type PolicyContext,
  readDraft,
  requirePolicy,
  requireRevision,
  resolvePolicyText,
} from '../../command-line/policy-context.ts'
import { diffPolicies, type PolicyDifference } from '../../policy/document/diff.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'

export const show = async (given: CommandContext): Promise<number> => {
  const context = await inOrganization(given)
  const { command } = context
  const policy = await requirePolicy(context, command.words[0])
  const wanted = command.text('revision') ?? policy.active_revision_id
  if (wanted === null) throw new CommandFailedError(`${policy.id} has no active revision: specify one with --revision`)
  const revision = await requireRevision(context, policy.id, wanted)
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
      return `+ rule ${difference.rule}, at position ${difference.place}\n${lines('+', difference.to ?? '')}`
    case 'rule-removed':
      return `- rule ${difference.rule}, at position ${difference.place}\n${lines('-', difference.from ?? '')}`
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

const describeDifferences = (from: CompiledPolicy, to: CompiledPolicy) => {
  const all = diffPolicies(from, to)
  return { all, text: all.length === 0 ? 'no difference\n' : all.map(describe).join('') }
}

const activeOf = async (context: PolicyContext): Promise<string> => {
  const policy = await requirePolicy(context, context.command.text('policy'))
  if (policy.active_revision_id === null) throw new CommandFailedError(`${policy.id} has no active revision`)
  return policy.active_revision_id
}

/** Compares two references, or the active revision of --policy with one reference. Two files need no store. */
export const diff = async (context: CommandContext): Promise<number> => {
  const references = context.command.words
  const compiled = async (): Promise<readonly CompiledPolicy[]> => {
    if (references.length === 2 && !references.some(isRevisionReference)) {
      return references.map((path) => readDraft(path).compiled)
    }
    const opened = await inOrganization(context)
    const both = references.length === 2 ? references : [await activeOf(opened), ...references]
    const found = []
    for (const reference of both) found.push((await resolvePolicyText(opened, reference)).policy)
    return found
  }
  if (references.length > 2) throw new UsageError('compare two references, or one with --policy')
  const [from, to] = await compiled()
  const { all, text } = describeDifferences(from as CompiledPolicy, to as CompiledPolicy)
  print(context, all, text)
  return 0
}

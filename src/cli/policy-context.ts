// Shared by all `countersign policy` commands: reading documents from files and from the store, and output.

import { readFileSync } from 'node:fs'
import type { ChainTable } from '../domain/chain.ts'
import { counted } from '../domain/counted.ts'
import { type PolicyIssue, PolicyUnusableError, renderIssues } from '../policy/errors.ts'
import { compileRevision, draftRevision, type RevisionDraft } from '../policy/revision.ts'
import type { KnownSources } from '../policy/scope.ts'
import type { CompiledPolicy } from '../policy/types/program.ts'
import type { Policy, StoredRevision } from '../store/policies.ts'
import type { Opened } from './door.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, UsageError } from './output.ts'

export interface PolicyContext {
  readonly chains: ChainTable
  readonly output: CommandOutput
  readonly command: ParsedCommand
}

export interface PolicyStoreContext extends PolicyContext, Opened {
  readonly organizationId: string
}

export const readSource = (path: string | undefined): string => {
  if (path === undefined) throw new UsageError('FILE is missing')
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch {
    throw new CommandFailedError(`${path} can't be read`)
  }
}

/** Chains that documents may name, for checks without a store. */
export const knownChains = ({ chains }: PolicyContext): KnownSources => ({
  chains: new Set(chains.chains.map(({ name }) => name)),
})

/** @throws PolicyInvalidError with every mistake. */
export const readDraft = (path: string | undefined, known: KnownSources = {}): RevisionDraft =>
  draftRevision(readSource(path), known)

/** Prints a document's warnings to stderr; with --json they are part of the printed value. */
export const printWarnings = (
  { output, command }: Pick<PolicyContext, 'output' | 'command'>,
  source: string,
  warnings: readonly PolicyIssue[],
): void => {
  if (warnings.length === 0 || command.flag('json')) return
  const what = counted(warnings.length, 'warning', 'warnings')
  output.stderr(`${what}, which the document may be saved with:\n${renderIssues(source, warnings)}\n`)
}

export const requirePolicy = async (
  { store, organizationId }: PolicyStoreContext,
  policyId: string | undefined,
): Promise<Policy> => {
  if (policyId === undefined) throw new UsageError('the policy ID is missing')
  const policy = await store.policies.find(organizationId, policyId)
  if (policy === null) throw new CommandFailedError(`there is no policy ${policyId}`)
  return policy
}

/** Finds a revision of a policy by number or id. @throws CommandFailedError */
export const requireRevision = async (
  { store, organizationId }: PolicyStoreContext,
  policy: Policy,
  wanted: string,
): Promise<StoredRevision> => {
  const revisions = await store.policies.listRevisions(organizationId, policy.id)
  const revision = revisions.find(({ id, number }) => id === wanted || String(number) === wanted)
  if (revision === undefined) throw new CommandFailedError(`${policy.id} has no revision ${wanted}`)
  return revision
}

/** @throws CommandFailedError when this version can't compile the stored revision */
const compileStored = (revision: StoredRevision): CompiledPolicy => {
  try {
    return compileRevision(revision)
  } catch (error) {
    if (error instanceof PolicyUnusableError) throw new CommandFailedError(`revision ${revision.id} can not be used`)
    throw error
  }
}

/** Whether a text is a revision's id, or a number of one (which needs --policy), rather than a file. */
export const isRevisionReference = (text: string): boolean => /^(?:revision_[A-Za-z0-9]+|[1-9][0-9]{0,8})$/.test(text)

/** Reads a policy from a revision's id, a revision's number with --policy, or a file. */
export const resolvePolicyText = async (
  context: PolicyStoreContext,
  reference: string,
): Promise<{ readonly policy: CompiledPolicy; readonly policyId: string | null; readonly source: string }> => {
  const { store, organizationId, command } = context
  if (!isRevisionReference(reference)) {
    const { compiled, source } = readDraft(reference)
    return { policy: compiled, policyId: null, source }
  }
  const stored = (revision: StoredRevision) => {
    const { policyId, source } = revision
    return { policy: compileStored(revision), policyId, source }
  }
  if (/^[0-9]/.test(reference)) {
    const policy = await requirePolicy(context, command.text('policy'))
    return stored(await requireRevision(context, policy, reference))
  }
  const revision = await store.policies.findRevision(organizationId, reference)
  if (revision === null) throw new CommandFailedError(`there is no revision ${reference}`)
  return stored(revision)
}

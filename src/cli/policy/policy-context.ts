// Shared by all `countersign policy` commands: reading documents from files and from the store, and output.

import { readFileSync } from 'node:fs'
import type { ChainTable } from '../../domain/chain.ts'
import { counted } from '../../lib/counted.ts'
import type { KnownSources } from '../../policy/cel/scope.ts'
import { type PolicyIssue, PolicyUnusableError, renderIssues } from '../../policy/errors.ts'
import { compileRevision, draftRevision, type RevisionDraft } from '../../policy/revision.ts'
import type { CompiledPolicy } from '../../policy/types/program.ts'
import { type AnswerOf, type Opened, readPages } from '../admin-client.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, UsageError } from '../output.ts'

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

export type Policy = AnswerOf<'GET /organizations/{organization}/policies/{policy}'>
export type Revision = AnswerOf<'GET /organizations/{organization}/policies/{policy}/revisions/{revision}'>

export const requirePolicy = async (
  { admin, organizationId: organization }: PolicyStoreContext,
  policy: string | undefined,
): Promise<Policy> => {
  if (policy === undefined) throw new UsageError('the policy ID is missing')
  return admin.call('GET /organizations/{organization}/policies/{policy}', {
    params: { organization, policy },
    unknown: `there is no policy ${policy}`,
  })
}

/** A policy's revisions, newest first, without their documents. */
export const readRevisions = ({ admin, organizationId: organization }: PolicyStoreContext, { id: policy }: Policy) =>
  readPages((query) =>
    admin.call('GET /organizations/{organization}/policies/{policy}/revisions', {
      params: { organization, policy },
      query,
    }),
  )

/** Finds a revision of a policy by number or id. @throws CommandFailedError */
export const requireRevision = async (
  context: PolicyStoreContext,
  policy: Policy,
  wanted: string,
): Promise<Revision> => {
  const { admin, organizationId: organization } = context
  const numbered = /^[0-9]/.test(wanted)
    ? (await readRevisions(context, policy)).find(({ number }) => String(number) === wanted)
    : undefined
  return admin.call('GET /organizations/{organization}/policies/{policy}/revisions/{revision}', {
    params: { organization, policy: policy.id, revision: numbered?.id ?? wanted },
    unknown: `${policy.id} has no revision ${wanted}`,
  })
}

/** @throws CommandFailedError when this version can't compile the stored revision */
const compileStored = async ({ id, source, content_hash: contentHash }: Revision): Promise<CompiledPolicy> => {
  try {
    return await compileRevision({ id, source, contentHash })
  } catch (error) {
    if (error instanceof PolicyUnusableError) throw new CommandFailedError(`revision ${id} can not be used`)
    throw error
  }
}

/** Whether a text is a revision's id, or a number of one (which needs --policy), rather than a file. */
export const isRevisionReference = (text: string): boolean => /^(?:revision_[A-Za-z0-9]+|[1-9][0-9]{0,8})$/.test(text)

/** Finds a revision by its id, or by its number with --policy. @throws CommandFailedError */
const findRevision = async (context: PolicyStoreContext, reference: string): Promise<Revision> => {
  const { admin, organizationId: organization, command } = context
  if (/^[0-9]/.test(reference)) {
    return requireRevision(context, await requirePolicy(context, command.text('policy')), reference)
  }
  return admin.call('GET /organizations/{organization}/revisions/{revision}', {
    params: { organization, revision: reference },
    unknown: `there is no revision ${reference}`,
  })
}

/** Reads a policy from a revision's id, a revision's number with --policy, or a file. */
export const resolvePolicyText = async (
  context: PolicyStoreContext,
  reference: string,
): Promise<{ readonly policy: CompiledPolicy; readonly policyId: string | null; readonly source: string }> => {
  if (!isRevisionReference(reference)) {
    const { compiled, source } = readDraft(reference)
    return { policy: compiled, policyId: null, source }
  }
  const revision = await findRevision(context, reference)
  return { policy: await compileStored(revision), policyId: revision.policy_id, source: revision.source }
}

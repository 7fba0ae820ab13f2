// Shared by policy commands that aren't derived from operations.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { knownSources } from '../admin/policies/find.ts'
import { counted } from '../lib/counted.ts'
import type { KnownSources } from '../policy/cel/scope.ts'
import { PolicyUnusableError } from '../policy/evaluation-errors.ts'
import { PolicyInvalidError, type PolicyIssue, renderIssues } from '../policy/issues.ts'
import { compileRevision, draftRevision, type RevisionDraft } from '../policy/revision.ts'
import type { CompiledPolicy } from '../policy/types/program.ts'
import { type AdminClient, type AnswerOf, readPages } from './admin-client.ts'
import { type CommandContext, text } from './command.ts'
import { requireOrganization } from './in-organization.ts'
import { readText } from './option-values.ts'
import { CommandFailedError, UsageError } from './output.ts'

export const REVISION_WORD = { name: 'REVISION_OR_FILE', help: 'Revision ID, revision number with --policy, or file' }
export const REVISION_OPTION = text('policy', 'ID', 'Policy of the revision, or policy to compare a file with')

/** Context with the organization of --org. */
export interface PolicyContext extends CommandContext {
  readonly admin: AdminClient
  readonly organization: string
}

export const inOrganization = async (context: CommandContext): Promise<PolicyContext> => {
  const { admin } = await context.open()
  return { ...context, admin, organization: await requireOrganization({ admin }, context.command.text('org')) }
}

/** Prints the mistakes of an invalid document; the exit code is then 1. */
export const reportingMistakes =
  (run: (context: CommandContext) => Promise<number> | number) =>
  async (context: CommandContext): Promise<number> => {
    try {
      return await run(context)
    } catch (error) {
      if (!(error instanceof PolicyInvalidError)) throw error
      const { issues, warnings } = error
      const { command, output } = context
      if (command.flag('json')) output.stdout(`${JSON.stringify({ valid: false, issues, warnings })}\n`)
      else output.stderr(`${error.message}\n`)
      return 1
    }
  }

/** Sources for checks without a store. */
export const knownChains = ({ deployment }: CommandContext): KnownSources => ({
  chains: new Set(deployment.config.chains.chains.map(({ name }) => name)),
})

/** Documents may name the deployment's chains and, with --org, its screeners and the organization's lists. */
export const knownHere = async (context: CommandContext): Promise<KnownSources> => {
  const { chains = new Set<string>() } = knownChains(context)
  if (context.command.text('org') === undefined) return { chains }
  const { organization } = await inOrganization(context)
  const screeners = new Set(context.deployment.config.screeners.keys())
  return knownSources((await context.open()).store, organization, { screeners, chains })
}

const DOCUMENT_FILE = /\.(?:ya?ml|json)$/

/** Returns the path, or the documents in a folder without its subfolders. @throws CommandFailedError */
export const documentsAt = (path: string): readonly string[] => {
  if (!existsSync(path) || !statSync(path).isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => DOCUMENT_FILE.test(name))
  if (names.length === 0) throw new CommandFailedError(`${path} has no .yaml, .yml or .json file`)
  return names.toSorted().map((name) => join(path, name))
}

/** @throws PolicyInvalidError with all mistakes */
export const readDraft = (path: string, known: KnownSources = {}): RevisionDraft => draftRevision(readText(path), known)

/** Prints nothing with --json, because the printed value contains the warnings. */
export const printWarnings = (
  { output, command }: CommandContext,
  source: string,
  warnings: readonly PolicyIssue[],
): void => {
  if (warnings.length === 0 || command.flag('json')) return
  const what = counted(warnings.length, 'warning', 'warnings')
  output.stderr(`${what}:\n${renderIssues(source, warnings)}\n`)
}

const POLICY = '/organizations/{organization}/policies/{policy}'
type Revision = AnswerOf<`GET ${typeof POLICY}/revisions/{revision}`>

export const requirePolicy = async ({ admin, organization }: PolicyContext, policy: string | undefined) => {
  if (policy === undefined) throw new UsageError('--policy ID is required')
  return admin.call(`GET ${POLICY}`, { params: { organization, policy }, unknown: `unknown policy ${policy}` })
}

/** @param revision number or id. @throws CommandFailedError */
export const requireRevision = async (
  { admin, organization }: PolicyContext,
  policy: string,
  wanted: string,
): Promise<Revision> => {
  const params = { organization, policy }
  const numbered = /^[0-9]/.test(wanted)
    ? (await readPages((query) => admin.call(`GET ${POLICY}/revisions`, { params, query }))).find(
        ({ number }) => String(number) === wanted,
      )
    : undefined
  return admin.call(`GET ${POLICY}/revisions/{revision}`, {
    params: { ...params, revision: numbered?.id ?? wanted },
    unknown: `${policy} has no revision ${wanted}`,
  })
}

/** Returns whether the text is a revision id, or a number (which needs --policy); otherwise the text is a file. */
export const isRevisionReference = (text: string): boolean => /^(?:revision_[A-Za-z0-9]+|[1-9][0-9]{0,8})$/.test(text)

const findRevision = async (context: PolicyContext, reference: string): Promise<Revision> => {
  const { admin, organization, command, isRemote } = context
  // The admin API reads a revision only within its policy.
  if (isRemote || /^[0-9]/.test(reference)) {
    return requireRevision(context, (await requirePolicy(context, command.text('policy'))).id, reference)
  }
  return admin.call('GET /organizations/{organization}/revisions/{revision}', {
    params: { organization, revision: reference },
    unknown: `unknown revision ${reference}`,
  })
}

/** @param reference revision id, number with --policy, or file. @throws CommandFailedError */
export const resolvePolicyText = async (
  context: PolicyContext,
  reference: string,
): Promise<{ readonly policy: CompiledPolicy; readonly policyId: string | null; readonly source: string }> => {
  if (!isRevisionReference(reference)) {
    const { compiled, source } = readDraft(reference)
    return { policy: compiled, policyId: null, source }
  }
  const { id, policy_id: policyId, source, content_hash: contentHash } = await findRevision(context, reference)
  try {
    return { policy: await compileRevision({ id, source, contentHash }), policyId, source }
  } catch (error) {
    if (error instanceof PolicyUnusableError) throw new CommandFailedError(`this version cannot use revision ${id}`)
    throw error
  }
}

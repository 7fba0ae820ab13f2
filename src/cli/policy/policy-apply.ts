// `countersign policy apply|sync`: policies from files, matched by name. An unchanged document makes no revision, so
// both commands can be repeated.
import { type AdminClient, readPages } from '../../command-line/admin-client.ts'
import type { CommandContext } from '../../command-line/command.ts'
import { readText } from '../../command-line/option-values.ts'
import { CommandFailedError, formatTable, print, UsageError } from '../../command-line/output.ts'
import { documentsAt, inOrganization, type PolicyContext, printWarnings } from '../../command-line/policy-context.ts'
import { finish } from '../../policy/cel/steps.ts'
import { readPolicyDocument } from '../../policy/document/document.ts'
import { type PolicyIssue, renderIssues } from '../../policy/issues.ts'
import { contentHashOf } from '../../policy/revision.ts'
import { PROGRAM } from '../../program/labels.ts'

const POLICIES = '/organizations/{organization}/policies'

const readPolicies = ({ admin, organization }: PolicyContext) =>
  readPages((query) => admin.call(`GET ${POLICIES}`, { params: { organization }, query }))

type Policies = Awaited<ReturnType<typeof readPolicies>>

/** Returns null if no policy has the name. @throws UsageError if several policies have it */
const policyNamed = (policies: Policies, name: string): string | null => {
  const [found, ...others] = policies.filter((policy) => policy.name === name)
  if (found === undefined || others.length === 0) return found?.id ?? null
  const ids = [found, ...others].map(({ id }) => id).join(', ')
  throw new UsageError(`several policies are named “${name}”: specify one with policy apply --policy ID (${ids})`)
}

/** Returns the newest saved revision with the document; null if there is none. */
const savedRevision = async ({ admin, organization }: PolicyContext, policy: string, source: string) => {
  const contentHash = contentHashOf(source)
  const params = { organization, policy }
  const revisions = await readPages((query) => admin.call(`GET ${POLICIES}/{policy}/revisions`, { params, query }))
  return revisions.find(({ content_hash: hash }) => hash === contentHash) ?? null
}

const saveRevision = async (admin: AdminClient, organization: string, known: string | null, source: string) => {
  if (known === null) {
    const made = await admin.call(`POST ${POLICIES}`, { params: { organization }, body: { source } })
    return { policy: made.policy.id, revision: { ...made.revision, warnings: made.warnings } }
  }
  const params = { organization, policy: known }
  return {
    policy: known,
    revision: await admin.call(`POST ${POLICIES}/{policy}/revisions`, { params, body: { source } }),
  }
}

/** `none`: already saved, and active if it should be. */
type Change = 'created' | 'saved' | 'activated' | 'none'

interface Target {
  /** Null for the policy with the document's name. */
  readonly policy: string | null
  readonly name: string
  readonly source: string
  readonly activates: boolean
}

const planChange = async (context: PolicyContext, known: string | null, { source, activates }: Target) => {
  if (known === null) return { change: 'created' as const, saved: null }
  const saved = await savedRevision(context, known, source)
  const change: Change = saved === null ? 'saved' : !activates || saved.active ? 'none' : 'activated'
  return { change, saved }
}

/** @throws CommandFailedError that also states the saved revision; any other error unchanged */
const explainSaved =
  (name: string, { number, id }: { readonly number: number; readonly id: string }) =>
  (error: unknown): never => {
    if (!(error instanceof CommandFailedError || error instanceof UsageError)) throw error
    const code = error instanceof CommandFailedError ? error.code : undefined
    throw new CommandFailedError(
      `${name} is saved as revision ${number} (${id}), but its activation failed: ${error.message}. To activate it, run the command again`,
      code,
    )
  }

/**
 * Saves and activates the document if necessary: in one transaction on this machine, in two requests on another
 * machine.
 */
const applyDocument = async (context: PolicyContext, target: Target) => {
  const { organization } = context
  const { source, activates } = target
  const warnings: readonly PolicyIssue[] = []
  return context.admin.together(async (admin) => {
    const inside = { ...context, admin }
    const known = target.policy ?? policyNamed(await readPolicies(inside), target.name)
    const { change, saved } = await planChange(inside, known, target)
    const { policy, revision } =
      known === null || saved === null
        ? await saveRevision(admin, organization, known, source)
        : { policy: known, revision: { ...saved, warnings } }
    const unavailable: string[] = []
    if (activates && !revision.active) {
      const activation = admin.call(`POST ${POLICIES}/{policy}/activate`, {
        params: { organization, policy },
        body: { revision_id: revision.id },
      })
      const activated = await (context.isRemote && saved === null
        ? activation.catch(explainSaved(target.name, revision))
        : activation)
      unavailable.push(...activated.warnings)
    }
    return { policy, change, revision: { ...revision, active: revision.active || activates }, unavailable }
  })
}

type Applied = Awaited<ReturnType<typeof applyDocument>>

const projectsOf = async ({ admin, organization }: PolicyContext, policy: string) =>
  readPages((query) =>
    admin.call('GET /organizations/{organization}/projects', {
      params: { organization },
      query: { ...query, policy_id: policy },
    }),
  )

const stateOf = ({ change, revision }: Applied): string => {
  if (!revision.active) return `${change === 'none' ? 'is already' : 'is'} saved but not active`
  return change === 'none' ? 'is already active' : 'is active'
}

const useText = async (context: PolicyContext, { policy }: Applied, source: string) => {
  const org = context.command.text('org')
  const option = org === undefined ? '' : ` --org ${org}`
  if (finish(readPolicyDocument(source)).document.decides === 'sessions') {
    return {
      projects: [],
      text: `To decide sessions with it: ${PROGRAM} session-policy update --policy ${policy}${option}\n`,
    }
  }
  const projects = (await projectsOf(context, policy)).map(({ id, name }) => ({ id, name }))
  const text =
    projects.length === 0
      ? `No project uses it. To use it: ${PROGRAM} project update PROJECT --policy ${policy}${option}\n`
      : projects.map(({ id, name }) => `Used by project ${name} (${id})\n`).join('')
  return { projects, text }
}

export const apply = async (given: CommandContext): Promise<number> => {
  const source = readText(given.command.words[0] ?? '')
  const context = await inOrganization(given)
  const { name } = finish(readPolicyDocument(source)).document
  const named = context.command.text('policy') ?? null
  const applied = await applyDocument(context, {
    policy: named,
    name,
    source,
    activates: !context.command.flag('draft'),
  })
  const { policy, revision } = applied
  const { projects, text } = await useText(context, applied, source)
  print(
    context,
    { ...applied, projects },
    `${policy}: revision ${revision.number} (${revision.id}) ${stateOf(applied)}\n${text}`,
  )
  printWarnings(context, source, revision.warnings)
  if (!context.command.flag('json')) for (const text of applied.unavailable) context.output.stderr(`${text}\n`)
  return 0
}

interface FolderDocument {
  readonly file: string
  readonly source: string
  readonly name: string
}

/** Checks all documents before the first change. Returns null after printing the mistakes of a document. */
const readFolder = async (context: PolicyContext, folder: string): Promise<readonly FolderDocument[] | null> => {
  const { admin, organization, command, output } = context
  const documents: FolderDocument[] = []
  const invalid: { readonly file: string; readonly issues: readonly PolicyIssue[] }[] = []
  for (const file of documentsAt(folder)) {
    const source = readText(file)
    const checked = await admin.call(`POST ${POLICIES}/check`, { params: { organization }, body: { source } })
    if (checked.policy === null) {
      invalid.push({ file, issues: checked.issues })
      if (!command.flag('json')) output.stderr(`${file}\n${renderIssues(source, checked.issues)}\n`)
      continue
    }
    const { name } = checked.policy
    const same = documents.find((document) => document.name === name)
    if (same !== undefined) throw new UsageError(`${same.file} and ${file} have the same name: ${name}`)
    documents.push({ file, source, name })
  }
  if (invalid.length === 0) return documents
  if (command.flag('json')) output.stdout(`${JSON.stringify({ valid: false, invalid })}\n`)
  return null
}

const CHANGE_TEXTS: Readonly<Record<Change, readonly [made: string, wouldBe: string]>> = {
  created: ['created', 'would be created'],
  saved: ['changed', 'differs'],
  activated: ['activated', 'not active'],
  none: ['unchanged', 'unchanged'],
}

/** Policies that may decide although no document has their name. */
const unmanagedPolicies = async (context: PolicyContext, policies: Policies, documents: readonly FolderDocument[]) => {
  const names = new Set(documents.map(({ name }) => name))
  const unmanaged = []
  for (const { id, name, decides, active_revision_id: active } of policies) {
    if (names.has(name) || active === null) continue
    const projects = (await projectsOf(context, id)).map((project) => project.name)
    if (projects.length > 0 || decides === 'sessions') unmanaged.push({ policy: id, name, projects })
  }
  return unmanaged
}

export const sync = async (given: CommandContext): Promise<number> => {
  const context = await inOrganization(given)
  const documents = await readFolder(context, given.command.words[0] ?? '')
  if (documents === null) return 1
  const dryRun = context.command.flag('dry-run')
  const policies = await readPolicies(context)
  const activates = !context.command.flag('draft')
  // Refuses ambiguous names before the first change.
  const known = new Map(documents.map(({ name }) => [name, policyNamed(policies, name)]))
  const changes = []
  for (const { file, name, source } of documents) {
    const target = { policy: null, name, source, activates }
    const found = known.get(name) ?? null
    const { policy, change, unavailable } = dryRun
      ? { policy: found, ...(await planChange(context, found, target)), unavailable: [] }
      : await applyDocument(context, target)
    for (const text of unavailable) context.output.stderr(`${name}: ${text}\n`)
    changes.push({ file, name, policy, change })
  }
  const unmanaged = await unmanagedPolicies(context, policies, documents)
  const rows = changes.map(({ file, name, policy, change }) => [
    file,
    name,
    policy ?? '-',
    CHANGE_TEXTS[change][dryRun ? 1 : 0],
  ])
  const notes = unmanaged.map(
    ({ policy, name, projects }) =>
      `Not in the folder: ${name} (${policy})${projects.length === 0 ? '' : `, used by ${projects.join(', ')}`}\n`,
  )
  const differs = unmanaged.length > 0 || changes.some(({ change }) => change !== 'none')
  const drift = dryRun ? `The deployment ${differs ? 'differs from' : 'matches'} the folder.\n` : ''
  print(
    context,
    { dry_run: dryRun, changes, unmanaged },
    `${formatTable([['FILE', 'NAME', 'POLICY', 'STATE'], ...rows])}${notes.join('')}${drift}`,
  )
  return dryRun && differs ? 1 : 0
}

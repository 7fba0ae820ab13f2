// `countersign audit`: lists the audit log and verifies it. The log has changes from the command line, the dashboard and the
// admin API.

import { verifyShippedAudit } from '../modules/log-shipping/service/audit-ship.ts'
import { parseShipPlace, type ShipPlace, type ShipTarget } from '../modules/log-shipping/ship-target.ts'
import { type AnswerOf, type Open, type Opened, readPages } from './admin-client.ts'
import { findOrganization } from './in-organization.ts'
import { parseLimit } from './key-options.ts'
import { type CommandOutput, type ParsedCommand, print, shortTime, UsageError, type Verbs } from './output.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign audit list [--limit N] [--action ACTION] [--org NAME]
       countersign audit verify [--shipped] [--from PLACE]

list prints the newest entries last. verify goes through the whole chain: each entry carries the SHA-256 of the one before
it, so none can be changed, put in or taken out of the middle without a trace. It compares the log with the signed heads of it
that are kept beside the decision log's tree, and so finds one that was cut, set back or rewritten. It prints the newest entry's
number and hash: keep them somewhere else, and compare, for whoever could change all of these places.

  --shipped        Also the copy that the service ships beside the decision log: every entry of it, and that the log in the
                   database goes on from there, so that one that was rewritten, cut or set back is found
  --from PLACE     The same for a copy at dir:/path or s3://bucket/prefix
  --limit N        At most so many, 1 to 1000 (default 20)
  --action ACTION  Whose action begins so, for example key.revoke or key.
  --org NAME       Of this organization only, by name or id
  --json           Print JSON
  --help           Print this

Exit codes: 0 done and whole, 1 the chain is broken or it can't be done, 2 the call is wrong.
`

export interface AuditCommandInput {
  readonly output: CommandOutput
  readonly open: Open
  /** @param named null: the configured place */
  readonly openTarget: (named: ShipPlace | null) => ShipTarget
  /** Differences, in words, between the log and its signed heads, which are kept beside the decision log's tree. */
  readonly keptHeadProblems: (store: Opened['store']) => Promise<readonly string[]>
}

interface Context extends AuditCommandInput, Omit<Opened, 'close'> {
  readonly command: ParsedCommand
}

const describe = (entry: AnswerOf<'GET /audit'>['data'][number]) => ({
  sequence: entry.sequence,
  organizationId: entry.organization_id,
  actor: entry.actor,
  actorName: entry.actor_name,
  action: entry.action,
  subject: entry.subject,
  detail: entry.detail,
  requestId: entry.request_id,
  address: entry.address,
  previousHash: entry.previous_hash,
  hash: entry.hash,
  at: shortTime(entry.at),
})

const list = async ({ admin, output, command }: Context): Promise<number> => {
  const limit = parseLimit(command.text('limit'))
  const name = command.text('org')
  const organization = name === undefined ? null : (await findOrganization({ admin }, name)).id
  const found = await readPages((page) => {
    const query = { ...page, action: command.text('action') }
    return organization === null
      ? admin.call('GET /audit', { query })
      : admin.call('GET /organizations/{organization}/audit', { params: { organization }, query })
  }, limit)
  const entries = found.toReversed().map(describe)
  const rows = entries.map(({ sequence, at, actor, actorName, address, action: what, subject, detail }) => [
    String(sequence),
    at,
    actorName === '' ? actor : actorName,
    actor === 'command-line' ? actor : address,
    what,
    subject,
    JSON.stringify(detail),
  ])
  print({ output, command }, entries, [['#', 'WHEN', 'WHO', 'FROM', 'WHAT', 'OF', ''], ...rows])
  return 0
}

const parsePlace = (text: string | undefined): ShipPlace | null => {
  if (text === undefined) return null
  try {
    return parseShipPlace(text)
  } catch (error) {
    throw new UsageError(`--from ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

const verifyCopy = async ({ store, output, command, openTarget }: Context, entries: number): Promise<number> => {
  const target = openTarget(parsePlace(command.text('from')))
  const { audit, deploymentId } = store
  const report = await verifyShippedAudit({ target, deploymentId, audit }, entries)
  if (command.flag('json')) output.stdout(`${JSON.stringify({ target: target.description, ...report })}\n`)
  else if (report.ok) {
    output.stdout(`the copy at ${target.description} is whole: ${report.entries} entries, ${report.behind} behind\n`)
  } else {
    if (report.brokenAt !== null) {
      output.stderr(`the copy at ${target.description} is broken: entry ${report.brokenAt} is missing or altered\n`)
    }
    if (report.difference !== null) output.stderr(`${report.difference}\n`)
  }
  return report.ok ? 0 : 1
}

const verify = async (context: Context): Promise<number> => {
  const { store, output, command } = context
  const { ok, entries, brokenAt, headHash } = await store.audit.verify()
  const problems = await context.keptHeadProblems(store)
  const isWhole = ok && problems.length === 0
  if (command.flag('json')) output.stdout(`${JSON.stringify({ ok: isWhole, entries, brokenAt, headHash, problems })}\n`)
  else if (isWhole) output.stdout(`whole: ${entries} entries, the newest has the hash ${headHash}\n`)
  else if (!ok) {
    output.stderr(`broken: entry ${brokenAt} is missing, or does not fit to the ${entries} before it\n`)
  }
  if (!command.flag('json')) for (const problem of problems) output.stderr(`${problem}\n`)
  const wantsCopy = command.flag('shipped') || command.text('from') !== undefined
  const copy = wantsCopy ? await verifyCopy(context, entries) : 0
  return isWhole ? copy : 1
}

const VERBS: Verbs<(context: Context) => Promise<number>> = {
  list: { run: list, words: 0 },
  verify: { run: verify, words: 0 },
}

const COMMAND = {
  help: USAGE,
  subject: 'the audit log',
  verbs: VERBS,
  texts: ['limit', 'action', 'org', 'from'],
  flags: ['shipped'],
}

export const runAudit = (commandArguments: readonly string[], input: AuditCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, async (run, command) => {
    const opened = await input.open()
    try {
      return await run({ ...input, ...opened, command })
    } finally {
      await opened.close()
    }
  })

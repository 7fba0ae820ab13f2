// `countersign audit verify`: verifies the audit log's hash chain, signed heads and shipped copy.

import { existsSync } from 'node:fs'
import { type Command, type CommandContext, flag, text } from '../command-line/command.ts'
import { parsePlace } from '../command-line/decisions-commands.ts'
import { LOG_COPIES, LOG_TREE } from '../command-line/log-services.ts'
import { CommandFailedError } from '../command-line/output.ts'

const verifyCopy = async (context: CommandContext, entries: number): Promise<boolean> => {
  const { output, command, deployment } = context
  const copies = deployment.findService(LOG_COPIES)
  if (copies === null)
    throw new CommandFailedError(
      'verifying the copy requires the module log-shipping: remove the module from --without',
    )
  const target = deployment.shipTarget(parsePlace('from', command.text('from')))
  const { audit, deploymentId } = (await context.open()).store
  const report = await copies.verifyAudit({ target, deploymentId, audit }, entries)
  const { ok, brokenAt, difference, behind } = report
  if (command.flag('json')) output.stdout(`${JSON.stringify({ target: target.description, ...report })}\n`)
  else if (ok)
    output.stdout(`the copy at ${target.description} is intact: ${report.entries} entries, ${behind} behind\n`)
  else {
    if (brokenAt !== null) {
      output.stderr(`the copy at ${target.description} is broken: entry ${brokenAt} is missing or altered\n`)
    }
    if (difference !== null) output.stderr(`${difference}\n`)
  }
  return ok
}

/** Heads can't be verified without the module, which a file in the data folder can disable. */
const uncomparedHeads = ({ folder: { auditHead } }: CommandContext['deployment']): readonly string[] =>
  existsSync(auditHead)
    ? [`${auditHead}: not compared, because the service runs without the module transparency; move the file to skip it`]
    : []

const verify = async (context: CommandContext): Promise<number> => {
  const { output, command, deployment } = context
  const { store } = await context.open()
  const { ok, entries, brokenAt, headHash } = await store.audit.verify()
  const tree = deployment.findService(LOG_TREE)
  const problems = tree === null ? uncomparedHeads(deployment) : await tree.auditHeadProblems(deployment, store)
  const isIntact = ok && problems.length === 0
  if (command.flag('json')) {
    const report = { ok: isIntact, entries, broken_at: brokenAt, head_hash: headHash, problems }
    output.stdout(`${JSON.stringify(report)}\n`)
  } else {
    if (isIntact) output.stdout(`intact: ${entries} entries; the newest has the hash ${headHash}\n`)
    if (!ok)
      output.stderr(`broken: entry ${brokenAt} is missing, or does not continue the ${entries} entries before it\n`)
    for (const problem of problems) output.stderr(`${problem}\n`)
  }
  const wantsCopy = command.flag('shipped') || command.text('from') !== undefined
  const isCopyIntact = !wantsCopy || (await verifyCopy(context, entries))
  return isIntact && isCopyIntact ? 0 : 1
}

export const AUDIT_COMMANDS: readonly Command[] = [
  {
    noun: 'audit',
    verb: 'verify',
    summary: 'Verify the hash chain of the audit log',
    description:
      'Each entry contains the SHA-256 of the previous entry, so changed, inserted and removed entries are detected. The log is also ' +
      'compared with its signed heads, which are stored with the tree of the decision log. To detect a rewritten log later, store the printed number and hash on another system.',
    options: [
      flag('shipped', 'Also verify the copy that the service ships with the decision log'),
      text('from', 'PLACE', 'Also verify the copy at dir:/path or s3://bucket/prefix'),
    ],
    isLocal: true,
    run: verify,
  },
]

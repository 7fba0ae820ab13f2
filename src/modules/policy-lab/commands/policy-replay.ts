// `countersign policy replay`: compares a revision or file with recorded decisions.

import type { CommandContext } from '../../../command-line/command.ts'
import { parseMoment } from '../../../command-line/option-values.ts'
import { formatTable, print } from '../../../command-line/output.ts'
import {
  inOrganization,
  type PolicyContext,
  requirePolicy,
  resolvePolicyText,
} from '../../../command-line/policy-context.ts'
import { readListImages } from '../../../domain/list-image.ts'
import type { ReplayChange, ReplaySummary } from '../../../policy/tools/replay.ts'
import type { CompiledPolicy } from '../../../policy/types/program.ts'
import { PROGRAM } from '../../../program/labels.ts'
import { readLists } from '../service/prepare-replay.ts'
import { readRequiredFields } from '../service/required-fields.ts'
import { replayRecorded } from '../worker/policy-replay.ts'
import { type ReplayedTime, type ReplayFindings, replayInJob } from './policy-replay-job.ts'
import { printSessionReplay, replaySessionsHere } from './policy-session-replay.ts'

const BAR_WIDTH = 30
const DRAW_EVERY_MS = 100
const TELL_EVERY_MS = 2_000

const createProgress = ({ output, clock }: PolicyContext) => {
  const isTerminal = process.stderr.isTTY === true
  let [readBytes, totalBytes] = [0, 0]
  let shownMs = clock.monotonicMs()
  const share = (): number => (totalBytes === 0 ? 1 : Math.min(1, readBytes / totalBytes))
  const draw = (): void => {
    const filled = Math.round(share() * BAR_WIDTH)
    const percent = `${Math.floor(share() * 100)}%`
    if (isTerminal) output.stderr(`\r[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ${percent.padStart(4)}`)
    else output.stderr(`${percent} of ${totalBytes} bytes read\n`)
  }
  return {
    show: (read: number, total: number): void => {
      readBytes = read
      totalBytes = total
      const nowMs = clock.monotonicMs()
      if (nowMs - shownMs < (isTerminal ? DRAW_EVERY_MS : TELL_EVERY_MS)) return
      shownMs = nowMs
      draw()
    },
    end: (): void => {
      if (!isTerminal) return
      readBytes = totalBytes
      draw()
      output.stderr('\n')
    },
  }
}

const outcome = ({ compliant, rule }: ReplayChange['from']): string =>
  `${compliant ? 'allow' : 'deny'} by ${rule ?? 'default'}`

const render = (summary: ReplaySummary, unreadable: number): string => {
  const { decisions, same, changes, unknown, failed, byLists } = summary
  const add = (some: readonly ReplayChange[]): number => some.reduce((sum, { count }) => sum + count, 0)
  const otherwise = changes.filter(({ from, to }) => from.compliant !== to.compliant)
  const verdicts = add(otherwise)
  const rulesOnly = add(changes) - verdicts
  const head = `${decisions} decisions: ${same} unchanged, ${rulesOnly} with a different rule only, ${verdicts} with a different verdict\n`
  const rows = changes.map(({ from, to, count, examples }) => [
    String(count),
    outcome(from),
    outcome(to),
    examples[0] ?? '',
  ])
  const table = changes.length === 0 ? '' : `\n${formatTable([['COUNT', 'WAS', 'WOULD BE', 'EXAMPLES'], ...rows])}`
  const notes = [
    ...failed.map(({ rule, count }) => `${count} would fail with 422 in rule ${rule}`),
    ...unknown.map(({ fact, count }) => `${count} could not be replayed: the log does not show ${fact}`),
    ...(byLists === 0 ? [] : [`${byLists} were decided by the organization's lists`]),
    ...(unreadable === 0 ? [] : [`${unreadable} lines could not be read: run ${PROGRAM} decisions verify`]),
  ]
  return `${head}${table}${notes.length === 0 ? '' : `\n${notes.join('\n')}\n`}`
}

const replayHere = async (
  context: PolicyContext,
  policy: CompiledPolicy,
  subject: string,
  { sinceMs, untilMs }: ReplayedTime,
): Promise<ReplayFindings> => {
  const { organization, deployment, clock } = context
  const { store } = await context.open()
  const options = {
    chain: deployment.config.chains.byName,
    lists: readListImages(await readLists({ store, clock }, organization, null), clock.unixSeconds),
    required: await readRequiredFields(store, organization, subject, policy),
  }
  const progress = createProgress(context)
  const decisions = {
    directory: deployment.folder.decisions,
    organizationId: organization,
    policyId: subject,
    sinceMs,
    untilMs,
  }
  const { bytes: _, ...findings } = await replayRecorded(policy, decisions, options, progress.show)
  progress.end()
  return findings
}

export const replay = async (given: CommandContext): Promise<number> => {
  const { command, clock } = given
  const momentMs = (name: string, text: string): number =>
    parseMoment(text, `--${name}`, clock.unixSeconds(), 'past') * 1_000
  const until = command.text('until')
  const untilMs = until === undefined ? Number.POSITIVE_INFINITY : momentMs('until', until)
  const since = command.text('since')
  const givenSinceMs = since === undefined ? null : momentMs('since', since)
  const context = await inOrganization(given)
  const { policy, policyId, source } = await resolvePolicyText(context, command.words[0] ?? '')
  const ofSessions = policy.document.decides === 'sessions'
  const time = { sinceMs: givenSinceMs ?? momentMs('since', ofSessions ? '365d' : '7d'), untilMs }
  if (ofSessions && !given.isRemote) return printSessionReplay(context, await replaySessionsHere(context, source, time))
  const subject = policyId ?? (await requirePolicy(context, command.text('policy'))).id
  const job = given.isRemote ? await replayInJob(context, subject, source, time) : null
  if (job !== null && 'disagreements' in job) return printSessionReplay(context, job)
  const { unreadable, ...summary } = job ?? (await replayHere(context, policy, subject, time))
  print(
    context,
    { policy: subject, since: new Date(time.sinceMs).toISOString(), ...summary, unreadable },
    render(summary, unreadable),
  )
  return 0
}

// `countersign decisions tail|verify`, even while the service runs.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, type CommandContext, flag, text } from '../command-line/command.ts'
import {
  type DecisionsTable,
  decisionsCommands,
  isoTime,
  PLACE,
  parsePlace,
  printReport,
  printTree,
  type RunDecisions,
  shown,
} from '../command-line/decisions-commands.ts'
import { LOG_COPIES, LOG_TREE, type LogCopies, type TreeCheck } from '../command-line/log-services.ts'
import { parseWhole } from '../command-line/option-values.ts'
import { CommandFailedError, UsageError } from '../command-line/output.ts'
import { followDecisions } from '../decision-log/follow.ts'
import { readTail, type TailEntry } from '../decision-log/tail.ts'
import { type VerifyProgress, verifyDecisions } from '../decision-log/verify.ts'
import type { ShipPlace, ShipTarget } from '../object-store/ship-target.ts'
import { PROGRAM } from '../program/labels.ts'

const POLL_MS = 250
const PROGRESS_MS = 1_000

export interface DecisionsIo {
  readonly dataDirectory: string
  readonly signal?: AbortSignal
  /** @param place null for the target in the settings. @throws CommandFailedError */
  readonly openTarget: (place: ShipPlace | null) => ShipTarget
  /** Compares a log with its tree; null to check only hash chains. */
  readonly checkOf: ((checkpoints: readonly string[], archivedBefore: string | null) => TreeCheck) | null
  readonly copies: LogCopies | null
  /** Delay between reads of `tail --follow`. Defaults to 250 ms. */
  readonly wait?: () => Promise<void>
}

const ioOfDeployment = ({ deployment }: CommandContext): DecisionsIo => {
  const tree = deployment.findService(LOG_TREE)
  return {
    dataDirectory: deployment.config.dataDir,
    openTarget: deployment.shipTarget,
    checkOf: tree === null ? null : (...heads) => tree.checkOf(deployment, ...heads),
    copies: deployment.findService(LOG_COPIES),
  }
}

type Run = RunDecisions<DecisionsIo>

const describe = ({ slot, record }: TailEntry): string => {
  const start = `${isoTime(record.at)} ${slot} ${record.uuid}`
  if (record.kind === 'withheld') return `${start} withheld after the deadline`
  const { compliant, kind, chain, from, to, policy_name, rule, code } = record
  const reason = compliant || code === undefined ? '' : ` code ${shown(code)}`
  const by = rule === null ? 'default' : `rule ${shown(rule)}`
  const verdict = compliant ? 'compliant' : 'denied'
  return `${start} ${kind} ${verdict} ${shown(chain)} ${shown(from)} -> ${shown(to)} ${shown(policy_name)} ${by}${reason}`
}

const tail: Run = async ({ command, output }, io, directory) => {
  const count = parseWhole(command.text('lines') ?? '10', '--lines')
  const json = command.flag('json')
  const print = (entry: TailEntry): void => output.stdout(`${json ? entry.line : describe(entry)}\n`)
  const { entries, position, unreadable, unreadableAt } = readTail(directory, count)
  for (const entry of entries) print(entry)
  if (unreadable > 0) {
    output.stderr(
      `${unreadable} lines could not be read, the latest at ${unreadableAt}: run ${PROGRAM} decisions verify\n`,
    )
  }
  if (command.flag('follow')) {
    const wait = io.wait ?? (() => sleep(POLL_MS))
    for await (const entry of followDecisions({
      directory,
      position,
      wait,
      signal: io.signal ?? new AbortController().signal,
    }))
      print(entry)
  }
  return unreadable > 0 ? 1 : 0
}

const verify: Run = async ({ command, output, clock }, io, directory) => {
  const { stdout, stderr } = output
  const json = command.flag('json')
  const archivedBefore = command.text('archived-before') ?? null
  if (archivedBefore !== null && Number.isNaN(Date.parse(archivedBefore))) {
    throw new UsageError('--archived-before must be a time')
  }
  const from = command.text('from')
  const place = from === 'shipped' ? null : parsePlace('from', from)
  const checkpoints = command.texts('checkpoint')
  const isChainsOnly = command.flag('chains')
  if (isChainsOnly && checkpoints.length > 0) throw new UsageError('--checkpoint cannot be used with --chains')
  // A file in the data folder can leave the module out, so skip the tree only on request.
  if (io.checkOf === null && !isChainsOnly) {
    throw new CommandFailedError(
      'the log cannot be compared with its tree, because the service runs without the module transparency: verify only the hash chains with --chains',
    )
  }
  const checkTree = isChainsOnly ? null : (io.checkOf?.(checkpoints, archivedBefore) ?? null)
  const { monotonicMs } = clock
  if (from !== undefined) {
    if (io.copies === null)
      throw new CommandFailedError('--from requires the module log-shipping: remove the module from --without')
    return io.copies.verifyDecisions({ target: io.openTarget(place), json, monotonicMs, stdout, stderr, checkTree })
  }
  let lastPrintedMs = monotonicMs()
  const onProgress = ({ pass, bytesRead, bytesTotal }: VerifyProgress): void => {
    if (monotonicMs() - lastPrintedMs < PROGRESS_MS) return
    lastPrintedMs = monotonicMs()
    stderr(`pass ${pass}: ${Math.floor((100 * bytesRead) / Math.max(bytesTotal, 1))}% of ${bytesTotal} bytes\n`)
  }
  const report = await verifyDecisions(directory, { onProgress })
  const tree = (await checkTree?.(directory)) ?? null
  if (json) stdout(`${JSON.stringify(tree === null ? report : { ...report, tree })}\n`)
  else {
    printReport(report, stdout)
    if (tree !== null) printTree(tree, stdout)
  }
  return report.ok && tree?.ok !== false ? 0 : 1
}

const TABLE: DecisionsTable<DecisionsIo> = [
  {
    verb: 'tail',
    summary: 'Print the newest records of all workers, oldest first',
    description: 'With --json, prints the raw log lines.',
    options: [
      text('lines', 'N', 'Number of records. Defaults to 10', { short: 'n' }),
      flag('follow', 'Print records as they are written, until interrupted', 'f'),
    ],
    run: tail,
  },
  {
    verb: 'verify',
    summary: 'Verify all hashes, lines and links between files, and that all UUIDs are unique',
    description:
      'Compares the log with its signed tree, and the tree with its heads in the tables, the head’s file, the store and the shipped copies. To detect a change to all of these at once, pass a head stored on another system with --checkpoint. To check line 3 of a file by hand: sed -n 2p FILE | tr -d "\\n" | sha256sum prints its "prev".',
    options: [
      text('checkpoint', 'FILE', 'Signed head stored elsewhere, which the tree must extend', { many: true }),
      text('archived-before', 'TIME', 'Do not report missing files from before this time, which were archived'),
      flag('chains', 'Skip the tree, for a copy without its store'),
      text(
        'from',
        'PLACE',
        `Verify the copies of all nodes at ${PLACE}, or at the configured location (shipped). Requires free space in TMPDIR`,
      ),
    ],
    run: verify,
  },
]

export const decisionsCommandsOver = (ioOf: (context: CommandContext) => DecisionsIo): readonly Command[] =>
  decisionsCommands(TABLE, ioOf)

export const DECISIONS_COMMANDS = decisionsCommandsOver(ioOfDeployment)

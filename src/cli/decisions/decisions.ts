// `countersign decisions tail|verify|prove|ship`: the decision log for people and scripts. The service may be running.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, type CommandContext, flag, text } from '../../command-line/command.ts'
import { parseWhole } from '../../command-line/option-values.ts'
import { CommandFailedError, print, UsageError } from '../../command-line/output.ts'
import { DecisionDirectoryMissingError } from '../../decision-log/errors.ts'
import { followDecisions } from '../../decision-log/follow.ts'
import { readTail, type TailEntry } from '../../decision-log/tail.ts'
import { type VerifyProgress, verifyDecisions } from '../../decision-log/verify.ts'
import type { BegunTree } from '../../modules/transparency/service/begin-tree.ts'
import type { TreeAccess } from '../../modules/transparency/service/tree-access.ts'
import { encodeVerifierKey } from '../../modules/transparency/tree/note.ts'
import { parseShipPlace, type ShipPlace, type ShipTarget } from '../../object-store/ship-target.ts'
import { locatePassphrase } from '../../setup/passphrase.ts'
import { publishTree } from './decisions-publish.ts'
import { isoTime, printReport, shown } from './decisions-report.ts'
import { runShip, runVerifyShipped } from './decisions-ship.ts'
import { createTreeCheck, openTreeForCommand, printTree, runProve } from './decisions-tree.ts'

const POLL_MS = 250
const PROGRESS_MS = 1_000

/** The log of a node, and its surroundings. */
export interface DecisionsIo {
  readonly dataDirectory: string
  /** Ends `tail --follow` and `ship`; without it they run until the process ends. */
  readonly signal?: AbortSignal
  /** @param place null: the place in the settings. @throws CommandFailedError */
  readonly openTarget: (place: ShipPlace | null) => ShipTarget
  /** Null: checks the hash chains only. @throws CommandFailedError */
  readonly openTree: (() => Promise<TreeAccess>) | null
  readonly beginTree: () => Promise<BegunTree>
  /** Milliseconds between two passes of `ship`. */
  readonly shipEveryMs: number
  /** Waits between two reads of `tail --follow`; 250 ms unless given. */
  readonly wait?: () => Promise<void>
}

const ioOfDeployment = ({ deployment }: CommandContext): DecisionsIo => {
  const { config, folder, openStore, shipTarget } = deployment
  return {
    dataDirectory: config.dataDir,
    shipEveryMs: deployment.shipping?.intervalMs ?? 0,
    openTarget: shipTarget,
    beginTree: () =>
      deployment.runAlone(async (store) => {
        const { beginTree } = await import('../../modules/transparency/service/begin-tree.ts')
        const passphrase = locatePassphrase(config, folder, false)
        return beginTree({ folder, store, target: await deployment.locateStore(), passphrase, now: new Date() })
      }),
    openTree: async () =>
      openTreeForCommand(openStore, {
        folder,
        target: await deployment.locateStore(),
        shipTarget: (deployment.shipping?.place ?? null) === null ? null : () => shipTarget(null),
      }),
  }
}

const describe = ({ slot, record }: TailEntry): string => {
  const start = `${isoTime(record.at)} ${slot} ${record.uuid}`
  if (record.kind === 'withheld') return `${start} withheld after the deadline`
  const { compliant, kind, chain, from, to, policy_name, rule, code } = record
  const reason = compliant || code === undefined ? '' : ` code ${shown(code)}`
  const by = rule === null ? 'default' : `rule ${shown(rule)}`
  const verdict = compliant ? 'compliant' : 'denied'
  return `${start} ${kind} ${verdict} ${shown(chain)} ${shown(from)} -> ${shown(to)} ${shown(policy_name)} ${by}${reason}`
}

type Run = (context: CommandContext, io: DecisionsIo, directory: string) => Promise<number>

const NO_SIGNAL = new AbortController().signal

const tail: Run = async ({ command, output }, io, directory) => {
  const count = parseWhole(command.text('lines') ?? '10', '--lines')
  const json = command.flag('json')
  const print = (entry: TailEntry): void => output.stdout(`${json ? entry.line : describe(entry)}\n`)
  const { entries, position, unreadable, unreadableAt } = readTail(directory, count)
  for (const entry of entries) print(entry)
  if (unreadable > 0) {
    output.stderr(
      `${unreadable} lines could not be read, the newest ${unreadableAt}; see countersign decisions verify\n`,
    )
  }
  if (command.flag('follow')) {
    const wait = io.wait ?? (() => sleep(POLL_MS))
    for await (const entry of followDecisions({ directory, position, wait, signal: io.signal ?? NO_SIGNAL }))
      print(entry)
  }
  return unreadable > 0 ? 1 : 0
}

/** @throws UsageError */
const placeOf = (option: string, given: string | undefined): ShipPlace | null => {
  if (given === undefined) return null
  try {
    return parseShipPlace(given)
  } catch (error) {
    throw new UsageError(`--${option} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

const verify: Run = async ({ command, output, clock }, io, directory) => {
  const { stdout, stderr } = output
  const json = command.flag('json')
  const archivedBefore = command.text('archived-before') ?? null
  if (archivedBefore !== null && Number.isNaN(Date.parse(archivedBefore))) {
    throw new UsageError('--archived-before must be a time')
  }
  const from = command.text('from')
  const place = from === 'shipped' ? null : placeOf('from', from)
  const checkTree =
    io.openTree === null || command.flag('chains')
      ? null
      : createTreeCheck(io.openTree, command.texts('checkpoint'), archivedBefore)
  const { monotonicMs } = clock
  if (from !== undefined) {
    return runVerifyShipped({ target: io.openTarget(place), json, monotonicMs, stdout, stderr, checkTree })
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

/** @throws CommandFailedError */
const requireTree = ({ openTree }: DecisionsIo): (() => Promise<TreeAccess>) => {
  if (openTree === null) throw new CommandFailedError('there is no store here')
  return openTree
}

const prove: Run = async ({ command, output }, io, directory) =>
  runProve({
    uuid: (command.words[0] ?? '').toLowerCase(),
    directory,
    openTree: requireTree(io),
    json: command.flag('json'),
    ...output,
  })

const publish: Run = async (context, io) => {
  const target = io.openTarget(placeOf('to', context.command.required('to')))
  const access = await requireTree(io)()
  try {
    const size = await publishTree(access, target)
    print(context, { size }, `${size} lines are under the published head\n`)
    return 0
  } finally {
    await access.close()
  }
}

const beginTree: Run = async (context, io) => {
  const { before, key, putAside } = await io.beginTree()
  const logKey = encodeVerifierKey(key)
  const kept = putAside === null ? '' : `, and is in ${putAside}`
  print(
    context,
    { before, log_key: logKey, kept: putAside },
    `${before} has ended${kept}. The log key is:\n${logKey}\n`,
  )
  return 0
}

const ship: Run = async ({ command, output, clock }, io, directory) =>
  runShip({
    directory,
    target: io.openTarget(placeOf('to', command.text('to'))),
    intervalMs: io.shipEveryMs,
    once: command.flag('once'),
    json: command.flag('json'),
    signal: io.signal ?? NO_SIGNAL,
    monotonicMs: clock.monotonicMs,
    ...output,
  })

const PLACE = 'dir:/path or s3://bucket/prefix'

const TABLE: ReadonlyArray<Omit<Command, 'noun' | 'run'> & { readonly run: Run }> = [
  {
    verb: 'tail',
    summary: 'Print the newest records of all workers, oldest first',
    description: 'With --json, the lines as they are in the log.',
    options: [
      text('lines', 'N', 'Number of records. Defaults to 10', { short: 'n' }),
      flag('follow', 'Print records as they are written, until interrupted', 'f'),
    ],
    run: tail,
  },
  {
    verb: 'verify',
    summary: 'Check every hash, every line, the links between files, and that no uuid occurs twice',
    description:
      'Compares the log with the signed tree over it, and the tree with its heads: in its tables, in the head’s file, in the store and ' +
      'where heads are shipped. A change of all of those at once is found only with a head that somebody else kept: give it with ' +
      '--checkpoint. To check line 3 of a file by hand: sed -n 2p FILE | tr -d "\\n" | sha256sum prints its "prev".',
    options: [
      text('checkpoint', 'FILE', 'Signed head that somebody else kept, which the tree must extend', { many: true }),
      text('archived-before', 'TIME', 'Files from before this time were archived, and are not missed'),
      flag('chains', 'Compare with no tree: for a copy without its store'),
      text(
        'from',
        'PLACE',
        `Check what all nodes have shipped to ${PLACE}, or to the configured place (shipped). Needs room in TMPDIR`,
      ),
    ],
    run: verify,
  },
  {
    verb: 'prove',
    summary: 'Print the proof that a decision of this node is in the log',
    words: [{ name: 'UUID', help: 'Of the decision' }],
    run: prove,
  },
  {
    verb: 'publish',
    summary: 'Write the tree as static files (checkpoint and tile/…), which contain no decisions',
    options: [text('to', 'PLACE', PLACE, { required: true })],
    run: publish,
  },
  {
    verb: 'begin-tree',
    summary: 'Begin the tree over the log again, under another name and key, with the service stopped',
    description:
      'For use after a restore of an older backup. Whoever checks proofs needs the new key; proofs of the old tree remain valid.',
    run: beginTree,
  },
  {
    verb: 'ship',
    summary: 'Copy the log to another place, as the service does if decisions-ship is set',
    options: [
      text('to', 'PLACE', `${PLACE}. Defaults to the place of decisions-ship`),
      flag('once', 'Ship the present log and end, instead of continuing until interrupted'),
    ],
    run: ship,
  },
]

export const decisionsCommands = (ioOf: (context: CommandContext) => DecisionsIo): readonly Command[] =>
  TABLE.map((command) => ({
    ...command,
    noun: 'decisions',
    isLocal: true,
    run: async (context) => {
      const io = ioOf(context)
      try {
        return await command.run(context, io, join(io.dataDirectory, 'decisions'))
      } catch (error) {
        throw error instanceof DecisionDirectoryMissingError ? new CommandFailedError(error.detail) : error
      }
    },
  }))

export const DECISIONS_COMMANDS = decisionsCommands(ioOfDeployment)

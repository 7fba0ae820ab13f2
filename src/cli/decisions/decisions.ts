// `countersign decisions tail|verify|prove|ship`: the decision log for people and scripts. The service may be running.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DecisionDirectoryMissingError } from '../../decision-log/errors.ts'
import { followDecisions } from '../../decision-log/follow.ts'
import { readTail, type TailEntry } from '../../decision-log/tail.ts'
import { type VerifyProgress, verifyDecisions } from '../../decision-log/verify.ts'
import type { ShipPlace, ShipTarget } from '../../modules/log-shipping/ship-target.ts'
import { parseShipPlace } from '../../modules/log-shipping/ship-target.ts'
import type { BegunTree } from '../../modules/transparency/service/begin-tree.ts'
import type { TreeAccess } from '../../modules/transparency/service/tree-access.ts'
import { encodeVerifierKey } from '../../modules/transparency/tree/note.ts'
import { CommandFailedError } from '../output.ts'
import { explainArguments } from '../usage.ts'
import { publishTree } from './decisions-publish.ts'
import { isoTime, printReport, shown } from './decisions-report.ts'
import { runShip, runVerifyShipped } from './decisions-ship.ts'
import { createTreeCheck, printTree, runProve, type TreeCheck } from './decisions-tree.ts'

const HELP = `Usage: countersign decisions <command> [options]

Reads the decision log: one line for each decision that was signed or denied, chained by SHA-256.

Commands:
  tail      Print the newest records of all workers, oldest first.
  verify    Check every hash, every line, the ties between files, and that no uuid occurs twice.
  prove     Print the proof that a decision of this node is in the log: its line, and the way to a signed head.
  publish   Write the tree as static files (checkpoint and tile/…) to a place that others can read. It tells nothing of decisions.
  begin-tree  Begin the tree over the log anew, under another name and key, with the service stopped: after a restore of an
            older backup. Whoever checks proofs has to know the new key; proofs of the old tree keep holding.
  ship      Copy the log to where decisions-ship says, as the service does by itself where that is set.

Options of tail:
  -n, --lines <count>   How many records to print (default 10).
  -f, --follow          Go on printing records as they are written, until interrupted.

Options of verify:
      --checkpoint <file>  A signed head that somebody else kept: the tree must go on from it. May be given more than once.
      --archived-before <time>  Files from before this time (2026-11-20 or 2026-11-20T10:00:00Z) were put away elsewhere, and
                        are not missed.
      --chains          Compare with no tree: what a copy without its store can show.
      --from <place>    What all nodes have shipped to dir:/path or s3://bucket/prefix (or: shipped, where this
                        deployment ships to) instead of this node's own log. Needs room for a copy in TMPDIR.

Options of publish:
      --to <place>      dir:/path or s3://bucket/prefix.

Options of ship:
      --to <place>      dir:/path or s3://bucket/prefix; by default where decisions-ship says.
      --once            Ship what is there now and end, instead of going on until interrupted.

Options of all:
  --json                tail: the lines as they are in the log. verify: the whole report. prove: with the log's key. publish:
                        the lines under the published head. ship: one line a pass.
  -h, --help            Print this.

Exit code: 0 when all is well, 1 when a problem was found, 2 when the command can't be understood.

verify compares the log with the signed tree over it, and the tree with its heads: in its tables, in the head's file, in the
store and where heads are shipped. Whoever changes all of those at once is found only by a head that somebody else kept:
give it with --checkpoint. Any line can be checked by hand, for example line 3 of a file:
  sed -n 2p FILE | tr -d '\\n' | sha256sum      prints the "prev" of line 3
`

const POLL_MS = 250
const PROGRESS_MS = 1_000
const SHIP_EVERY_MS = 10_000

/** Options that belong to one command only. */
const OPTIONS = [
  ['lines', 'tail'],
  ['follow', 'tail'],
  ['from', 'verify'],
  ['checkpoint', 'verify'],
  ['archived-before', 'verify'],
  ['chains', 'verify'],
  ['to', 'ship'],
  ['once', 'ship'],
] as const

export interface DecisionsIo {
  readonly dataDirectory: string
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** Aborted to end `tail --follow` and `ship`; without it they run until the process ends. */
  readonly signal?: AbortSignal
  /** For `ship` and `verify --from`. @param place null: the place in the settings. @throws CommandFailedError */
  readonly openTarget?: (place: ShipPlace | null) => ShipTarget
  /** For `verify`; left out: checks the hash chains only. @throws CommandFailedError */
  readonly openTree?: (() => Promise<TreeAccess>) | undefined
  /** For `begin-tree`. */
  readonly beginTree?: () => Promise<BegunTree>
  /** Milliseconds between two passes of `ship`. */
  readonly shipEveryMs?: number
  /** Waits between two reads of `tail --follow`; 250 ms unless given. */
  readonly wait?: () => Promise<void>
  /** Monotonic milliseconds; decides when progress is printed. */
  readonly monotonicMs?: () => number
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

const runTail = async (directory: string, count: number, follow: boolean, json: boolean, io: DecisionsIo) => {
  const print = (entry: TailEntry): void => io.stdout(`${json ? entry.line : describe(entry)}\n`)
  const { entries, position, unreadable, unreadableAt } = readTail(directory, count)
  for (const entry of entries) print(entry)
  if (unreadable > 0) {
    io.stderr(`${unreadable} lines could not be read, the newest ${unreadableAt}; see countersign decisions verify\n`)
  }
  if (follow) {
    const signal = io.signal ?? new AbortController().signal
    const wait = io.wait ?? (() => sleep(POLL_MS))
    for await (const entry of followDecisions({ directory, position, wait, signal })) print(entry)
  }
  return unreadable > 0 ? 1 : 0
}

const runVerify = async (
  directory: string,
  json: boolean,
  io: DecisionsIo,
  checkTree: TreeCheck | null,
): Promise<number> => {
  const monotonicMs = io.monotonicMs ?? (() => performance.now())
  let lastPrintedMs = monotonicMs()
  const onProgress = ({ pass, bytesRead, bytesTotal }: VerifyProgress): void => {
    if (monotonicMs() - lastPrintedMs < PROGRESS_MS) return
    lastPrintedMs = monotonicMs()
    io.stderr(`pass ${pass}: ${Math.floor((100 * bytesRead) / Math.max(bytesTotal, 1))}% of ${bytesTotal} bytes\n`)
  }
  const report = await verifyDecisions(directory, { onProgress })
  const tree = (await checkTree?.(directory)) ?? null
  if (json) io.stdout(`${JSON.stringify(tree === null ? report : { ...report, tree })}\n`)
  else {
    printReport(report, io.stdout)
    if (tree !== null) printTree(tree, io.stdout)
  }
  return report.ok && tree?.ok !== false ? 0 : 1
}

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      lines: { type: 'string', short: 'n' },
      follow: { type: 'boolean', short: 'f' },
      from: { type: 'string' },
      checkpoint: { type: 'string', multiple: true },
      'archived-before': { type: 'string' },
      chains: { type: 'boolean' },
      to: { type: 'string' },
      once: { type: 'boolean' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })

/** Runs the verb with the arguments after `decisions`. Returns the exit code: 0 ok, 1 problem found, 2 usage. */
export const runDecisions = async (args: string[], io: DecisionsIo): Promise<number> => {
  const misused = (reason: string): number => {
    io.stderr(`${reason}\nTry: countersign decisions --help\n`)
    return 2
  }
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    return misused(explainArguments(error))
  }
  const { values, positionals } = parsed
  if (values.help) {
    io.stdout(HELP)
    return 0
  }
  const [command, ...rest] = positionals
  const isCommand = (known: string): boolean => known === command
  if (command === undefined || !['tail', 'verify', 'prove', 'publish', 'begin-tree', 'ship'].some(isCommand)) {
    return misused('expected one of: tail, verify, prove, publish, begin-tree, ship')
  }
  if (rest.length !== (command === 'prove' ? 1 : 0)) {
    return misused(command === 'prove' ? 'expected the UUID of one decision' : `${command} takes options only`)
  }
  const { lines = '10', follow = false, json } = values
  for (const [option, of] of OPTIONS) {
    if (values[option] === undefined || of === command || (option === 'to' && command === 'publish')) continue
    return misused(`--${option} is an option of ${of}`)
  }
  if (Number.isNaN(Date.parse(values['archived-before'] ?? '2026'))) return misused('--archived-before expects a time')
  if (!/^[0-9]{1,9}$/.test(lines)) return misused('--lines expects a whole number')
  const directory = join(io.dataDirectory, 'decisions')
  const named = values.from ?? values.to ?? ''
  let place: ShipPlace | null = null
  try {
    if (named !== '' && !(command === 'verify' && named === 'shipped')) place = parseShipPlace(named)
  } catch (error) {
    return misused(`--${command === 'verify' ? 'from' : 'to'} ${error instanceof Error ? error.message : ''}`)
  }
  const target = (): ShipTarget => {
    if (io.openTarget === undefined) throw new CommandFailedError('shipping is not set up')
    return io.openTarget(place)
  }
  const monotonicMs = io.monotonicMs ?? (() => performance.now())
  const { stdout, stderr, signal = new AbortController().signal } = io
  try {
    if (command === 'tail') return await runTail(directory, Number(lines), follow, json, io)
    if (command === 'begin-tree') {
      if (io.beginTree === undefined) throw new CommandFailedError('there is no store here')
      const { before, key, putAside } = await io.beginTree()
      stdout(`${before} has ended${putAside === null ? '' : `, and is in ${putAside}`}. The log key is now:\n`)
      stdout(`${encodeVerifierKey(key)}\n`)
      return 0
    }
    if (command === 'publish') {
      if (values.to === undefined) return misused('publish needs --to')
      if (io.openTree === undefined) throw new CommandFailedError('there is no store here')
      const access = await io.openTree()
      try {
        const size = await publishTree(access, target())
        stdout(json ? `${JSON.stringify({ size })}\n` : `${size} lines are under the published head\n`)
      } finally {
        await access.close()
      }
      return 0
    }
    if (command === 'prove') {
      if (io.openTree === undefined) throw new CommandFailedError('there is no store here')
      return await runProve({ uuid: rest.join().toLowerCase(), directory, openTree: io.openTree, json, stdout, stderr })
    }
    if (command === 'verify') {
      const checkTree =
        io.openTree === undefined || values.chains === true
          ? null
          : createTreeCheck(io.openTree, values.checkpoint ?? [], values['archived-before'] ?? null)
      if (values.from === undefined) return await runVerify(directory, json, io, checkTree)
      return await runVerifyShipped({ target: target(), json, monotonicMs, stdout, stderr, checkTree })
    }
    const once = values.once ?? false
    const intervalMs = io.shipEveryMs ?? SHIP_EVERY_MS
    return await runShip({ directory, target: target(), intervalMs, once, json, signal, monotonicMs, stdout, stderr })
  } catch (error) {
    if (error instanceof CommandFailedError) {
      stderr(`${error.message}\n`)
      return 1
    }
    if (!(error instanceof DecisionDirectoryMissingError)) throw error
    stderr(`${error.detail}\n`)
    return 1
  }
}

// `countersign decisions tail|verify`: the decision log for people and scripts. Reads only; the service may be running.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DecisionDirectoryMissingError } from '../decisions/errors.ts'
import { followDecisions } from '../decisions/follow.ts'
import { readTail, type TailEntry } from '../decisions/tail.ts'
import { type VerifyProgress, type VerifyReport, verifyDecisions } from '../decisions/verify.ts'

const HELP = `Usage: countersign decisions <command> [options]

Reads the decision log: one line for each decision that was signed or denied, chained by SHA-256.

Commands:
  tail      Print the newest records of all workers, oldest first.
  verify    Check every hash, every line, the ties between files, and that no uuid occurs twice.

Options of tail:
  -n, --lines <count>   How many records to print (default 10).
  -f, --follow          Go on printing records as they are written, until interrupted.

Options of both:
  --json                tail: the lines as they are in the log. verify: the whole report.
  -h, --help            Print this.

Exit code: 0 when all is well, 1 when a problem was found, 2 when the command can't be understood.

verify can't tell whether the newest lines of a worker were cut off or its very last line was changed: keep the hash
it prints for each worker somewhere else to be able to. Any line can be checked by hand, for example line 3 of a file:
  sed -n 2p FILE | tr -d '\\n' | sha256sum      prints the "prev" of line 3
`

const POLL_MS = 250
const PROGRESS_MS = 1_000

export interface DecisionsIo {
  readonly dataDirectory: string
  readonly stdout: (text: string) => void
  readonly stderr: (text: string) => void
  /** Ends `tail --follow`; without it only the process's end does. */
  readonly signal?: AbortSignal
  /** Between two looks of `tail --follow`; a quarter of a second unless given. */
  readonly wait?: () => Promise<void>
  /** Monotonic milliseconds; decides when progress is printed. */
  readonly monotonicMs?: () => number
}

/** Texts of policies and callers, safe for a terminal: quoted, and everything that could steer it escaped. */
const shown = (text: string): string =>
  JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  )

const isoTime = (atMs: number): string => new Date(atMs).toISOString()

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
  const { entries, position, unreadable } = readTail(directory, count)
  for (const entry of entries) print(entry)
  if (unreadable > 0) io.stderr(`${unreadable} lines could not be read; see countersign decisions verify\n`)
  if (follow) {
    const signal = io.signal ?? new AbortController().signal
    const wait = io.wait ?? (() => sleep(POLL_MS))
    for await (const entry of followDecisions({ directory, position, wait, signal })) print(entry)
  }
  return unreadable > 0 ? 1 : 0
}

const printReport = (report: VerifyReport, stdout: (text: string) => void): void => {
  const newest = new Map<string, string>()
  for (const segment of report.segments) {
    const { slot, name, lines, firstAt, lastAt, lastHash, problem, warnings } = segment
    if (lastHash !== null) newest.set(slot, lastHash)
    const span = firstAt === null || lastAt === null ? '' : ` ${isoTime(firstAt)} to ${isoTime(lastAt)}`
    const state = problem === null ? 'ok' : `PROBLEM at line ${problem.line}: ${shown(problem.detail)}`
    stdout(`${slot}/${name} ${lines} lines${span} ${state}\n`)
    for (const warning of warnings) stdout(`  warning: ${shown(warning)}\n`)
  }
  for (const [slot, hash] of newest) stdout(`${slot} last line ${hash}\n`)
  const bad = report.segments.filter((segment) => !segment.ok).length
  stdout(`${report.decisions} decisions, ${report.withheld} withheld, ${report.segments.length} segments: `)
  stdout(bad === 0 ? 'ok\n' : `${bad} with problems\n`)
}

const runVerify = async (directory: string, json: boolean, io: DecisionsIo): Promise<number> => {
  const monotonicMs = io.monotonicMs ?? (() => performance.now())
  let lastPrintedMs = monotonicMs()
  const onProgress = ({ pass, bytesRead, bytesTotal }: VerifyProgress): void => {
    if (monotonicMs() - lastPrintedMs < PROGRESS_MS) return
    lastPrintedMs = monotonicMs()
    io.stderr(`pass ${pass}: ${Math.floor((100 * bytesRead) / Math.max(bytesTotal, 1))}% of ${bytesTotal} bytes\n`)
  }
  const report = await verifyDecisions(directory, { onProgress })
  if (json) io.stdout(`${JSON.stringify(report)}\n`)
  else printReport(report, io.stdout)
  return report.ok ? 0 : 1
}

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      lines: { type: 'string', short: 'n' },
      follow: { type: 'boolean', short: 'f' },
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
    return misused(error instanceof Error ? error.message : 'the arguments can not be understood')
  }
  const { values, positionals } = parsed
  if (values.help) {
    io.stdout(HELP)
    return 0
  }
  const [command, ...rest] = positionals
  if (rest.length > 0 || (command !== 'tail' && command !== 'verify')) return misused('expected one of: tail, verify')
  const { lines = '10', follow = false } = values
  if (command === 'verify' && (values.lines !== undefined || follow))
    return misused('verify takes no option but --json')
  if (!/^[0-9]{1,9}$/.test(lines)) return misused('--lines expects a whole number')
  const directory = join(io.dataDirectory, 'decisions')
  try {
    return command === 'tail'
      ? await runTail(directory, Number(lines), follow, values.json, io)
      : await runVerify(directory, values.json, io)
  } catch (error) {
    if (!(error instanceof DecisionDirectoryMissingError)) throw error
    io.stderr(`${error.detail}\n`)
    return 1
  }
}

import { join } from 'node:path'
import { DecisionDirectoryMissingError } from '../decision-log/errors.ts'
import type { TreeReport } from '../decision-log/tree-report.ts'
import type { VerifyReport } from '../decision-log/verify.ts'
import { revealHidden } from '../lib/hidden-characters.ts'
import { parseShipPlace, type ShipPlace } from '../object-store/ship-target.ts'
import type { Command, CommandContext } from './command.ts'
import { CommandFailedError, UsageError } from './output.ts'

/** @param directory folder of the node's decision log. @returns the exit code */
export type RunDecisions<Io> = (context: CommandContext, io: Io, directory: string) => Promise<number>

export type DecisionsTable<Io> = ReadonlyArray<Omit<Command, 'noun' | 'run'> & { readonly run: RunDecisions<Io> }>

export const decisionsCommands = <Io extends { readonly dataDirectory: string }>(
  table: DecisionsTable<Io>,
  ioOf: (context: CommandContext) => Io,
): readonly Command[] =>
  table.map((command) => ({
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

export const PLACE = 'dir:/path or s3://bucket/prefix'

/** Returns null if not given. @throws UsageError */
export const parsePlace = (option: string, given: string | undefined): ShipPlace | null => {
  if (given === undefined) return null
  try {
    return parseShipPlace(given)
  } catch (error) {
    throw new UsageError(`--${option} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}

/** Escapes text from a policy or caller that could control the terminal. */
export const shown = (text: string): string => revealHidden(JSON.stringify(text))

export const isoTime = (atMs: number): string => new Date(atMs).toISOString()

export const printReport = (report: VerifyReport, stdout: (text: string) => void): void => {
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
  const state = bad === 0 ? 'ok' : `${bad} with problems`
  stdout(`${report.decisions} decisions, ${report.withheld} withheld, ${report.segments.length} segments: ${state}\n`)
}

export const printTree = (report: TreeReport, stdout: (text: string) => void): void => {
  const { size, compared, newer, elsewhere, problems, warnings } = report
  for (const problem of problems) stdout(`tree PROBLEM: ${shown(problem)}\n`)
  for (const warning of warnings) stdout(`tree warning: ${shown(warning)}\n`)
  const counts = [`${compared} of ${size} lines compared`]
  if (elsewhere > 0) counts.push(`${elsewhere} elsewhere`)
  if (newer > 0) counts.push(`${newer} newer than its head`)
  stdout(`tree: ${counts.join(', ')}: ${problems.length === 0 ? 'ok' : `${problems.length} with problems`}\n`)
}

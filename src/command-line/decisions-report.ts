// Prints the report of a log verification, and escapes log texts for the terminal.
import type { TreeReport } from '../decision-log/tree-report.ts'
import type { VerifyReport } from '../decision-log/verify.ts'
import { revealHidden } from '../lib/hidden-characters.ts'

/** Quotes a text of a policy or caller and escapes characters that could control the terminal. */
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

// A verification of one log as text, and the words that it shares with the other ways of showing a log.
import type { VerifyReport } from '../decisions/verify.ts'

/** Texts of policies and callers, safe for a terminal: quoted, and everything that could steer it escaped. */
export const shown = (text: string): string =>
  JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  )

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

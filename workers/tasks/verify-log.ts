import type { TreeReport } from '../../src/decision-log/tree-report.ts'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import type { TaskProgress } from './run-task.ts'

/** Maximum problems and warnings in the result. `countersign decisions verify` prints all. */
const PROBLEMS_SHOWN = 50

export type CompareWithTree = (directory: string, onChunk: (bytes: number) => void) => Promise<TreeReport>

/** @param compare if null, only the hash chains are verified */
export const verifyLog = async (directory: string, progress: TaskProgress, compare: CompareWithTree | null) => {
  /** Each line is read once for its chain and once for the tree. */
  const passes = compare === null ? 1 : 2
  const report = await verifyDecisions(directory, {
    onProgress: ({ bytesRead, bytesTotal }) => progress.say(bytesRead, passes * bytesTotal),
  })
  let compared = report.bytes
  const tree =
    (await compare?.(directory, (bytes) => {
      compared += bytes
      progress.say(Math.min(compared, passes * report.bytes), passes * report.bytes)
    })) ?? null
  progress.sayNow(passes * report.bytes, passes * report.bytes)
  const newest = new Map(report.segments.flatMap(({ slot, lastHash }) => (lastHash === null ? [] : [[slot, lastHash]])))
  return {
    ok: report.ok && tree?.ok !== false,
    decisions: report.decisions,
    withheld: report.withheld,
    bytes: report.bytes,
    segments: report.segments.length,
    newest_lines: Object.fromEntries(newest),
    problems: report.segments
      .flatMap(({ slot, name, problem }) => (problem === null ? [] : [{ slot, segment: name, ...problem }]))
      .slice(0, PROBLEMS_SHOWN),
    warnings: report.segments
      .flatMap(({ slot, name, warnings }) => warnings.map((detail) => ({ slot, segment: name, detail })))
      .slice(0, PROBLEMS_SHOWN),
    tree:
      tree === null
        ? null
        : {
            ...tree,
            problems: tree.problems.slice(0, PROBLEMS_SHOWN),
            warnings: tree.warnings.slice(0, PROBLEMS_SHOWN),
          },
  }
}

export type LogReport = Awaited<ReturnType<typeof verifyLog>>

// Merges the reports of generators that ran one plan together. Does not detect a uuid that two generators received.
import { mergeSummaries } from './histogram.ts'
import type { LatencySummary, LoadPlan, LoadReport } from './plan.ts'

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Adds counts of the same name. */
const addCounts = <Counts extends object>(counts: readonly Counts[]): Counts => {
  const total: Record<string, number> = {}
  for (const [name, count] of counts.flatMap((each) => Object.entries(each))) total[name] = (total[name] ?? 0) + count
  return total as Counts
}

/** @param reports at least one report */
export const mergeReports = (plan: LoadPlan, reports: readonly LoadReport[]): LoadReport => {
  const [first] = reports
  if (first === undefined) throw new RangeError('no report')
  if (reports.length === 1) return first
  const merge = (summaryOf: (report: LoadReport) => LatencySummary | null): LatencySummary | null => {
    const summaries = reports.flatMap((report) => summaryOf(report) ?? [])
    return summaries.length === 0 ? null : mergeSummaries(summaries)
  }
  return {
    name: plan.name,
    shape: plan.shape,
    windowMs: sum(reports.map(({ windowMs }) => windowMs)) / reports.length,
    completed: sum(reports.map(({ completed }) => completed)),
    throughputPerSecond: sum(reports.map(({ throughputPerSecond }) => throughputPerSecond)),
    statuses: addCounts(reports.map(({ statuses }) => statuses)),
    failures: addCounts(reports.map(({ failures }) => failures)),
    outcomes: addCounts(reports.map(({ outcomes }) => outcomes)),
    latencyMs: mergeSummaries(reports.map(({ latencyMs }) => latencyMs)),
    refusalLatencyMs: mergeSummaries(reports.map(({ refusalLatencyMs }) => refusalLatencyMs)),
    generatorDelayMs: merge(({ generatorDelayMs }) => generatorDelayMs),
    drainedMs: Math.max(...reports.map(({ drainedMs }) => drainedMs)),
    serverCpu: first.serverCpu,
    // Share of the busiest generator, because each can use one core.
    generatorCpuMicroseconds: Math.max(...reports.map((report) => report.generatorCpuMicroseconds)),
    answers: {
      seen: sum(reports.map(({ answers }) => answers.seen)),
      verified: sum(reports.map(({ answers }) => answers.verified)),
      problems: reports.flatMap(({ answers }) => answers.problems),
    },
  }
}

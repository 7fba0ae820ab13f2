// The environment and results of a trial.
import type { PostgresServer } from '../../support/postgres-server.ts'
import { until } from '../../support/until.ts'
import type { Balancer } from '../balancer.ts'
import type { Cluster, Node } from '../cluster.ts'

export interface Stand {
  readonly cluster: Cluster
  readonly balancer: Balancer
  readonly postgres: PostgresServer
  /** Prints a line about the progress. */
  readonly progress: (line: string) => void
}

export interface Finding {
  readonly what: string
  readonly result: string
  readonly goal: string
  readonly reached: boolean
}

export type Trial = (stand: Stand) => Promise<Finding[]>

export const finding = (what: string, result: string, goal: string, reached: boolean): Finding => ({
  what,
  result,
  goal,
  reached,
})

const isReady = ({ api }: Node): Promise<boolean> =>
  fetch(`${api}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )

export const untilReady = async (nodes: readonly Node[]): Promise<void> => {
  await Promise.all(nodes.map((node) => until(() => isReady(node))))
}

/** Percentile of values, with `part` from 0 to 1. */
export const percentile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

export const milliseconds = (value: number): string => `${Math.round(value).toLocaleString('en-US')} ms`

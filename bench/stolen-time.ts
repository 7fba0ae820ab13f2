// Measures the processor time that a virtual machine wanted while its host ran other machines. With much of it, the
// numbers say more about the other machines than about the service. Source: proc(5), "/proc/stat", steal.
import { readFileSync } from 'node:fs'

/** Ticks of all processors since the machine started. */
export interface ProcessorTimes {
  readonly all: number
  readonly stolen: number
}

/** user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of user and nice. */
const STEAL = 7

/** @throws Error for a text without the line of all processors. */
export const parseProcessorTimes = (stat: string): ProcessorTimes => {
  const ticks =
    /^cpu +(.*)$/m
      .exec(stat)?.[1]
      ?.split(' ')
      .slice(0, STEAL + 1)
      .map(Number) ?? []
  const stolen = ticks[STEAL]
  if (stolen === undefined || !ticks.every(Number.isFinite)) throw new Error('a stat file without processor times')
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen }
}

/** Stolen percent of the time between two readings; 0 when no time has passed. */
export const stolenPercent = (before: ProcessorTimes, after: ProcessorTimes): number => {
  const all = after.all - before.all
  return all <= 0 ? 0 : ((after.stolen - before.stolen) / all) * 100
}

export interface StolenTime {
  /** Stolen percent since the last call, or since the start. Null when the system does not report it. */
  since(): number | null
}

export const watchStolenTime = (
  read: () => string = () => readFileSync('/proc/stat', 'utf8'),
  platform: string = process.platform,
): StolenTime => {
  if (platform !== 'linux') return { since: () => null }
  let before = parseProcessorTimes(read())
  return {
    since: () => {
      const after = parseProcessorTimes(read())
      const percent = stolenPercent(before, after)
      before = after
      return percent
    },
  }
}

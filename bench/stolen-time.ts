// Measures steal time: CPU time that the host gave to other machines. If it is high, the numbers describe the other
// machines rather than the service. Source: proc(5), "/proc/stat", steal.
import { readFileSync } from 'node:fs'

/** Ticks of all processors since the machine started. */
export interface ProcessorTimes {
  readonly all: number
  readonly stolen: number
}

/** user, nice, system, idle, iowait, irq, softirq, steal. Later fields are part of user and nice. */
const STEAL = 7

/** @throws Error if the text lacks the line of all processors */
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

/** Returns the stolen percentage between two readings; 0 if no time has passed. */
export const stolenPercent = (before: ProcessorTimes, after: ProcessorTimes): number => {
  const all = after.all - before.all
  return all <= 0 ? 0 : ((after.stolen - before.stolen) / all) * 100
}

export interface StolenTime {
  /** Returns the stolen percentage since the last call or the start. Null if the system does not report it. */
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

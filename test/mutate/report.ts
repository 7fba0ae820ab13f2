// Reports the share of detected mutants by area.
import { areaOf, GUARDED_AREAS } from './sample.ts'
import type { Trial } from './trial.ts'

const GOAL = 0.9
const GUARDED_GOAL = 0.97

interface AreaRate {
  readonly area: string
  readonly tried: number
  readonly noticed: number
}

export interface Report {
  readonly areas: readonly AreaRate[]
  readonly all: AreaRate
  readonly guarded: AreaRate
  readonly isGoalMet: boolean
}

const rateOf = (area: string, trials: readonly Trial[]): AreaRate => ({
  area,
  tried: trials.length,
  noticed: trials.filter(({ result }) => result === 'noticed' || result === 'timed out').length,
})

const shareOf = ({ noticed, tried }: AreaRate): number => (tried === 0 ? 1 : noticed / tried)

export const reportOf = (trials: readonly Trial[]): Report => {
  const byArea = Map.groupBy(trials, ({ mutant }) => areaOf(mutant.file))
  const areas = [...byArea]
    .map(([area, some]) => rateOf(area, some))
    .sort((one, other) => shareOf(one) - shareOf(other))
  const all = rateOf('all', trials)
  const guarded = rateOf(
    'guarded areas',
    trials.filter(({ mutant }) => GUARDED_AREAS.includes(areaOf(mutant.file))),
  )
  return {
    areas,
    all,
    guarded,
    isGoalMet: trials.length > 0 && shareOf(all) >= GOAL && shareOf(guarded) >= GUARDED_GOAL,
  }
}

export const tableOf = ({ areas, all, guarded, isGoalMet }: Report): string => {
  const rows = [...areas, guarded, all].map((rate) => {
    const { area, tried, noticed } = rate
    return `${area.padEnd(20)} ${String(tried).padStart(5)} ${String(noticed).padStart(8)}  ${(100 * shareOf(rate)).toFixed(1).padStart(5)}%`
  })
  const goal = `Goal: ${100 * GOAL}% of all, ${100 * GUARDED_GOAL}% in guarded areas: ${isGoalMet ? 'met' : 'missed'}`
  return `${'area'.padEnd(20)} tried  noticed    rate\n${rows.join('\n')}\n\n${goal}\n`
}

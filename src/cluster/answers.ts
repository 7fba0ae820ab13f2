// Collects metrics for a scrape, and figures for the live view, from all processes. The supervisor requests each
// process's part and combines them.
import type { LiveReading } from '../admin/live/point.ts'
import type { ProcessTarget } from '../admin/live/processes.ts'
import type { Timers } from '../lib/time.ts'
import type { FromProcess } from './messages.ts'
import { mergeMetrics } from './metrics.ts'
import { type Place, stateOf } from './place.ts'
import { createRounds } from './rounds.ts'

export interface ProcessAnswersOptions {
  readonly places: () => readonly Place[]
  readonly target: () => ProcessTarget
  readonly processesMax: number
  readonly after: Timers['after']
}

type Question = Extract<FromProcess, { type: 'collect' | 'metrics' | 'look' | 'figures' }>

/** Timeout for a process's metrics; a process that is too busy is omitted. */
const COLLECT_MS = 1_000
/** Timeout for figures, which are requested every second. */
const LOOK_MS = 500

export const createProcessAnswers = (options: ProcessAnswersOptions) => {
  const { places, target, processesMax, after } = options
  const metrics = createRounds<string>(COLLECT_MS, after)
  const figures = createRounds<LiveReading | null>(LOOK_MS, after)
  let labelled = false
  /** A single process needs no process label. After the number of processes has been above one, the label stays. */
  const several = (): boolean => {
    labelled ||= target().processes > 1
    return labelled
  }

  const listening = (): readonly Place[] => places().filter(({ ready }) => ready)

  const collect = (asker: Place, askerId: number): void => {
    const asked = listening()
    metrics.begin(
      asked.map(({ index }) => index),
      (id) => {
        for (const { process } of asked) process?.send({ type: 'report', id })
      },
      (texts) => {
        const text = several() ? mergeMetrics(texts) : (texts.get(asker.index) ?? '')
        asker.process?.send({ type: 'collected', id: askerId, text })
      },
    )
  }

  const look = (asker: Place, askerId: number): void => {
    const asked = listening()
    figures.begin(
      asked.map(({ index }) => index),
      (id) => {
        for (const { process } of asked) process?.send({ type: 'show', id })
      },
      (readings) => {
        const processes = places().map((place) => ({
          index: place.index,
          pid: place.process?.pid ?? null,
          state: stateOf(place),
          startedAtMs: place.process === null ? null : place.startedAtMs,
          reading: readings.get(place.index) ?? null,
        }))
        asker.process?.send({ type: 'looked', id: askerId, look: { target: target(), processesMax, processes } })
      },
    )
  }

  return {
    look,
    take: (place: Place, message: Question): void => {
      if (message.type === 'collect') collect(place, message.id)
      else if (message.type === 'look') look(place, message.id)
      else if (message.type === 'metrics') metrics.take(message.id, place.index, message.text)
      else figures.take(message.id, place.index, message.reading)
    },
    drop: (index: number): void => {
      metrics.drop(index)
      figures.drop(index)
    },
  }
}

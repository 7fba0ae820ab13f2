// Collects metrics and live figures from all processes.
import type { LiveReading } from '../admin/live/point.ts'
import type { ProcessTarget } from '../admin/live/processes.ts'
import type { Timers } from '../lib/time.ts'
import type { FromProcess } from './messages.ts'
import { type Place, stateOf } from './place.ts'
import { createRounds } from './rounds.ts'

export interface ProcessAnswersOptions {
  readonly places: () => readonly Place[]
  readonly target: () => ProcessTarget
  readonly processesMax: number
  readonly after: Timers['after']
}

type Question = Extract<FromProcess, { type: 'collect' | 'metrics' | 'look' | 'figures' }>

/** Limit for answers. A process that is too busy to respond in time is omitted. */
const COLLECT_MS = 1_000
const LOOK_MS = 500

// Each family appears once, and each sample has a process label. Source:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format.
interface Family {
  readonly comments: string[]
  readonly samples: string[]
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (.+)$/

const labeled = (sample: string, process: number): string => {
  const match = SAMPLE.exec(sample)
  if (match === null) return sample
  const [, name, , labels, value] = match
  const own = `process="${process}"`
  return `${name}{${labels === undefined || labels === '' ? own : `${own},${labels}`}} ${value}`
}

export const mergeMetrics = (expositions: ReadonlyMap<number, string>): string => {
  const families = new Map<string, Family>()
  for (const [process, text] of [...expositions].sort(([a], [b]) => a - b)) {
    let family: Family | undefined
    for (const line of text.split('\n')) {
      if (line === '') continue
      const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)
      if (comment !== null) {
        const [, name = ''] = comment
        family = families.get(name) ?? { comments: [], samples: [] }
        families.set(name, family)
        if (!family.comments.includes(line)) family.comments.push(line)
      } else if (family !== undefined && !line.startsWith('#')) {
        family.samples.push(labeled(line, process))
      }
    }
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples])
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

export const createProcessAnswers = (options: ProcessAnswersOptions) => {
  const { places, target, processesMax, after } = options
  const metrics = createRounds<string>(COLLECT_MS, after)
  const figures = createRounds<LiveReading | null>(LOOK_MS, after)
  let labeled = false
  /** A single process needs no label. Once there were several processes, the label stays. */
  const several = (): boolean => {
    labeled ||= target().processes > 1
    return labeled
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

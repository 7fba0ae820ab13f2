import type { LiveReading } from '../admin/live/point.ts'
import type { ProcessControl, ProcessesLook } from '../admin/live/processes.ts'
import { DependencyUnavailableError } from '../domain/errors.ts'
import type { Timers } from '../lib/time.ts'
import { ASSIGNMENT_VARIABLE, type FromProcess, type ProcessAssignment, type ToProcess } from './messages.ts'

export interface AnsweringProcess {
  metrics(): Promise<string>
  read(): LiveReading
  resize(workers: number): void
}

export interface ProcessLink {
  readonly assignment: ProcessAssignment
  ready(): void
  /** Metrics of all processes; only this process's metrics if the supervisor doesn't respond in time. */
  collectMetrics(own: () => Promise<string>): Promise<string>
  answerWith(own: AnsweringProcess): void
  readonly control: ProcessControl
}

export interface LinkedProcess {
  readonly env: Record<string, string | undefined>
  send?(message: FromProcess): unknown
  on(event: 'message', listener: (message: ToProcess) => void): unknown
}

const ANSWER_WITHIN_MS = 2_000

/** Returns null if there is no supervisor. Removes the assignment from the environment, because it isn't a setting. */
export const createProcessLink = (host: LinkedProcess, after: Timers['after']): ProcessLink | null => {
  const text = host.env[ASSIGNMENT_VARIABLE]
  if (text === undefined) return null
  delete host.env[ASSIGNMENT_VARIABLE]
  const assignment = JSON.parse(text) as ProcessAssignment
  const texts = new Map<number, (text: string) => void>()
  const looks = new Map<number, (look: ProcessesLook) => void>()
  let nextId = 0
  let process: AnsweringProcess | null = null
  const send = (message: FromProcess): void => void host.send?.(message)

  const report = async (id: number): Promise<void> => {
    // The supervisor continues without failed metrics.
    const own = await (process?.metrics() ?? Promise.resolve('')).catch(() => '')
    send({ type: 'metrics', id, text: own })
  }

  const hear = (message: ToProcess): void => {
    switch (message.type) {
      case 'ping':
        send({ type: 'pong' })
        return
      case 'report':
        void report(message.id)
        return
      case 'show':
        send({ type: 'figures', id: message.id, reading: process?.read() ?? null })
        return
      case 'workers':
        process?.resize(message.workers)
        return
      case 'collected':
        texts.get(message.id)?.(message.text)
        return
      case 'looked':
        looks.get(message.id)?.(message.look)
        return
    }
  }
  host.on('message', hear)

  const ask = <Answer>(
    waiting: Map<number, (answer: Answer) => void>,
    question: (id: number) => FromProcess,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const id = ++nextId
      const giveUp = (): void => {
        waiting.delete(id)
        reject(new DependencyUnavailableError('the process supervisor did not respond'))
      }
      // Waits in two halves: after a blocked main thread, timers fire before waiting responses are read.
      let cancel = after(ANSWER_WITHIN_MS / 2, () => {
        cancel = after(ANSWER_WITHIN_MS / 2, giveUp)
      })
      waiting.set(id, (answer) => {
        cancel()
        waiting.delete(id)
        resolve(answer)
      })
      send(question(id))
    })

  return {
    assignment,
    ready: () => send({ type: 'ready' }),
    answerWith: (own) => {
      process = own
    },
    collectMetrics: (own) => ask(texts, (id) => ({ type: 'collect', id })).catch(own),
    control: {
      look: () => ask(looks, (id) => ({ type: 'look', id })),
      resize: (target) => ask(looks, (id) => ({ type: 'resize', id, target })),
    },
  }
}

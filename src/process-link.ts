// A supervised process's end of the line to its supervisor: says that it listens, hands out its metrics, and asks for
// those of all. When the supervisor is gone, so must the process be: nobody would restart or stop it.
import { ASSIGNMENT_VARIABLE, type FromProcess, type ProcessAssignment, type ToProcess } from './process-messages.ts'

export interface ProcessLink {
  readonly assignment: ProcessAssignment
  ready(): void
  /** The metrics of all processes; its own alone when the supervisor does not answer in time. */
  collectMetrics(own: () => Promise<string>): Promise<string>
  /** What it says when it is asked for its own. */
  answerWith(own: () => Promise<string>): void
  onSupervisorLost(stop: () => void): void
}

/** The half of `process` that is used here. */
export interface LinkedProcess {
  readonly env: Record<string, string | undefined>
  send?(message: FromProcess): unknown
  on(event: 'message', listener: (message: ToProcess) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

const COLLECT_TIMEOUT_MS = 2_000

/** Null for a process that nobody supervises. Takes the assignment out of the environment: it is no setting. */
export const createProcessLink = (
  host: LinkedProcess,
  after: (delayMs: number, callback: () => void) => () => void,
): ProcessLink | null => {
  const text = host.env[ASSIGNMENT_VARIABLE]
  if (text === undefined) return null
  delete host.env[ASSIGNMENT_VARIABLE]
  const assignment = JSON.parse(text) as ProcessAssignment
  const waiting = new Map<number, (text: string) => void>()
  let nextId = 0
  let ownMetrics = async (): Promise<string> => ''
  const send = (message: FromProcess): void => void host.send?.(message)

  host.on('message', (message) => {
    if (message.type === 'ping') send({ type: 'pong' })
    else if (message.type === 'collected') waiting.get(message.id)?.(message.text)
    else {
      ownMetrics().then(
        (own) => send({ type: 'metrics', id: message.id, text: own }),
        // The supervisor goes on without them.
        () => send({ type: 'metrics', id: message.id, text: '' }),
      )
    }
  })

  return {
    assignment,
    ready: () => send({ type: 'ready' }),
    answerWith: (own) => {
      ownMetrics = own
    },
    collectMetrics: (own) =>
      new Promise((resolve, reject) => {
        const id = ++nextId
        const cancel = after(COLLECT_TIMEOUT_MS, () => {
          waiting.delete(id)
          own().then(resolve, reject)
        })
        waiting.set(id, (collected) => {
          cancel()
          waiting.delete(id)
          resolve(collected)
        })
        send({ type: 'collect', id })
      }),
    onSupervisorLost: (stop) => void host.on('disconnect', stop),
  }
}

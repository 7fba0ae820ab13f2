// Thousands of event streams in one process: raw connections that keep only the newest status, to save CPU time on the
// client's side.
import type { Socket } from 'bun'
import type { FollowOrder } from './plan.ts'

export interface FollowedSession {
  readonly wallet: string
  readonly sessionId: string
}

export interface StreamSet {
  /**
   * Resolves once each stream, from the session at `start`, has opened with the current status, or failed. A failed stream
   * counts as lost, so that the run still reports numbers. @throws Error if the set has no open stream
   */
  open(sessions: readonly FollowedSession[], start?: number): Promise<void>
  close(): void
  /** Number of streams that could not be opened or that the service closed. */
  lost(): number
}

/** Number of streams opened at once: enough to be fast, and few enough for the listen backlog. */
const OPENING_MAX = 200
const OPENING_LIMIT_MS = 5_000
const STATUS = /"status":"([a-z]+)"/g

const newestStatus = (text: string): string | null => {
  let newest: string | null = null
  for (const [, status = ''] of text.matchAll(STATUS)) newest = status
  return newest
}

interface StreamState {
  readonly index: number
  readonly request: string
  readonly opened: () => void
  /** Data received before the first status. */
  head: string
  begun: boolean
}

/** @param arrived called for each event with the session's position and its status */
export const createStreamSet = (
  { url, key }: Pick<FollowOrder, 'url' | 'key'>,
  arrived: (index: number, status: string, nowMs: number) => void,
  openingLimitMs = OPENING_LIMIT_MS,
): StreamSet => {
  const { hostname, port, host } = new URL(url)
  const sockets: Socket<StreamState>[] = []
  let closing = false
  let opened = 0
  let lost = 0

  const openOne = async (index: number, { sessionId }: FollowedSession): Promise<void> => {
    const opening = Promise.withResolvers<void>()
    const request = `GET /api/v1/status/realtime/individual/${sessionId} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const socket = await Bun.connect<StreamState>({
      hostname,
      port: Number(port),
      data: { index, request, opened: opening.resolve, head: '', begun: false },
      socket: {
        binaryType: 'buffer',
        open: (connected) => {
          connected.write(connected.data.request)
        },
        data: ({ data: state }, chunk) => {
          const nowMs = performance.now()
          const text = chunk.toString('latin1')
          const status = newestStatus(text)
          if (!state.begun) state.head += text
          if (!state.begun && state.head.length >= 12 && !state.head.startsWith('HTTP/1.1 200')) {
            opening.reject(new Error(`a stream: ${state.head.slice(0, 300)}`))
          }
          if (status === null) return
          if (state.begun) arrived(state.index, status, nowMs)
          else state.opened()
          state.begun = true
        },
        close: ({ data: state }) => {
          if (!closing && state.begun) lost += 1
          opening.reject(new Error('a stream ended before it began'))
        },
      },
    })
    sockets.push(socket)
    const timer = setTimeout(() => {
      opening.reject(new Error(`a stream did not open within ${openingLimitMs} ms`))
      socket.terminate()
    }, openingLimitMs)
    await opening.promise.finally(() => clearTimeout(timer))
    opened += 1
  }

  return {
    open: async (sessions, start = 0) => {
      let next = start
      const failures: unknown[] = []
      const opener = async (): Promise<void> => {
        for (let index = next++; index < sessions.length; index = next++) {
          await openOne(index, sessions[index]!).catch((cause: unknown) => failures.push(cause))
        }
      }
      await Promise.all(Array.from({ length: OPENING_MAX }, opener))
      lost += failures.length
      if (failures.length > 0 && opened === 0) throw failures[0]
    },
    close: () => {
      closing = true
      for (const socket of sockets.splice(0)) socket.terminate()
    },
    lost: () => lost,
  }
}

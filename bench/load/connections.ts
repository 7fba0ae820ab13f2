// Raw TCP or TLS connections with a minimal HTTP/1.1 client, each with one request in flight. A lost connection is
// reopened after a pause, so that a failing server is counted but not flooded.
import type { Socket } from 'bun'
import type { Connection, LoadLoop } from './loops.ts'
import type { FailureKind } from './plan.ts'
import { createResponseParser, type ResponseParser } from './response-parser.ts'

const RECONNECT_PAUSE_MS = 20

export interface ConnectionPool {
  /** Resolves when every connection is open. @throws Error with the address if the first connection can't be opened */
  open(): Promise<void>
  close(): void
  /** Returns the reason for the first failed connection, which distinguishes a bad server from a bad address. */
  firstProblem(): string | null
}

interface ConnectionState {
  readonly connection: Connection
  readonly parser: ResponseParser
  socket: Socket<ConnectionState> | null
  /** Bytes that did not fit into the socket's buffer. */
  unsent: Uint8Array | null
  failure: FailureKind
  closeAfterAnswer: boolean
}

export const createConnectionPool = (
  url: URL,
  count: number,
  loop: LoadLoop,
  nowMs: () => number = () => performance.now(),
): ConnectionPool => {
  let closing = false
  let problem: string | null = null

  const write = (state: ConnectionState, bytes: Uint8Array): void => {
    const written = state.socket === null ? -1 : state.socket.write(bytes)
    if (written === bytes.length) return
    // -1: the socket is closing, and its close event reports the lost request.
    if (written >= 0) state.unsent = bytes.subarray(written)
  }

  const createState = (id: number): ConnectionState => {
    const state: ConnectionState = {
      connection: { id, send: (request) => write(state, request) },
      parser: createResponseParser((response) => {
        state.closeAfterAnswer = response.closing
        loop.answered(state.connection, nowMs(), response)
      }),
      socket: null,
      unsent: null,
      failure: 'connection-closed',
      closeAfterAnswer: false,
    }
    return state
  }

  const connect = async (state: ConnectionState): Promise<void> => {
    const secure = url.protocol === 'https:'
    const hostname = url.hostname.replace(/^\[|\]$/g, '')
    await Bun.connect<ConnectionState>({
      hostname,
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      ...(secure ? { tls: { serverName: hostname } } : {}),
      data: state,
      socket: {
        binaryType: 'uint8array',
        open(socket) {
          socket.setNoDelay(true)
          state.socket = socket
          state.failure = 'connection-closed'
          state.parser.reset()
          loop.ready(state.connection, nowMs())
        },
        data(socket, chunk) {
          try {
            state.parser.push(chunk)
            if (state.closeAfterAnswer) socket.end()
          } catch (cause) {
            problem ??= cause instanceof Error ? cause.message : 'unreadable answer'
            state.failure = 'malformed'
            socket.terminate()
          }
        },
        drain() {
          const rest = state.unsent
          state.unsent = null
          if (rest !== null) write(state, rest)
        },
        error(_socket, error) {
          problem ??= error.message
        },
        close() {
          state.socket = null
          state.unsent = null
          state.closeAfterAnswer = false
          loop.lost(state.connection, nowMs(), state.failure)
          if (!closing) setTimeout(reconnect, RECONNECT_PAUSE_MS, state)
        },
      },
    })
  }

  const reconnect = (state: ConnectionState): void => {
    if (closing) return
    connect(state).catch((cause: unknown) => {
      problem ??= cause instanceof Error ? cause.message : 'connection refused'
      setTimeout(reconnect, RECONNECT_PAUSE_MS, state)
    })
  }

  const states = Array.from({ length: count }, (_, id) => createState(id))
  return {
    async open() {
      try {
        await Promise.all(states.map(connect))
      } catch (cause) {
        throw new Error(`no connection to ${url.host}: ${cause instanceof Error ? cause.message : 'refused'}`)
      }
    },
    close() {
      closing = true
      for (const { socket } of states) socket?.terminate()
    },
    firstProblem: () => problem,
  }
}

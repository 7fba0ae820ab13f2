// Scans documents with ClamAV: INSTREAM over a Unix socket or TCP, one connection per document. Any response other than
// "clean" or a finding is an error. Source: clamd(8), "COMMANDS".
import { createConnection, type Socket } from 'node:net'

export type ScannerAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** @returns the name of the finding; null if clean @throws Error for any other response */
export type Scanner = (bytes: Uint8Array) => Promise<string | null>

export interface ClamdOptions {
  readonly address: ScannerAddress
  readonly timeLimitMs?: number
}

const TIME_LIMIT_MS = 15_000
const ANSWER_BYTES_MAX = 4_096
const CHUNK_BYTES = 65_536
const FOUND = /^stream: ([\x21-\x7e]{1,200}) FOUND$/

const lengthOf = (length: number): Buffer => {
  const prefix = Buffer.alloc(4)
  prefix.writeUInt32BE(length)
  return prefix
}

const send = (socket: Socket, bytes: Uint8Array): void => {
  socket.write('zINSTREAM\0')
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES)
    socket.write(lengthOf(chunk.length))
    socket.write(chunk)
  }
  socket.write(lengthOf(0))
}

const verdictOf = (answer: string): string | null => {
  if (answer === 'stream: OK') return null
  const found = FOUND.exec(answer)?.[1]
  if (found === undefined) throw new Error('the scanner returned an unknown result')
  return found
}

export const createClamd =
  ({ address, timeLimitMs = TIME_LIMIT_MS }: ClamdOptions): Scanner =>
  (bytes) =>
    new Promise((resolve, reject) => {
      const socket = createConnection(address)
      const pieces: Buffer[] = []
      let length = 0
      const settle = (end: () => void): void => {
        clearTimeout(timer)
        socket.destroy()
        end()
      }
      const fail = (error: Error): void => settle(() => reject(error))
      const timer = setTimeout(() => fail(new Error('the scanner timed out')), timeLimitMs)
      socket.on('connect', () => send(socket, bytes))
      socket.on('data', (piece: Buffer) => {
        pieces.push(piece)
        length += piece.length
        const answer = Buffer.concat(pieces)
        const end = answer.indexOf(0)
        if (end === -1 && length <= ANSWER_BYTES_MAX) return
        settle(() => {
          try {
            resolve(verdictOf(answer.toString('latin1', 0, end === -1 ? 0 : end)))
          } catch (error) {
            reject(error)
          }
        })
      })
      socket.on('error', fail)
      socket.on('close', () => fail(new Error('the scanner closed the connection without a response')))
    })

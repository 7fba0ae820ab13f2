// Listening TCP sockets of this process (Linux). Bun cannot limit connections, so a socket filter drops the packets that
// open them (socket(7), SO_ATTACH_FILTER). Open connections are not affected.
import { ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { openCLibrary } from '../lib/c-library.ts'

const SOL_SOCKET = 1
const SO_ATTACH_FILTER = 26
const SO_DETACH_FILTER = 27
const SO_ACCEPTCONN = 30
const AF_INET = 2
const AF_INET6 = 10
/** Larger than any socket address. */
const ADDRESS_BYTES = 128

/** The BPF instruction `ret 0`: keeps zero bytes of each packet. */
const DROP_ALL = new Uint8Array([6, 0, 0, 0, 0, 0, 0, 0])

export interface ListeningSocket {
  readonly port: number
  /** Stops accepting connections. A client that connects retries after a second. @throws Error if it failed */
  pause(): void
  resume(): void
}

/** @param limit maximum open descriptors @throws Error if the C library has no such functions */
export const findListeningSockets = (limit: number) => {
  const { getsockname, getsockopt, setsockopt } = openCLibrary({
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
  })
  const addressBytes = new Uint8Array(ADDRESS_BYTES)
  const address = new DataView(addressBytes.buffer)
  const value = new Int32Array(1)
  const length = new Uint32Array(1)
  const program = new BigUint64Array([1n, BigInt(ptr(DROP_ALL))])

  const portOf = (descriptor: number): number | null => {
    length[0] = ADDRESS_BYTES
    if (getsockname(descriptor, addressBytes, length) !== 0) return null
    const family = address.getUint16(0, true)
    return family === AF_INET || family === AF_INET6 ? address.getUint16(2) : null
  }
  /** Checked before each change, because the system reuses the number of a closed descriptor. */
  const isListening = (descriptor: number): boolean => {
    length[0] = value.byteLength
    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, value, length) === 0 && value[0] === 1
  }

  const sockets = readdirSync('/proc/self/fd').flatMap((name): readonly ListeningSocket[] => {
    const descriptor = Number(name)
    const port = portOf(descriptor)
    if (port === null || !isListening(descriptor)) return []
    const pause = (): void => {
      if (!isListening(descriptor)) return
      const result = setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, program, program.byteLength)
      if (result !== 0) throw new Error('the system refused the socket filter')
    }
    const resume = (): void => {
      if (isListening(descriptor)) setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, value, value.byteLength)
    }
    return [{ port, pause, resume }]
  })
  return {
    sockets,
    /** Number of sockets by local port. Takes milliseconds: it reads every descriptor. */
    countByPort: (): ReadonlyMap<number, number> => {
      const counts = new Map<number, number>()
      for (let descriptor = 0; descriptor < limit; descriptor++) {
        const port = portOf(descriptor)
        if (port !== null) counts.set(port, (counts.get(port) ?? 0) + 1)
      }
      return counts
    },
  }
}

// `bun test/long/many-streams.ts [--streams 10000]`: so many streams at once, half of whose readers stop reading. The others
// hear of a change, attestations go on meanwhile, the service stays ready, its memory stays bounded, and once the readers
// are gone no stream is left. Wants two file descriptors a stream. Exit code 1 when a goal is missed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Socket } from 'bun'
import { runCommand, startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { conclude, createLedger, readyAfterMs } from './support/ledger.ts'

answerHelp(import.meta)

const { values } = parseArgs({ options: { streams: { type: 'string', default: '10000' } } })
const streams = Number(values.streams)
const OPENING_MAX = 200
const READY_WITHIN_MS = 2_000
/** For each stream, with what the attestations beside them take. */
const MEMORY_MAX_BYTES = 600e6 + streams * 64e3

interface State {
  readonly number: number
  readonly opened: () => void
  heard: number
}

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-streams-'))
const ledger = createLedger()
const figures: string[] = []
try {
  const limits = { COUNTERSIGN_STREAMS_MAX: String(streams), COUNTERSIGN_STREAMS_PER_KEY_MAX: String(streams) }
  const service = await startService({ dataDirectory, environment: { ...limits, COUNTERSIGN_WORKERS: '1' } })
  const { hostname, port, host } = new URL(service.url)
  const authorization = `Bearer ${service.quickstart['IDENTITY_API_KEY']}`
  const registered = await fetch(`${service.url}/api/v1/register/individual`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ walletAddress: `0x${'2'.repeat(40)}` }),
  })
  const { sessionId } = (await registered.json()) as { sessionId: string }
  const openStreams = async (): Promise<number> =>
    Number(/^countersign_open_streams (\d+)$/m.exec(await (await fetch(`${service.url}/metrics`)).text())?.[1])
  const memory = (): number =>
    1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1])

  const sockets: Socket<State>[] = []
  const openOne = async (number: number): Promise<void> => {
    const opened = Promise.withResolvers<void>()
    sockets[number] = await Bun.connect<State>({
      hostname,
      port: Number(port),
      data: { number, opened: opened.resolve, heard: 0 },
      socket: {
        open: (socket) => {
          socket.write(
            `GET /api/v1/status/realtime/individual/${sessionId} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`,
          )
        },
        data: (socket, chunk) => {
          const events = chunk.toString('latin1').match(/"status":"/g)?.length ?? 0
          if (events > 0) socket.data.opened()
          socket.data.heard += events
        },
        close: () => opened.reject(new Error(`stream ${number} ended`)),
      },
    })
    await opened.promise
  }
  const load = ledger.load(() => service, 4)
  const startedMs = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: OPENING_MAX }, async () => {
      for (let number = next++; number < streams; number = next++) await openOne(number)
    }),
  )
  figures.push(
    `${streams} streams open after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s, ${(memory() / 1e6).toFixed(0)} MB`,
  )
  if ((await openStreams()) !== streams) ledger.problems.push(`${await openStreams()} streams are open`)

  // Every other reader stops; then the session changes three times.
  for (const socket of sockets) if (socket.data.number % 2 === 0) socket.pause()
  const readers = sockets.filter(({ data }) => data.number % 2 === 1)
  for (const status of ['retry', 'rejected'] as const) {
    const before = readers.map(({ data }) => data.heard)
    const answered = ledger.count()
    const toldMs = performance.now()
    const told = await runCommand(dataDirectory, 'session', 'decide', sessionId, status, '--comment', 'x'.repeat(500))
    if (told.code !== 0) throw new Error(told.stderr)
    while (readers.some(({ data }, index) => data.heard === before[index])) {
      if (performance.now() - toldMs > 60_000) throw new Error('not every reader heard of a change within 60 s')
      await Bun.sleep(20)
    }
    figures.push(
      `${readers.length} readers heard of "${status}" after ${(performance.now() - toldMs).toFixed(0)} ms (the command's own start included)`,
    )
    if (ledger.count() === answered) ledger.problems.push('no attestation was answered meanwhile')
    const readyMs = await readyAfterMs(service)
    if (readyMs > READY_WITHIN_MS) ledger.problems.push(`ready after ${readyMs.toFixed(0)} ms`)
  }
  const bytes = memory()
  figures.push(`${(bytes / 1e6).toFixed(0)} MB`)
  if (bytes > MEMORY_MAX_BYTES) ledger.problems.push(`it takes ${(bytes / 1e6).toFixed(0)} MB`)

  for (const socket of sockets) socket.terminate()
  const leftMs = performance.now()
  while ((await openStreams()) > 0) {
    if (performance.now() - leftMs > 30_000) throw new Error(`${await openStreams()} streams are left`)
    await Bun.sleep(50)
  }
  figures.push(`none left ${(performance.now() - leftMs).toFixed(0)} ms after the readers`)
  await load.stop()
  await service.stop()
  await ledger.compare(dataDirectory)
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}
conclude(ledger, figures.join('; '))

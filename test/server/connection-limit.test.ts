// Floods a process of its own, whose limit of open files is low.
import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'

const SOURCE = join(import.meta.dir, '../../src')
const LIMIT = 3_000

/** Serves two listeners whose requests open 100 files. Prints both URLs, then the warnings. */
const PROGRAM = `
  import { closeSync, openSync } from 'node:fs'
  import { Elysia } from '${SOURCE}/../node_modules/elysia'
  import { systemTimers } from '${SOURCE}/lib/time.ts'
  import { limitConnections } from '${SOURCE}/server/connection-limit.ts'
  import { startListener } from '${SOURCE}/server/listener.ts'
  import { createRequestIds } from '${SOURCE}/server/request-id.ts'
  import { problemResponse } from '${SOURCE}/server/response.ts'
  const start = () =>
    startListener({
      app: new Elysia().get('/', () => {
        const files = Array.from({ length: 100 }, () => openSync('/dev/null'))
        for (const file of files) closeSync(file)
        return new Response('answered')
      }),
      listen: { hostname: '127.0.0.1', port: 0 },
      publicUrl: 'http://127.0.0.1',
      tls: null,
      idleTimeoutSeconds: 100,
      requestIds: createRequestIds('test'),
      answersHead: false,
      toResponse: problemResponse,
    })
  console.log(start().url)
  console.log(start().url)
  limitConnections({ warn: (message, { port }) => console.log(message, port ?? '') }, systemTimers.after)
`

const serve = async () => {
  const command = ['bash', '-c', `ulimit -n ${LIMIT}; exec "$0" -e "$1"`, process.execPath, PROGRAM]
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const nextLine = async (): Promise<string> => {
    while (!text.includes('\n')) text += (await reader.read()).value
    const [line = '', ...others] = text.split('\n')
    text = others.join('\n')
    return line
  }
  return { flooded: await nextLine(), other: await nextLine(), nextLine, [Symbol.dispose]: () => child.kill() }
}

const flood = (url: string, connections: number, sent: string): Socket[] =>
  Array.from({ length: connections }, () => {
    const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(sent))
    return socket.on('error', () => undefined).resume()
  })

const textOf = async (url: string): Promise<string> => (await fetch(url, { keepalive: false })).text()

const linuxTest = test.skipIf(process.platform !== 'linux')

linuxTest('connections that send nothing leave files free, and connections to the other listener', async () => {
  using service = await serve()
  const { flooded, other, nextLine } = service
  expect(await nextLine()).toContain('the limit of open files is low')
  const sockets = flood(flooded, 2_000, '')
  expect(await nextLine()).toEndWith(`accepts none until others close ${new URL(flooded).port}`)
  const further = flood(flooded, 1_500, '')
  for (let attempt = 0; attempt < 50; attempt++) expect(await textOf(other)).toBe('answered')
  expect(further.filter(({ connecting }) => !connecting)).toBeEmpty()
  for (const socket of [...sockets, ...further]) socket.destroy()
  expect(await textOf(flooded)).toBe('answered')
})

linuxTest('connections whose requests were answered are closed', async () => {
  using service = await serve()
  const sockets = flood(service.flooded, 2_000, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await Promise.any(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  expect(await textOf(service.flooded)).toBe('answered')
  for (const socket of sockets) socket.destroy()
})

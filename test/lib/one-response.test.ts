// Informational responses before the final response.
import { afterAll, expect, test } from 'bun:test'
import { fetchBody } from '../../src/facts/guarded-fetch.ts'
import { createGuardedLookup, parseReachableUrl } from '../../src/facts/reachable.ts'
import { createOutboundPost } from '../../src/server/outbound-post.ts'

/** Sends the number of informational responses in the path of the request. */
const server = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    data: (socket, request) => {
      const path = /^[A-Z]+ \/(\S+) /.exec(request.toString())?.[1] ?? ''
      if (path === 'switch') {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
        return
      }
      if (path === 'close') return void socket.end()
      const count = Number(path)
      const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(count)
      socket.end(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok`)
    },
  },
})
afterAll(() => server.stop(true))

const SENDERS = {
  fetch: async (url: string) =>
    (await fetchBody({ url, reach: 'loopback', timeoutMs: 5_000, maxBytes: 10 })).toString(),
  post: async (url: string) => {
    const parseUrl = (text: string) => parseReachableUrl(text, 'loopback')
    const post = createOutboundPost({ guard: { parseUrl, lookup: createGuardedLookup('loopback') } })
    return (await post(url, { headers: {}, body: '' })).status
  },
}

test.each([
  ['fetch', 'ok'],
  ['post', 200],
] as const)('a %s accepts at most four informational responses', async (name, answer) => {
  const send = (count: number): Promise<unknown> => SENDERS[name](`http://127.0.0.1:${server.port}/${count}`)
  expect(await send(4)).toBe(answer)
  await expect(send(5)).rejects.toMatchObject({ detail: 'the server sent too many informational responses' })
})

test.each([
  ['fetch', 'switch'],
  ['fetch', 'close'],
  ['post', 'switch'],
  ['post', 'close'],
] as const)('a %s ends immediately if the server does “%s” without a response', async (name, path) => {
  const startedMs = performance.now()
  await expect(SENDERS[name](`http://127.0.0.1:${server.port}/${path}`)).rejects.toMatchObject({
    detail: expect.stringMatching(/^(the server (switched protocols|closed the connection)|could not connect)/),
  })
  expect(performance.now() - startedMs).toBeLessThan(2_000)
})

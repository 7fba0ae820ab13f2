// Informational responses before the final one, from a server that writes them itself.
import { afterAll, expect, test } from 'bun:test'
import { fetchBody } from '../../src/facts/guarded-fetch.ts'
import { createGuardedLookup, parseReachableUrl } from '../../src/facts/reachable.ts'
import { createOutboundPost } from '../../src/server/outbound-post.ts'

/** Sends as many informational responses as the request's path says. */
const server = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    data: (socket, request) => {
      const count = Number(/^[A-Z]+ \/([0-9]+) /.exec(request.toString())?.[1])
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
] as const)('a %s accepts a few informational responses, and no endless series', async (name, answer) => {
  const send = (count: number): Promise<unknown> => SENDERS[name](`http://127.0.0.1:${server.port}/${count}`)
  expect(await send(4)).toBe(answer)
  await expect(send(5)).rejects.toMatchObject({ detail: 'the server sent too many informational responses' })
})

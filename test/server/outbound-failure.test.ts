// A POST to an address without a listener.
import { expect, test } from 'bun:test'
import { createUrlGuard } from '../../src/facts/reachable.ts'
import { createOutboundPost } from '../../src/server/outbound-post.ts'

test('a failed connection is reported with its code', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const url = `http://127.0.0.1:${server.port}/`
  await server.stop(true)
  const post = createOutboundPost({ guard: createUrlGuard('loopback') })
  await expect(post(url, { headers: {}, body: '' })).rejects.toMatchObject({
    detail: 'could not connect (ECONNREFUSED)',
  })
})
